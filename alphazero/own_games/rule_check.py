"""The rules of a game, looked at for as long as the user likes: laws, a twin, what is never seen.

In: a game, and perhaps a second version of its rules. Out: a `RuleReport`. Everything here runs the
rules as plain Python, in a process of its own, as `alphazero.own_games.checked_game` explains:

    python -m alphazero.own_games.rule_check OPTIONS_AS_JSON TIME_LIMIT_S

prints the report as JSON.
"""

import dataclasses
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
from alphazero.games.batched_game import Game
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
from alphazero.own_games.checks.rule_walks import (
    RANDOM,
    STEERED,
    Breadth,
    Broken,
    BrokenLaw,
    Check,
    View,
    Walk,
    breadth_first,
    walk,
)
from alphazero.own_games.game_file import file_of, load_source
from alphazero.own_games.registry import is_game_file, make_game, runs_own_code
from alphazero.runtime.own_code import GAMES, announced
from alphazero.runtime.process import claim_output
from alphazero.textbook.game import PlainGame
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


class _Difference(BrokenLaw):
    """What the twin says otherwise, or a law that it breaks."""


class _Twins:
    """Two versions of the rules, played side by side, as a `Check`.

    Raises:
        _Difference: if their sizes differ.
    """

    def __init__(self, laws: Laws, twin: Laws):
        self._laws, self._twin = laws, twin
        for name, ours, theirs in (
            ("board (rows, columns)", laws.game.planes_shape[1:], twin.game.planes_shape[1:]),
            ("number of actions", laws.game.num_actions, twin.game.num_actions),
            ("number of players", laws.game.num_players, twin.game.num_players),
        ):
            if ours != theirs:
                raise _Difference(f"{name}: {ours} in the game, {theirs} in the twin.")

    def start(self) -> tuple:
        return self._laws.start(), self._of_twin(self._twin.start)

    def key(self, state: tuple) -> bytes:
        return self._laws.key(state[0]) + self._of_twin(self._twin.key, state[1])

    def step(self, state: tuple, action: int) -> tuple:
        following = self._laws.step(state[0], action)
        return following, self._of_twin(self._twin.step, state[1], action)

    def foresee(self, state: tuple, actions: list[int]) -> list[tuple[bool, int]]:
        return self._laws.foresee(state[0], actions)

    def look(self, state: tuple, ply: int) -> View:
        view = self._laws.look(state[0], ply)
        other = self._of_twin(self._twin.look, state[1], ply)
        if texts := list(self._differences(view, other)):
            raise _Difference("; ".join(texts) + ".")
        return view

    def _of_twin(self, function: Callable, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BrokenLaw as error:
            raise _Difference(f"in the twin, {error}") from None

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
        for name, laws, ones, others in (
            ("game", self._laws, game, twin),
            ("twin", self._twin, twin, game),
        ):
            if alone := sorted(set(ones) - set(others)):
                moves = ", ".join(_numbered(laws.game, action) for action in alone)
                yield f"legal in the {name} alone: {moves}"


def _of_first(view: View) -> float:
    result = view.result or 0.0
    return -result if view.player else result


def _numbered(game: Game, action: int) -> str:
    text = _move_text(game, action)
    return text if text == str(action) else f"{text} (action {action})"


def _move_text(game: Game, action: int) -> str:
    """Return an action as the rules write it, its number if they fail to."""
    try:
        return game.action_to_text(action)
    except Exception:
        return str(action)


class _Search(NamedTuple):
    """What was looked at, and what was broken there."""

    breadth: Breadth
    walks: list[Walk]
    broken: Broken | None

    @property
    def num_positions(self) -> int:
        """Positions that were reached; those of different games may be the same."""
        return self.breadth.num_positions + sum(len(one.views) for one in self.walks)


def _search(check: Check, options: CheckOptions, watch: Callable[[], None]) -> _Search:
    """Look at every short line of the game, then at games of several kinds.

    A third of the positions and of the time goes to the short lines.
    """
    deadline = time.monotonic() + options.seconds
    breadth = breadth_first(check, options.num_positions // 3, until(options.seconds / 3, watch))
    walks: list[Walk] = []
    rng, go_on = random.Random(options.seed), until(deadline - time.monotonic(), watch)
    left, broken = options.num_positions - breadth.num_positions, breadth.broken
    for wishes in itertools.cycle([RANDOM, *STEERED]):
        if broken is not None or left <= 0 or not go_on():
            break
        walks.append(walk(check, wishes, rng, go_on))
        left, broken = left - len(walks[-1].views), walks[-1].broken
    return _Search(breadth, walks, broken)


# --- the report -----------------------------------------------------------------------------------


def _examine(
    laws: Laws, twin: Laws | None, options: CheckOptions, watch: Callable[[], None]
) -> RuleReport:
    """Check the laws, beside the twin if there is one, then look for what is allowed but odd."""
    try:
        check = laws if twin is None else _Twins(laws, twin)
    except _Difference as error:
        return RuleReport(difference=Fault(str(error)))
    search = _search(check, options, watch)
    broken = search.broken
    if broken is None:
        played = search.walks[:_GAMES_WITH_SYMMETRIES]
        broken = broken_symmetry(laws, played, until(_SYMMETRIES_S, watch)) or _broken_name(laws)
    if broken is None:
        return _described(laws.game, search, _perft(laws.game, options.num_positions, watch))
    if isinstance(broken.error, _Difference) and twin is not None:
        fault = _fault(broken, laws.game, twin.game)
        return RuleReport(difference=fault, num_positions=search.num_positions)
    return RuleReport(_fault(broken, laws.game), num_positions=search.num_positions)


def _broken_name(laws: Laws) -> Broken | None:
    try:
        laws.check_names()
    except BrokenLaw as error:
        return Broken(error, [])
    return None


def _perft(game: Game, num_lines: int, watch: Callable[[], None]) -> list[int]:
    """Return the numbers of lines of 0, 1, 2, ... actions, up to about ``num_lines`` lines."""
    rules, counts = PlainGame(game), [1]
    while True:
        watch()
        began = time.monotonic()
        num = perft(rules, rules.initial_state(), len(counts))
        if not num:
            return counts
        counts.append(num)
        growth, seconds = num / counts[-2], time.monotonic() - began
        if num * growth > 2 * num_lines or seconds * growth > _PERFT_S:
            return counts


def _fault(broken: Broken, *games: Game) -> Fault:
    """Return what is broken, with its moves and the board of each version of the rules."""
    moves = " ".join(_move_text(games[0], action) for action in broken.actions)
    boards = [_board_after(game, broken.actions) for game in games]
    if len(boards) == 2 and boards[0] != boards[1]:
        boards = [f"the game:\n{boards[0]}\nthe twin:\n{boards[1]}"]
    return Fault(str(broken.error), broken.actions, moves, boards[0])


def _board_after(game: Game, actions: list[int]) -> str:
    try:
        state = game.initial_states()
        for action in actions:
            state = game.step(state, np.array([action], np.int32)).states
        nothing, player = np.zeros(game.num_actions, np.bool_), int(game.players(state)[0])
        to_move = f"\n{game.piece_letters[1 + player]} to move" if player in (0, 1) else ""
        return plain_board(game, game.cells(state[0]), nothing, str) + to_move
    except Exception:  # a broken rule: there is no board to draw
        return ""


def _described(game: Game, search: _Search, lines: list[int]) -> RuleReport:
    """Return what games were like."""
    ended = [one for one in search.walks if one.views[-1].over]
    lengths = sorted(len(one.actions) for one in ended) or [0]
    views = [view for one in search.walks for view in one.views if not view.over]
    ends = _ends(game, search.walks[0].views[0].board, ended) if ended else {}
    return RuleReport(
        num_positions=search.num_positions,
        full_plies=search.breadth.plies,
        is_whole=search.breadth.is_whole,
        perft=lines,
        num_by_ply=search.breadth.num_by_ply,
        num_games=len(ended),
        ends={name: number for name, number in ends.items() if number},
        never=[name for name, number in ends.items() if not number],
        plies=[lengths[0], int(statistics.median(lengths)), lengths[-1]],
        max_plies=game.max_plies,
        mean_legal=round(float(np.mean([len(view.legal) for view in views] or [0])), 1),
        notes=notes_on(game, search.walks),
    )


def _ends(game: Game, start: np.ndarray, ended: list[Walk]) -> dict[str, int]:
    """Return how many games ended in each way that a game may end in, 0 included.

    Args:
        start: the board of the start position.
    """
    lasts = [one.views[-1] for one in ended]
    if game.num_players == 1:
        results = Counter(game.own_result(view.result or 0.0) for view in lasts)
        return {f"result {value:g}": number for value, number in sorted(results.items())}
    firsts = list(map(_of_first, lasts))
    last_movers = [result_of_last_mover(one) or 0.0 for one in ended]
    ends = {
        "won by the first player": sum(value > 0 for value in firsts),
        "won by the second player": sum(value < 0 for value in firsts),
        "drawn": firsts.count(0),
        "won by the player who moved last": sum(value > 0 for value in last_movers),
        "lost by the player who moved last": sum(value < 0 for value in last_movers),
        "by the limit of max_plies": sum(len(one.actions) == game.max_plies for one in ended),
    }
    for piece, name in ((1, "first"), (2, "second")):
        if (start == piece).any():
            without = sum(not (view.board == piece).any() for view in lasts)
            ends[f"with no piece of the {name} player left"] = without
    return ends


# --- the program ----------------------------------------------------------------------------------


def _load(name: str) -> Laws:
    """Load a game without the check that `make_game` makes of rules of the user's.

    Raises:
        BrokenLaw: if its sizes are impossible, or its file cannot be run.
    """
    return Laws(*checkable(name)) if _is_of_a_module(name) else Laws(make_game(name))


def main(text: str, time_limit_s: str) -> None:
    """Print the report on a game as JSON."""
    answers, watch = claim_output(), watched(float(time_limit_s))
    options = CheckOptions(**json.loads(text))
    try:
        laws = _load(options.game)
        twin = _load(options.twin) if options.twin else None
        watch()
        report = _examine(laws, twin, options, watch)
    except BrokenLaw as error:
        report = RuleReport(Fault(str(error)))
    print(json.dumps(dataclasses.asdict(report)), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
