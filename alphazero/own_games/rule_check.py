"""The rules of a game, looked at for as long as the user likes: laws, a twin, what is never seen.

In: a game, and perhaps a second version of its rules. Out: a `RuleReport`. Everything here runs the
rules as plain Python, in a process of its own, as `alphazero.own_games.checked_game` explains:

    python -m alphazero.own_games.rule_check OPTIONS_AS_JSON TIME_LIMIT_S

prints the report as JSON.
"""

import dataclasses
import functools
import itertools
import json
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphazero.boards.text import plain_board
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.own_games.checked_game import TIME_LIMIT_S, run_check
from alphazero.own_games.checks.laws import (
    Laws,
    broken_symmetry,
    checkable,
    notes_on,
    result_of_last_mover,
    until,
    watched,
)
from alphazero.own_games.checks.one_position import OnePosition
from alphazero.own_games.checks.rule_walks import (
    STEERED,
    Breadth,
    Broken,
    BrokenLaw,
    Check,
    View,
    Walk,
    breadth_first,
    choose_random,
    first_broken,
    walk,
)
from alphazero.own_games.game_file import file_of, load_source
from alphazero.own_games.registry import is_game_file, make_game, runs_own_code
from alphazero.runtime.own_code import GAMES, announced
from alphazero.runtime.process import claim_output
from alphazero.textbook.minimax import perft

_GAMES_WITH_SYMMETRIES = 20
_SYMMETRIES_S = 10.0
_PERFT_S = 2.0  # that the last count may take


@dataclasses.dataclass(frozen=True)
class CheckOptions:
    """What to check, and for how long."""

    game: str = ""  #: a name, as `alphazero.own_games.registry.make_game` takes it
    twin: str = ""  #: likewise: another version of the same rules; "" is none
    num_positions: int = 20_000  #: to look at, beside the twin if there is one
    seconds: float = 30.0  #: at most; the report tells how far it came
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class Fault:
    """What is wrong in one position."""

    text: str
    actions: list[int] = dataclasses.field(default_factory=list)  #: that lead to the position
    moves: str = ""  #: the same, as the rules write them
    board: str = ""  #: drawn; of both versions where they differ


@dataclasses.dataclass(frozen=True)
class RuleReport:
    """What was found out about the rules of a game."""

    broken: Fault | None = None  #: the law that is broken
    difference: Fault | None = None  #: between the game and its twin
    num_positions: int = 0  #: that were looked at; beside the twin, if there is one
    full_plies: int = 0  #: every position after at most so many plies was among them
    is_whole: bool = False  #: whether these are all positions of the game
    num_games: int = 0  #: random and steered
    #: After 0, 1, 2, ... plies: lines of moves, finished games end them; positions not seen before.
    perft: list[int] = dataclasses.field(default_factory=list)
    num_by_ply: list[int] = dataclasses.field(default_factory=list)
    ends: dict[str, int] = dataclasses.field(default_factory=dict)  #: games by how they ended
    never: list[str] = dataclasses.field(default_factory=list)  #: ends that no game has reached
    moves: dict[str, int] = dataclasses.field(default_factory=dict)  #: by what they did
    plies: list[int] = dataclasses.field(default_factory=list)  #: least, median, most of a game
    max_plies: int = 0
    mean_legal: float = 0.0  #: legal actions in a position
    notes: list[str] = dataclasses.field(default_factory=list)  #: what is allowed but looks wrong

    @property
    def holds(self) -> bool:
        """Whether no law is broken and the twin, if any, agrees."""
        return self.broken is None and self.difference is None


def check_rules(options: CheckOptions) -> RuleReport:
    """Check the rules of a named game in a process of its own.

    Raises:
        ConfigError: if there is no such game or twin.
    """
    names = filter(None, (options.game, options.twin))
    paths = [path for name in names if (path := _file_of(name)) is not None]
    arguments = [json.dumps(dataclasses.asdict(options)), str(TIME_LIMIT_S)]
    return _report_of(
        run_check("alphazero.own_games.rule_check", arguments, *paths, announce=False)
    )


def _file_of(name: str) -> Path | None:
    """Return the file with the rules of a game, None for games of this package and its adapters.

    Raises:
        ConfigError: if there is no such game.
    """
    if not _is_of_a_module(name):
        make_game(name)
        return None
    return file_of(name, None if is_game_file(name) else load_source(name))


def _is_of_a_module(name: str) -> bool:
    return runs_own_code(name) or name in announced(GAMES)


