"""Search for a broken law in the rules of a game, and summarize the games that were played.

In: the `Laws` of a game, optionally those of a second version of its rules, and a time limit. Out:
a `RuleReport`. `alphazero.own_games.checked_game` searches briefly before a game is played,
`alphazero check_game` for as long as the user likes.
"""

import dataclasses
import itertools
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from alphazero.boards.text import plain_board
from alphazero.games.batched_game import Game
from alphazero.own_games.checks.laws import Laws
from alphazero.own_games.checks.rule_walks import (
    Breadth,
    Broken,
    BrokenLaw,
    Check,
    Walk,
    breadth_first,
    walk,
)
from alphazero.own_games.checks.symmetries import broken_symmetry
from alphazero.own_games.checks.twins import Difference, Twins, first_result, move_text
from alphazero.textbook.game import PlainGame
from alphazero.textbook.minimax import perft

#: The taker in successive games, see `walk`: every other game is random.
_TAKERS = (None, 0, None, 1)
_MIN_GAMES = 25
_MIN_GAMES_FOR_NOTES = 10
_GAMES_WITH_SYMMETRIES = 4
_PERFT_S = 2.0  # limit on the time that the next perft count is expected to take


@dataclasses.dataclass(frozen=True)
class CheckOptions:
    """Options of a rule check: what is checked, and for how long."""

    game: str = ""  #: a name that `alphazero.own_games.registry.make_game` accepts
    twin: str = ""  #: the name of another version of the same rules, or ""
    num_positions: int = 20_000  #: number of positions to check
    seconds: float = 30.0  #: time limit of the check
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class Fault:
    """A broken law, or a difference between two versions of the rules, in one position."""

    text: str  #: description of the fault
    actions: list[int] = dataclasses.field(default_factory=list)  #: moves from the start
    moves: str = ""  #: these actions in the notation of the rules
    board: str = ""  #: the board as text; both boards if the game's and its twin's differ


@dataclasses.dataclass(frozen=True)
class RuleReport:
    """The result of checking the rules of a game."""

    broken: Fault | None = None  #: the broken law; None if none was found
    difference: Fault | None = None  #: where the game and its twin differ; None if nowhere
    num_positions: int = 0  #: number of positions checked
    full_plies: int = 0  #: every position after at most this many plies was checked
    is_whole: bool = False  #: whether every position of the game was checked
    num_games: int = 0  #: number of finished games, random and steered
    #: Number of move sequences of 0, 1, 2, ... plies.
    perft: list[int] = dataclasses.field(default_factory=list)
    #: Number of positions first reached after 0, 1, 2, ... plies.
    num_by_ply: list[int] = dataclasses.field(default_factory=list)
    ends: dict[str, int] = dataclasses.field(default_factory=dict)  #: number of games per ending
    #: Plies of the shortest, the median and the longest game.
    plies: list[int] = dataclasses.field(default_factory=list)
    max_plies: int = 0  #: the rules' own upper bound on the plies of a game
    mean_legal: float = 0.0  #: mean number of legal actions in a position
    notes: list[str] = dataclasses.field(default_factory=list)  #: legal but suspicious rules

    @property
    def holds(self) -> bool:
        """Whether no law is broken and the twin, if any, agrees."""
        return self.broken is None and self.difference is None


def examine(
    laws: Laws,
    twin: Laws | None,
    options: CheckOptions,
    watch: Callable[[], None] = lambda: None,
) -> RuleReport:
    """Check the laws, compare the game with its twin, if any, and summarize the games played.

    Args:
        watch: called before each position, to restart the timer that stops endless rules.
    """
    try:
        check = laws if twin is None else Twins(laws, twin)
    except Difference as error:
        return RuleReport(difference=Fault(str(error)))
    search = _search(check, options, watch)
    broken = search.broken
    if broken is None:
        played = search.walks[:_GAMES_WITH_SYMMETRIES]
        broken = broken_symmetry(laws, played, until(options.seconds, watch)) or _broken_name(laws)
    if broken is None:
        return _described(laws.game, search, _perft(laws.game, options.num_positions, watch))
    if twin is not None and isinstance(broken.error, Difference):
        fault = _fault(broken, laws.game, twin.game)
        return RuleReport(difference=fault, num_positions=search.num_positions)
    return RuleReport(_fault(broken, laws.game), num_positions=search.num_positions)


def _broken_name(laws: Laws) -> Broken | None:
    try:
        laws.check_names()
    except BrokenLaw as error:
        return Broken(error, [])
    return None


# --- the search for a broken law ------------------------------------------------------------------


class _Search(NamedTuple):
    """The walks through a game, and the first broken law that they found."""

    breadth: Breadth
    walks: list[Walk]
    broken: Broken | None

    @property
    def num_positions(self) -> int:
        """Number of positions checked; a position shared by several games counts for each."""
        return self.breadth.num_positions + sum(len(one.views) for one in self.walks)


