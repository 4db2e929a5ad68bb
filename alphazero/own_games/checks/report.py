"""Search for a broken law in the rules of a game, and summarize the games that were played.

All short move sequences are checked first, then random and steered games. Random games rarely reach
unusual endings, such as a player without pieces; in steered games, one player takes pieces whenever
possible and moves that end the game are avoided. `alphazero.own_games.checked_game` searches for a
few seconds before a game is first played; `alphazero check_game` searches as long as the user sets.
"""

import contextlib
import dataclasses
import itertools
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.boards.text import plain_board
from alphazero.games.batched_game import Game
from alphazero.own_games.checks.laws import BrokenLaw, Laws, View
from alphazero.own_games.checks.twins import Twins, first_result, move_text

#: The player who takes pieces in each of four successive games; None means a random game.
_TAKERS = (None, 0, None, 1)
_MIN_GAMES = 25
_MIN_GAMES_FOR_NOTES = 10
_GAMES_WITH_SYMMETRIES = 4


@dataclasses.dataclass(frozen=True)
class CheckOptions:
    """Options of a rule check: which games to check, and when to stop."""

    game: str = ""  #: the game to check, by a name that `registry.make_game` accepts
    twin: str = ""  #: the name of another version of the same rules to compare with, or ""
    num_positions: int = 20_000  #: number of positions after which the check may stop
    seconds: float = 30.0  #: time limit of the check, not counting the check of the symmetries


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault found in one position: a broken law, or a difference between a game and its twin."""

    text: str  #: the broken law and what the rules did, as a sentence
    actions: list[int] = dataclasses.field(default_factory=list)  #: from the start to the position
    moves: str = ""  #: ``actions`` in the game's own notation, separated by spaces
    board: str = ""  #: the board as text; both boards if the game's and its twin's differ


@dataclasses.dataclass(frozen=True)
class RuleReport:
    """The result of checking a game's rules: the first fault, or else statistics of the games."""

    fault: Fault | None = None  #: the first fault; None if the rules obey all laws
    num_positions: int = 0  #: number of positions checked
    #: Entry n is the number of move sequences of n plies; up to the largest n for which all their
    #: positions were checked.
    perft: list[int] = dataclasses.field(default_factory=list)
    is_whole: bool = False  #: whether every position of the game was checked
    #: Number of finished games, random and steered, by the first player's result on the game's own
    #: scale: {"1": wins, "0": draws, "-1": losses}.
    results: dict[str, int] = dataclasses.field(default_factory=dict)
    #: Number of plies of the shortest, the median and the longest finished game.
    plies: list[int] = dataclasses.field(default_factory=list)
    max_plies: int = 0  #: upper bound on the plies of a game, as stated by the rules
    mean_legal: float = 0.0  #: mean number of legal actions in a position
    notes: list[str] = dataclasses.field(default_factory=list)  #: warnings about suspicious rules