def _report_of(found: dict[str, Any]) -> RuleReport:
    """Return a report from its JSON."""
    for key in ("broken", "difference"):
        if isinstance(found.get(key), str):  # the process ended
            found[key] = {"text": found[key]}
        found[key] = Fault(**found[key]) if found.get(key) else None
    return RuleReport(**found)


# --- the search for what is broken ----------------------------------------------------------------


class _Subject:
    """A game, its laws, and how its positions look. The sizes of the game are checked first."""

    def __init__(self, source: Any, path: Path | None = None):
        self.laws = Laws(source, path)
        self.game = source if isinstance(source, Game) else CompiledGame(str(path), source)

    def move_text(self, action: int) -> str:
        """Return an action as the rules write it, its number if they fail to."""
        return str(action) if self.broken_names else self.game.action_to_text(action)

    @functools.cached_property
    def broken_names(self) -> Broken | None:
        """What is wrong with the names of actions, if anything."""
        try:
            for action in range(self.game.num_actions):
                self.game.action_to_text(action)
        except Exception as error:
            return Broken(self.laws.error_text(error), [])
        return None

    def drawn(self, board: np.ndarray) -> str:
        """Return a board as text."""
        nothing = np.zeros(self.game.num_actions, np.bool_)
        return plain_board(self.game, np.asarray(board, np.int8), nothing, str)


