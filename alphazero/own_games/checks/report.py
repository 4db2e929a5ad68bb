"""The rules of a game, looked at for a while: what is broken, or what its games are like.

In: the laws of a game, perhaps those of a second version of its rules, and how long to look. Out: a
`RuleReport`. `alphazero.own_games.checked_game` looks for a moment before a game is played,
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
    KINDS,
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

_MIN_GAMES = 25
_MIN_GAMES_FOR_NOTES = 10
_GAMES_WITH_SYMMETRIES = 4
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
    plies: list[int] = dataclasses.field(default_factory=list)  #: least, median, most of a game
    max_plies: int = 0
    mean_legal: float = 0.0  #: legal actions in a position
    notes: list[str] = dataclasses.field(default_factory=list)  #: what is allowed but looks wrong

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
    """Check the laws, beside the twin if there is one, then look for what is allowed but odd.

    Args:
        watch: called before each position, which then has to return within some time.
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


# --- the search for what is broken ----------------------------------------------------------------


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
    go_on = until(options.seconds, watch)
    breadth = breadth_first(check, options.num_positions // 3, until(options.seconds / 3, watch))
    found = _Search(breadth, [], breadth.broken)
    rng = random.Random(options.seed)
    for wishes in itertools.cycle(KINDS):
        is_enough = found.num_positions >= options.num_positions and len(found.walks) >= _MIN_GAMES
        if found.broken is not None or is_enough or not go_on():
            return found
        found.walks.append(walk(check, wishes, rng, go_on))
        found = found._replace(broken=found.walks[-1].broken)
    return found


def until(seconds: float, watch: Callable[[], None]) -> Callable[[], bool]:
    """Return a function that calls ``watch`` and says whether there is still time."""
    deadline = time.monotonic() + seconds

    def go_on() -> bool:
        watch()
        return time.monotonic() < deadline

    return go_on


# --- the report -----------------------------------------------------------------------------------


def _fault(broken: Broken, *games: Game) -> Fault:
    """Return what is broken, with its moves and the board of each version of the rules."""
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
    """Return the numbers of lines of 0, 1, 2, ... actions, up to about ``num_lines`` lines."""
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
    """Return what games were like."""
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
    """Return how many games ended in each way that a game may end in, 0 included."""
    lasts = [one.views[-1] for one in ended]
    if game.num_players == 1:
        results = Counter(game.own_result(view.result or 0.0) for view in lasts)
        return {f"result {value:g}": number for value, number in sorted(results.items())}
    firsts = [first_result(view) for view in lasts]
    last_movers = [_result_of_last_mover(one) or 0.0 for one in ended]
    ends = {
        "won by the first player": sum(value > 0 for value in firsts),
        "won by the second player": sum(value < 0 for value in firsts),
        "drawn": firsts.count(0),
        "won by the player who moved last": sum(value > 0 for value in last_movers),
        "lost by the player who moved last": sum(value < 0 for value in last_movers),
        "by the limit of max_plies": sum(len(one.actions) == game.max_plies for one in ended),
    }
    start = ended[0].views[0].board
    for piece, name in ((1, "first"), (2, "second")):
        if (start == piece).any():
            without = sum(not (view.board == piece).any() for view in lasts)
            ends[f"with no piece of the {name} player left"] = without
    return ends


def _notes(game: Game, walks: list[Walk]) -> list[str]:
    """Return notes on what is allowed but looks wrong."""
    notes = []
    results = [_result_of_last_mover(one) for one in walks]
    num_lost = sum(result is not None and result < 0 for result in results)
    num_won = sum(result is not None and result > 0 for result in results)
    if game.num_players == 2 and num_lost >= _MIN_GAMES_FOR_NOTES and not num_won:
        notes.append(
            f"in all {num_lost} games that were not drawn, the player who made the last move lost. "
            "If the last move should win, 'result' has the wrong sign: it is the result of the "
            "player to move, after the last move."
        )
    repeated = next((one.repeated for one in walks if one.repeated), None)
    if repeated is not None:
        before, after = repeated
        notes.append(
            f"positions repeat: in one game, the position after {after:,} actions looks like the "
            f"one after {before:,}. If the rules count actions or forbid repetitions, the state, "
            "or 'observe' or 'key' of a class, must show that. If they do not, games can go on for "
            "ever: end them at a limit."
        )
    return notes


def _result_of_last_mover(one: Walk) -> float | None:
    """Return the result for the player who made the last move; None if the game did not end."""
    if len(one.views) < 2 or not one.views[-1].over:
        return None
    last = one.views[-1]
    result = last.result or 0.0
    return result if last.player == one.views[-2].player else -result
