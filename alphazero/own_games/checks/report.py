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
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.own_games.checks.laws import BrokenLaw, Laws, View
from alphazero.own_games.checks.twins import Twin, first_result, move_text

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
class RuleReport:
    """The result of checking a game's rules: the first fault, or else statistics of the games."""

    #: The first broken law, or difference between a game and its twin, as a sentence; None if the
    #: rules obey all laws.
    fault: str | None = None
    actions: list[int] = dataclasses.field(default_factory=list)  #: from the start to the fault
    moves: str = ""  #: ``actions`` in the game's own notation, separated by spaces
    num_positions: int = 0  #: number of positions checked
    #: Entry n is the number of move sequences of n plies; up to the largest n for which all their
    #: positions were checked.
    perft: list[int] = dataclasses.field(default_factory=list)
    #: whether every position of the game was checked, and none was taken for another
    is_whole: bool = False
    #: Number of finished games, random and steered, by the first player's result on the game's own
    #: scale: {"1": wins, "0": draws, "-1": losses}.
    results: dict[str, int] = dataclasses.field(default_factory=dict)
    #: Number of plies of the shortest, the median and the longest finished game.
    plies: list[int] = dataclasses.field(default_factory=list)
    max_plies: int = 0  #: upper bound on the plies of a game, as stated by the rules
    mean_legal: float = 0.0  #: mean number of legal actions in a position
    notes: list[str] = dataclasses.field(default_factory=list)  #: warnings about suspicious rules


def examine(
    laws: Laws, twin: Laws | None, options: CheckOptions, watch: Callable[[], None] = lambda: None
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
    if twin is not None:
        laws.compare = Twin(twin, laws.game).compare
    try:
        rest = _until(options.seconds, watch)
        third = _until(options.seconds / 3, watch)
        lines = _check_short_lines(laws, options.num_positions // 3, third)
        num_positions = options.num_positions - lines.num_positions
        games = _play_games(laws, num_positions, rest)
        for game in games[:_GAMES_WITH_SYMMETRIES]:
            laws.check_symmetries(game.actions, _until(options.seconds, watch))
        laws.check_texts()
    except BrokenLaw as error:
        moves = " ".join(move_text(laws.game, action) for action in error.actions)
        return RuleReport(str(error), error.actions, moves)
    lines = lines._replace(is_whole=lines.is_whole and not laws.merges_positions)
    notes = [*_notes(laws.game, games), *laws.notes]
    return _described(laws.game, lines, games, notes)


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


def _check_short_lines(laws: Laws, max_positions: int, go_on: Callable[[], bool]) -> _ShortLines:
    """Check all positions after 0, 1, 2, ... actions, until a limit or the end of the game tree.

    A position that several move sequences of the same length reach is checked once.

    Args:
        laws: plays and checks the game.
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
        level: dict[Hashable, tuple[list[int], Any, View]] = {}
        num_lines = Counter[Hashable]()
        for actions, before, lines in pending:
            if num_positions >= max_positions or not go_on():
                return _ShortLines(perft, num_positions, False)
            with _reached_by(actions):
                state = laws.step(before, actions[-1]) if actions else laws.start()
                key = laws.key(state)
                num_lines[key] += lines
                if key not in level:
                    level[key] = actions, state, laws.look(state, actions)
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


def _play_games(laws: Laws, num_positions: int, go_on: Callable[[], bool]) -> list[_PlayedGame]:
    """Play random and steered games and check their positions, at least ``num_positions`` in all.

    At least `_MIN_GAMES` games are played, unless the time runs out. Every second random game is
    the one before with two moves of a player exchanged, which often leads to the same positions.

    Args:
        laws: plays and checks the game.
        num_positions: minimum number of positions to check.
        go_on: called before each position; play stops when it returns False.

    Raises:
        BrokenLaw: if a law is broken; its ``actions`` lead to the position.
    """
    rng = random.Random(0)
    games = list[_PlayedGame]()
    for number in itertools.count():
        is_enough = len(games) >= _MIN_GAMES and _num_positions(games) >= num_positions
        if is_enough or not go_on():
            break
        line = list[int]()
        if number % 4 == 2:
            line = games[-2].actions[:]
            ply = rng.randrange(max(len(line) - 2, 1))
            line[ply : ply + 3] = line[ply : ply + 3][::-1]
        games.append(_play(laws, _TAKERS[number % 4], line, rng, go_on))
    return games


def _num_positions(games: list[_PlayedGame]) -> int:
    """Count the positions in all games; one that occurs in two games is counted twice."""
    return sum(len(game.views) for game in games)


def _play(
    laws: Laws, taker: int | None, line: list[int], rng: random.Random, go_on: Callable[[], bool]
) -> _PlayedGame:
    """Play one game and check its positions.

    Args:
        laws: plays and checks the game.
        taker: the player (0 or 1) who takes pieces whenever possible; None for a random game.
        line: the action to play at each ply if it is legal.
        rng: random generator that chooses the actions.
        go_on: called before each move; the game stops unfinished when it returns False.

    Raises:
        BrokenLaw: if a law is broken; its ``actions`` lead to the position.
    """
    actions = list[int]()
    views = list[View]()
    with _reached_by(actions):
        state = laws.start()
        while True:
            view = laws.look(state, actions)
            views.append(view)
            if view.over or not go_on():
                break
            legal = view.legal
            planned = line[len(actions) :][:1]
            if set(planned) & set(legal):
                legal = planned
            elif taker is not None:
                legal = laws.steer(state, legal, takes=view.player == taker)
            action = rng.choice(legal)
            state = laws.step(state, action)
            actions.append(action)
    return _PlayedGame(actions, views)


# --- the report -----------------------------------------------------------------------------------


def _described(
    game: Game, lines: _ShortLines, games: list[_PlayedGame], notes: list[str]
) -> RuleReport:
    """Return the report on rules in which no fault was found, with statistics of the games.

    Args:
        lines: the result of checking the short move sequences.
        games: the random and steered games, finished or not.
        notes: warnings about suspicious rules.
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
        notes=notes,
    )


def _notes(game: Game, games: list[_PlayedGame]) -> list[str]:
    """Return at most one warning, if the games for two players that were played are unusual.

    Args:
        games: the random and steered games, finished or not.
    """
    ends = [played.views[-2:] for played in games if played.views[-1].over]
    won = [(first_result(last) > 0, before.player) for before, last in ends if last.result]
    if game.num_players == 1 or len(ends) < _MIN_GAMES_FOR_NOTES:
        return []
    if not any(view.player for played in games for view in played.views[:-1]):
        return ["one player makes every move: look at 'player_to_move'. In a puzzle num_players=1."]
    if not won:
        return ["all games were drawn: look at 'is_over' and 'result'."]
    if len(won) >= _MIN_GAMES_FOR_NOTES and all(first == player for first, player in won):
        return [
            "the player who moved last never wins. Unless the last move loses, 'result' "
            "has the wrong sign: it is for the player to move after it."
        ]
    winners, movers = map(set, zip(*won))
    if len(won) >= 2 * _MIN_GAMES_FOR_NOTES and len(winners) == 1 and len(movers) == 2:
        loser = "second" if winners == {True} else "first"
        return [
            f"the {loser} player never wins. Unless the sides are unequal, look at "
            "'result': it is for the player to move, not always for the same one."
        ]
    return []