class _Twins:
    """Two versions of the rules, played side by side, as a `Check`.

    Raises:
        BrokenLaw: if their sizes differ.
    """

    def __init__(self, game: _Subject, twin: _Subject):
        self._game, self._twin, self.rules = game, twin, game.laws.rules
        sizes = game.laws.rules.sizes, twin.laws.rules.sizes
        for name, getter in (
            ("board (rows, columns)", lambda one: one.planes_shape[1:]),
            ("number of actions", lambda one: one.num_actions),
            ("number of players", lambda one: one.num_players),
        ):
            ours, theirs = map(getter, sizes)
            if ours != theirs:
                raise BrokenLaw(f"{name}: {ours} in the game, {theirs} in the twin.")

    def start(self) -> tuple:
        return self._game.laws.start(), self._of_twin(self._twin.laws.start)

    def plain(self, state: tuple) -> Any:
        return state[0]

    def key(self, state: tuple) -> bytes:
        return self._game.laws.key(state[0]) + self._of_twin(self._twin.laws.key, state[1])

    def error_text(self, error: Exception) -> str:
        return self._game.laws.error_text(error)

    def step(self, state: tuple, action: int) -> tuple:
        following = self._game.laws.step(state[0], action)
        return following, self._of_twin(self._twin.laws.step, state[1], action)

    def look(self, state: tuple, ply: int) -> View:
        view = self._game.laws.look(state[0], ply)
        other = self._of_twin(self._twin.laws.look, state[1], ply)
        if texts := list(self._differences(view, other)):
            raise BrokenLaw("; ".join(texts) + ".")
        return view

    def _of_twin(self, function: Callable, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BrokenLaw as error:
            raise BrokenLaw(f"in the twin, {error}") from None

    def _differences(self, view: View, other: View) -> Iterator[str]:
        if (view.board != other.board).any():
            yield "the pieces stand elsewhere"
        if view.over != other.over:
            states = ["over" if one.over else "not over" for one in (view, other)]
            yield f"in the game it is {states[0]}, in the twin {states[1]}"
        elif view.over and _of_first(view) != _of_first(other):
            results = f"{_of_first(view):+g} in the game, {_of_first(other):+g} in the twin"
            yield f"the first player's result is {results}"
        elif not view.over and view.player != other.player:
            yield f"player {view.player} is to move in the game, {other.player} in the twin"
        elif view.legal != other.legal:
            yield from self._legal_differences(view.legal, other.legal)

    def _legal_differences(self, game: list[int], twin: list[int]) -> Iterator[str]:
        for name, subject, ones, others in (
            ("game", self._game, game, twin),
            ("twin", self._twin, twin, game),
        ):
            if alone := sorted(set(ones) - set(others)):
                moves = ", ".join(_numbered(subject, action) for action in alone)
                yield f"legal in the {name} alone: {moves}"


def _of_first(view: View) -> float:
    result = view.result or 0.0
    return -result if view.player else result


def _numbered(subject: _Subject, action: int) -> str:
    text = subject.move_text(action)
    return text if text == str(action) else f"{text} (action {action})"


class _Search(NamedTuple):
    """What was looked at, and what was broken there."""

    breadth: Breadth
    walks: list[Walk]
    broken: Broken | None

    @property
    def num_positions(self) -> int:
        """Positions that were looked at; those of different games may be the same."""
        return self.breadth.num_positions + sum(len(one.states) for one in self.walks)


def _search(check: Check, options: CheckOptions, watch: Callable[[], None]) -> _Search:
    """Look at every short line of the game, then at games of several kinds.

    A third of the positions and of the time goes to the short lines.
    """
    deadline = time.monotonic() + options.seconds
    breadth = breadth_first(check, options.num_positions // 3, until(options.seconds / 3, watch))
    walks: list[Walk] = []
    rng, go_on = random.Random(options.seed), until(deadline - time.monotonic(), watch)
    left, broken = options.num_positions - breadth.num_positions, breadth.broken
    for pair in itertools.cycle([(choose_random, choose_random), *STEERED.values()]):
        if broken is not None or left <= 0 or not go_on():
            break
        found = walk(check, pair, rng, go_on)
        walks.append(found._replace(states=list(map(check.plain, found.states))))
        left, broken = left - len(found.states), found.broken
    return _Search(breadth, walks, broken)


# --- the report -----------------------------------------------------------------------------------


def _examine(
    subject: _Subject, twin: _Subject | None, options: CheckOptions, watch: Callable[[], None]
) -> RuleReport:
    """Check the laws, beside the twin if there is one, then look for what is allowed but odd."""
    laws = subject.laws
    try:
        check = laws if twin is None else _Twins(subject, twin)
    except BrokenLaw as error:
        return RuleReport(difference=Fault(str(error)))
    search = _search(check, options, watch)
    if (broken := search.broken) is not None:
        if twin is None or _breaks_alone(laws, broken):
            return RuleReport(_fault(subject, broken), num_positions=search.num_positions)
        fault = _fault(subject, broken, twin)
        return RuleReport(difference=fault, num_positions=search.num_positions)
    played = search.walks[:_GAMES_WITH_SYMMETRIES]
    broken = broken_symmetry(laws, played, until(_SYMMETRIES_S, watch)) or subject.broken_names
    if broken is not None:
        return RuleReport(_fault(subject, broken), num_positions=search.num_positions)
    return _described(subject, search, _perft(laws.rules, options.num_positions, watch))


def _breaks_alone(laws: Laws, broken: Broken) -> bool:
    """Return whether the game breaks a law where it was seen beside its twin."""
    alone = first_broken(laws, broken.actions)
    return alone is not None and len(alone.actions) == len(broken.actions)


def _perft(rules: OnePosition, num_lines: int, watch: Callable[[], None]) -> list[int]:
    """Return the numbers of lines of 0, 1, 2, ... actions, up to about ``num_lines`` lines."""
    counts, start = [1], rules.initial_state()
    while True:
        watch()
        began = time.monotonic()
        num = perft(rules, start, len(counts))
        if not num:
            return counts
        counts.append(num)
        growth, seconds = num / counts[-2], time.monotonic() - began
        if num * growth > 2 * num_lines or seconds * growth > _PERFT_S:
            return counts


def _fault(subject: _Subject, broken: Broken, twin: _Subject | None = None) -> Fault:
    """Return a broken law with its moves and its board, as far as the rules can tell."""
    moves = " ".join(map(subject.move_text, broken.actions))
    boards = [_board_after(one, broken.actions) for one in (subject, twin) if one is not None]
    if len(boards) == 2 and boards[0] != boards[1]:
        boards = [f"the game:\n{boards[0]}\nthe twin:\n{boards[1]}"]
    return Fault(broken.text, broken.actions, moves, boards[0])


def _board_after(subject: _Subject, actions: list[int]) -> str:
    rules = subject.laws.rules
    try:
        state = rules.initial_state()
        for action in actions:
            state = rules.step(state, action)
        player, letters = rules.player_to_move(state), subject.game.piece_letters
        to_move = f"\n{letters[1 + player]} to move" if player in (0, 1) else ""
        return subject.drawn(rules.board(state)) + to_move
    except Exception:  # a broken rule: there is no board to draw
        return ""


def _described(subject: _Subject, search: _Search, lines: list[int]) -> RuleReport:
    """Return what games and moves were like."""
    ended = [one for one in search.walks if one.views and one.views[-1].over]
    lengths = sorted(len(one.actions) for one in ended) or [0]
    views = [view for one in search.walks for view in one.views if not view.over]
    moves, own_pieces = _moves_by_effect(search.walks)
    if subject.game.num_players == 1:
        moves, own_pieces = Counter({_IN_A_PUZZLE.get(k, k): n for k, n in moves.items()}), None
    rules, ends = subject.laws.rules, _ends(subject, ended)
    return RuleReport(
        num_positions=search.num_positions,
        full_plies=search.breadth.plies,
        is_whole=search.breadth.is_whole,
        perft=lines,
        num_by_ply=search.breadth.num_by_ply,
        num_games=len(ended),
        ends={name: number for name, number in ends.items() if number},
        never=[name for name, number in ends.items() if not number],
        moves=dict(moves.most_common()),
        plies=[lengths[0], int(statistics.median(lengths)), lengths[-1]],
        max_plies=rules.sizes.max_plies,
        mean_legal=round(float(np.mean([len(view.legal) for view in views] or [0])), 1),
        notes=[*notes_on(rules, search.walks), *_note_on_own_pieces(subject, own_pieces)],
    )


def _ends(subject: _Subject, ended: list[Walk]) -> dict[str, int]:
    """Return how many games ended in each way that a game may end in, 0 included."""
    if subject.game.num_players == 1:
        results = Counter(subject.game.own_result(one.views[-1].result or 0.0) for one in ended)
        return {f"result {value:g}": number for value, number in sorted(results.items())}
    firsts = [_of_first(one.views[-1]) for one in ended]
    last_movers = [result_of_last_mover(one) or 0.0 for one in ended]
    ends = {
        "won by the first player": sum(value > 0 for value in firsts),
        "won by the second player": sum(value < 0 for value in firsts),
        "drawn": firsts.count(0),
        "won by the player who moved last": sum(value > 0 for value in last_movers),
        "lost by the player who moved last": sum(value < 0 for value in last_movers),
        "by the limit of max_plies": sum(
            len(one.actions) == subject.laws.rules.sizes.max_plies for one in ended
        ),
    }
    start = subject.laws.rules.board(subject.laws.rules.initial_state())
    for piece, name in ((1, "first"), (2, "second")):
        if (start == piece).any():
            without = sum(not (one.views[-1].board == piece).any() for one in ended)
            ends[f"with no piece of the {name} player left"] = without
    return ends


def _moves_by_effect(walks: list[Walk]) -> tuple[Counter[str], Broken | None]:
    """Return what moves did to the board, and the earliest that took the player's own piece."""
    counts, own_pieces = Counter[str](), None
    for one in walks:
        for ply, (before, after) in enumerate(zip(one.views, one.views[1:])):
            effect = _effect(before, after)
            counts[effect] += 1
            is_first = own_pieces is None or ply + 1 < len(own_pieces.actions)
            if effect == _OWN_PIECES and is_first:
                own_pieces = Broken(effect, one.actions[: ply + 1])
    return counts, own_pieces


_OWN_PIECES = "took away pieces of the player's own"
_IN_A_PUZZLE = {_OWN_PIECES: "took pieces away"}  # all pieces are the player's


def _effect(before: View, after: View) -> str:
    """Return what a move did to the board, in words."""
    if (before.board == after.board).all():
        return "changed nothing on the board"
    own, other = 1 + before.player, 2 - before.player
    more_own = np.count_nonzero(after.board == own) - np.count_nonzero(before.board == own)
    more_other = np.count_nonzero(after.board == other) - np.count_nonzero(before.board == other)
    if more_own < 0:
        return _OWN_PIECES
    if more_own:
        return "placed a piece" if not more_other else "placed a piece and changed other pieces"
    return "moved a piece" if not more_other else "moved a piece and took another"


def _note_on_own_pieces(subject: _Subject, own_pieces: Broken | None) -> list[str]:
    if own_pieces is None:
        return []
    moves = " ".join(map(subject.move_text, own_pieces.actions))
    return [f"a move took away pieces of the player's own: the last of {moves}."]


# --- the program ----------------------------------------------------------------------------------


def _load(name: str) -> _Subject:
    """Load a game without the check that `make_game` makes of rules of the user's.

    Raises:
        BrokenLaw: if its sizes are impossible, or its file cannot be run.
    """
    return _Subject(*(checkable(name) if _is_of_a_module(name) else (make_game(name), None)))


def main(text: str, time_limit_s: str) -> None:
    """Print the report on a game as JSON."""
    answers, watch = claim_output(), watched(float(time_limit_s))
    options = CheckOptions(**json.loads(text))
    try:
        subject = _load(options.game)
        twin = _load(options.twin) if options.twin else None
        watch()
        report = _examine(subject, twin, options, watch)
    except BrokenLaw as error:
        report = RuleReport(Fault(str(error)))
    print(json.dumps(dataclasses.asdict(report)), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