def examine(
    laws: Laws,
    twin: Laws | None,
    options: CheckOptions,
    watch: Callable[[], None] = lambda: None,
) -> RuleReport:
    """Check a game's rules, compare them with its twin's, if any, and summarize the games played.

    A third of the positions and of the time is reserved for short move sequences. Checking the
    symmetries takes additional time.

    Args:
        laws: the game to check.
        twin: a second version of the game's rules; None to check the game alone.
        options: the limits of the check; its names of games are not used.
        watch: called before each position, to restart the timer that stops endless rules.

    Returns:
        The report; its ``fault`` is None if no fault was found.

    Raises:
        BrokenLaw: if the sizes of the game and its twin differ.
    """
    check = laws if twin is None else Twins(laws, twin)
    try:
        rest = _until(options.seconds, watch)
        third = _until(options.seconds / 3, watch)
        lines = _check_short_lines(check, options.num_positions // 3, third)
        games = _play_games(check, options.num_positions - lines.num_positions, rest)
        for game in games[:_GAMES_WITH_SYMMETRIES]:
            laws.check_symmetries(game.actions, _until(options.seconds, watch))
        laws.check_texts()
    except BrokenLaw as error:
        versions = [laws.game] if twin is None else [laws.game, twin.game]
        return RuleReport(_fault(error, versions))
    return _described(laws.game, lines, games)


def _until(seconds: float, watch: Callable[[], None]) -> Callable[[], bool]:
    """Return a function that calls ``watch`` and returns False once ``seconds`` have passed."""
    deadline = time.monotonic() + seconds

    def go_on() -> bool:
        watch()
        return time.monotonic() < deadline

    return go_on


# --- the search for a broken law ------------------------------------------------------------------


@contextlib.contextmanager
def _reached_by(actions: list[int]) -> Iterator[None]:
    """Store ``actions``, which lead to the position, in any `BrokenLaw` raised in this context."""
    try:
        yield
    except BrokenLaw as error:
        error.actions = actions
        raise


class _ShortLines(NamedTuple):
    """The result of checking all short move sequences; its fields are those of `RuleReport`."""

    perft: list[int]
    num_positions: int
    is_whole: bool


def _check_short_lines(
    check: Laws | Twins, max_positions: int, go_on: Callable[[], bool]
) -> _ShortLines:
    """Check all positions after 0, 1, 2, ... actions, until a limit or the end of the game tree.

    A position that several move sequences of the same length reach is checked once.

    Args:
        check: checks the game alone (`Laws`) or together with its twin (`Twins`).
        max_positions: the most positions to check.
        go_on: called before each position; the check stops when it returns False.

    Raises:
        BrokenLaw: if a law is broken; its ``actions`` lead to the position.
    """
    # Actions, the position before the last one, and the number of sequences that lead to it.
    pending: list[tuple[list[int], Any, int]] = [([], None, 1)]
    perft = list[int]()
    num_positions = 0
    while pending:
        level: dict[bytes, tuple[list[int], Any, View]] = {}
        num_lines = Counter[bytes]()
        for actions, before, lines in pending:
            if num_positions >= max_positions or not go_on():
                return _ShortLines(perft, num_positions, False)
            with _reached_by(actions):
                state = check.step(before, actions[-1]) if actions else check.start()
                key = check.key(state)
                num_lines[key] += lines
                if key not in level:
                    level[key] = actions, state, check.look(state, len(actions))
                    num_positions += 1
        perft.append(num_lines.total())
        pending = []
        for key, (actions, state, view) in level.items():
            for action in view.legal:
                pending.append(([*actions, action], state, num_lines[key]))
    return _ShortLines(perft, num_positions, True)


class _PlayedGame(NamedTuple):
    """A game that was played to check the rules; unfinished if the time ran out."""

    actions: list[int]
    views: list[View]  #: what the rules return for each position: one more than the actions


def _play_games(
    check: Laws | Twins, num_positions: int, go_on: Callable[[], bool]
) -> list[_PlayedGame]:
    """Play random and steered games and check their positions, at least ``num_positions`` in all.

    At least `_MIN_GAMES` games are played, unless the time runs out.

    Args:
        check: checks the game alone (`Laws`) or together with its twin (`Twins`).
        num_positions: minimum number of positions to check.
        go_on: called before each position; play stops when it returns False.

    Raises:
        BrokenLaw: if a law is broken; its ``actions`` lead to the position.
    """
    rng = random.Random(0)
    games = list[_PlayedGame]()
    for taker in itertools.cycle(_TAKERS):
        is_enough = len(games) >= _MIN_GAMES and _num_positions(games) >= num_positions
        if is_enough or not go_on():
            return games
        games.append(_play(check, taker, rng, go_on))
    return games


def _num_positions(games: list[_PlayedGame]) -> int:
    """Count the positions in all games; one that occurs in two games is counted twice."""
    return sum(len(game.views) for game in games)


def _play(
    check: Laws | Twins, taker: int | None, rng: random.Random, go_on: Callable[[], bool]
) -> _PlayedGame:
    """Play one game and check its positions.

    Args:
        check: checks the game alone (`Laws`) or together with its twin (`Twins`).
        taker: the player (0 or 1) who takes pieces whenever possible; None for a random game.
        rng: random generator that chooses the actions.
        go_on: called before each move; the game stops unfinished when it returns False.

    Raises:
        BrokenLaw: if a law is broken; its ``actions`` lead to the position.
    """
    actions = list[int]()
    views = list[View]()
    with _reached_by(actions):
        state = check.start()
        while True:
            view = check.look(state, len(actions))
            views.append(view)
            if view.over or not go_on():
                break
            legal = view.legal
            if taker is not None:
                legal = _steered(check, state, legal, takes=view.player == taker)
            action = rng.choice(legal)
            state = check.step(state, action)
            actions.append(action)
    return _PlayedGame(actions, views)


def _steered(check: Laws | Twins, state: Any, legal: list[int], takes: bool) -> list[int]:
    """Return the legal actions among which a steered game chooses at random.

    Actions that end the game are excluded, unless every action does. Of those left, the ones that
    leave the fewest or the most pieces on the board are returned.

    Args:
        check: checks the game alone (`Laws`) or together with its twin (`Twins`).
        state: the position, as ``check`` represents it.
        legal: the legal actions in this position.
        takes: True selects the actions that leave the fewest pieces, False those that leave the
            most.
    """
    sign = 1 if takes else -1
    ranks = [(over, sign * num_pieces) for over, num_pieces in check.foresee(state, legal)]
    best = min(ranks)
    return [action for action, rank in zip(legal, ranks) if rank == best]


# --- the report -----------------------------------------------------------------------------------


def _fault(error: BrokenLaw, games: list[Game]) -> Fault:
    """Describe a broken law, with the moves that lead to the position and its board as text.

    Args:
        error: the broken law, with the actions that lead to the position.
        games: the game, followed by its twin if there is one. If their boards differ, both are
            shown.
    """
    moves = " ".join(move_text(games[0], action) for action in error.actions)
    boards = [_board_after(game, error.actions) for game in games]
    if len(set(boards)) == 2:
        boards = [f"the game:\n{boards[0]}\nthe twin:\n{boards[1]}"]
    return Fault(str(error), error.actions, moves, boards[0])


def _board_after(game: Game, actions: list[int]) -> str:
    try:
        state = game.play_moves(actions)
        player = int(game.players(state[None])[0])
        nothing = np.zeros(game.num_actions, np.bool_)
        board = plain_board(game, game.cells(state), nothing, str)
        return f"{board}\n{game.piece_letters[1 + player]} to move"
    except Exception:  # a broken rule: there is no board to draw
        return ""


def _described(game: Game, lines: _ShortLines, games: list[_PlayedGame]) -> RuleReport:
    """Return the report on rules in which no fault was found, with statistics of the games.

    Args:
        lines: the result of checking the short move sequences.
        games: the random and steered games, finished or not.
    """
    finished = [played for played in games if played.views[-1].over]
    plies = [len(played.actions) for played in finished] or [0]
    results = Counter(game.own_result(first_result(played.views[-1])) for played in finished)
    nums_legal = [len(view.legal) for played in games for view in played.views if not view.over]
    return RuleReport(
        num_positions=lines.num_positions + _num_positions(games),
        perft=lines.perft,
        is_whole=lines.is_whole,
        results={f"{result:g}": number for result, number in sorted(results.items())},
        plies=[min(plies), int(statistics.median(plies)), max(plies)],
        max_plies=game.max_plies,
        mean_legal=round(float(np.mean(nums_legal or [0])), 1),
        notes=_notes(game, finished),
    )


def _notes(game: Game, finished: list[_PlayedGame]) -> list[str]:
    """Return a list with one warning if all results seem to have the wrong sign, else no warnings.

    The sign seems wrong if the player who made the last move never wins and loses at least 10
    games.

    Args:
        finished: the games that were played to the end.
    """
    results = list[float]()  # for the player who made the last move
    for played in finished:
        before, last = played.views[-2:]
        results.append(last.result if last.player == before.player else -last.result)
    num_lost = sum(result < 0 for result in results)
    if game.num_players == 1 or num_lost < _MIN_GAMES_FOR_NOTES or max(results) > 0:
        return []
    return [
        f"the player who made the last move lost all {num_lost} decided games. If the last move "
        "should win, 'result' has the wrong sign: it is for the player to move after it."
    ]