def _search(check: Check, options: CheckOptions, watch: Callable[[], None]) -> _Search:
    """Check all short move sequences of the game, then random and steered games.

    The short sequences get a third of the positions and of the time.
    """
    go_on = until(options.seconds, watch)
    breadth = breadth_first(check, options.num_positions // 3, until(options.seconds / 3, watch))
    found = _Search(breadth, [], breadth.broken)
    rng = random.Random(options.seed)
    for taker in itertools.cycle(_TAKERS):
        is_enough = found.num_positions >= options.num_positions and len(found.walks) >= _MIN_GAMES
        if found.broken is not None or is_enough or not go_on():
            return found
        found.walks.append(walk(check, taker, rng, go_on))
        found = found._replace(broken=found.walks[-1].broken)
    return found


def until(seconds: float, watch: Callable[[], None]) -> Callable[[], bool]:
    """Make a function that calls ``watch`` and returns whether any of the ``seconds`` are left."""
    deadline = time.monotonic() + seconds

    def go_on() -> bool:
        watch()
        return time.monotonic() < deadline

    return go_on


# --- the report -----------------------------------------------------------------------------------


def _fault(broken: Broken, *games: Game) -> Fault:
    """Describe a broken law with the moves that lead to it and each version's board."""
    moves = " ".join(move_text(games[0], action) for action in broken.actions)
    boards = [_board_after(game, broken.actions) for game in games]
    if len(boards) == 2 and boards[0] != boards[1]:
        boards = [f"the game:\n{boards[0]}\nthe twin:\n{boards[1]}"]
    return Fault(str(broken.error), broken.actions, moves, boards[0])


def _board_after(game: Game, actions: list[int]) -> str:
    try:
        state = game.initial_states()
        for action in actions:
            state = game.step(state, np.array([action], np.int32)).states
        player = int(game.players(state)[0])
        to_move = f"\n{game.piece_letters[1 + player]} to move" if player in (0, 1) else ""
        nothing = np.zeros(game.num_actions, np.bool_)
        return plain_board(game, game.cells(state[0]), nothing, str) + to_move
    except Exception:  # a broken rule: there is no board to draw
        return ""


def _perft(game: Game, num_lines: int, watch: Callable[[], None]) -> list[int]:
    """Count the move sequences of 0, 1, 2, ... actions, up to about ``num_lines`` sequences."""
    rules = PlainGame(game)
    counts = [1]
    while True:
        watch()
        began = time.monotonic()
        num = perft(rules, rules.initial_state(), len(counts))
        if not num:
            return counts
        counts.append(num)
        growth = num / counts[-2]
        seconds = time.monotonic() - began
        if num * growth > 2 * num_lines or seconds * growth > _PERFT_S:
            return counts


def _described(game: Game, search: _Search, lines: list[int]) -> RuleReport:
    """Make the report on rules in which no broken law was found."""
    ended = [one for one in search.walks if one.views[-1].over]
    lengths = sorted(len(one.actions) for one in ended) or [0]
    views = [view for one in search.walks for view in one.views if not view.over]
    return RuleReport(
        num_positions=search.num_positions,
        full_plies=search.breadth.plies,
        is_whole=search.breadth.is_whole,
        perft=lines,
        num_by_ply=search.breadth.num_by_ply,
        num_games=len(ended),
        ends=_ends(game, ended) if ended else {},
        plies=[lengths[0], int(statistics.median(lengths)), lengths[-1]],
        max_plies=game.max_plies,
        mean_legal=round(float(np.mean([len(view.legal) for view in views] or [0])), 1),
        notes=_notes(game, search.walks),
    )


def _ends(game: Game, ended: list[Walk]) -> dict[str, int]:
    """Count the games by how they ended."""
    lasts = [one.views[-1] for one in ended]
    if game.num_players == 1:
        results = Counter(game.own_result(view.result or 0.0) for view in lasts)
        return {f"result {value:g}": number for value, number in sorted(results.items())}
    firsts = [first_result(view) for view in lasts]
    last_movers = [_result_of_last_mover(one) or 0.0 for one in ended]
    return {
        "won by the first player": sum(value > 0 for value in firsts),
        "won by the second player": sum(value < 0 for value in firsts),
        "drawn": firsts.count(0),
        "won by the player who moved last": sum(value > 0 for value in last_movers),
        "lost by the player who moved last": sum(value < 0 for value in last_movers),
        "by the limit of max_plies": sum(len(one.actions) == game.max_plies for one in ended),
    }


def _notes(game: Game, walks: list[Walk]) -> list[str]:
    """Write notes for the user on rules that obey the laws but look wrong."""
    notes = []
    results = [_result_of_last_mover(one) for one in walks]
    num_lost = sum(result is not None and result < 0 for result in results)
    num_won = sum(result is not None and result > 0 for result in results)
    if game.num_players == 2 and num_lost >= _MIN_GAMES_FOR_NOTES and not num_won:
        notes.append(
            f"the player who made the last move lost all {num_lost} decided games. If the last "
            "move should win, 'result' has the wrong sign: it is for the player to move after it."
        )
    repeated = next((one.repeated for one in walks if one.repeated), None)
    if repeated is not None:
        before, after = repeated
        notes.append(
            f"positions repeat: in one game, the position after {after:,} actions is the same as "
            f"after {before:,}. If the rules count actions or forbid repetitions, the state, or "
            "'observe' or 'key' of a class, must show it. Otherwise, end games at a limit."
        )
    return notes


def _result_of_last_mover(one: Walk) -> float | None:
    """Return the result for the player who made the last move; None if the game did not end."""
    if len(one.views) < 2 or not one.views[-1].over:
        return None
    last = one.views[-1]
    result = last.result or 0.0
    return result if last.player == one.views[-2].player else -result
