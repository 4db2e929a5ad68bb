"""Prove whether a player of a small game can lose, and find the positions that it misplays.

In: a game and a function that chooses moves. Out: a `ProofReport`, data only. The player chooses
one move in every unfinished position, in large batches. These moves are then played against every
possible sequence of opposing moves, or alone in a game of one player, and each is compared with
perfect play. The proof holds for this table of moves: if a player chooses at random, it says
nothing about the player's next game.

Shapes: B positions, K state words, A actions.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.runtime.errors import InputError
from alphazero.solvers.enumeration import NO_CHILD, ExactValues, Positions

_BATCH = 4096  # maximum number of positions per call of the player


@dataclasses.dataclass(frozen=True)
class SideReport:
    """What can happen when the player takes one side and the opponent may play any move.

    A *position* counts once, however it is reached. A *game* is a sequence of moves, so several
    games can end in the same final position.
    """

    color: int  #: 0 if the player moves first in the game, 1 if it moves second
    num_positions: int  #: different positions that can occur, including the first and final ones
    games: tuple[int, ...]  #: numbers of games that the player wins, draws and loses


@dataclasses.dataclass(frozen=True)
class Failure:
    """A position in which the player's move gives up the best possible result.

    Values are results of perfect play, from the viewpoint of the player to move.
    """

    state: np.ndarray  #: [K], the position
    action: int  #: the move chosen
    value: float  #: the result after the move chosen
    best_value: float  #: the best possible result
    best_actions: list[int]  #: the moves that keep the best possible result


@dataclasses.dataclass(frozen=True)
class ProofReport:
    """How a player fares against every possible play, and the positions that it misplays."""

    game_name: str
    #: two reports: the player moves first, then second; empty in a game of one player
    sides: tuple[SideReport, ...]
    num_not_final: int  #: number of unfinished positions, whichever moves lead to them
    num_accurate: int  #: in how many of them the player's move keeps the best possible result
    failures: list[Failure]  #: the other unfinished positions
    #: in a game of one player, the result that the player reaches from the start, and the best
    #: possible result; both in [-1, 1]
    results: tuple[float, float] | None = None

    @property
    def num_losses(self) -> int:
        """The number of games that the player can lose, on both sides together."""
        return sum(side.games[2] for side in self.sides)

    @property
    def unbeatable(self) -> bool:
        """Whether the opponent cannot win, on either side."""
        return self.num_losses == 0

    @property
    def perfect(self) -> bool:
        """Whether every move of the player keeps the best possible result."""
        return self.num_accurate == self.num_not_final


def prove(
    game: Game,
    choose: Callable[[np.ndarray], np.ndarray],
    exact: ExactValues | None = None,
) -> ProofReport:
    """Ask a player for its move in every position of a game, and follow all games that can result.

    Args:
        choose: maps unfinished positions ([B, K]) to the player's actions (int[B]); called once for
            each position.
        exact: the exact values of the game, if they are already known.

    Raises:
        UnsolvableError: if the game has too many positions.
        InputError: if the player chooses an illegal action.
    """
    exact = exact or ExactValues(game)
    positions = exact.positions
    rows = np.flatnonzero(~positions.over)
    chosen = np.full(len(positions), NO_CHILD, np.int64)
    for batch in np.split(rows, range(_BATCH, len(rows), _BATCH)):
        chosen[batch] = choose(positions.states[batch])
        _check_choices(game, positions, batch, chosen[batch])
    values = positions.action_values[rows, chosen[rows]]
    kept = values == positions.values[rows]
    failures = [
        _failure(exact, row, chosen[row], value) for row, value in zip(rows[~kept], values[~kept])
    ]
    sides: tuple[SideReport, ...] = ()
    results = None
    if game.num_players == 1:
        results = _play_alone(positions, chosen), float(positions.values[0])
    else:
        sides = _play_out(positions, chosen, 0), _play_out(positions, chosen, 1)
    return ProofReport(game.name, sides, len(rows), int(kept.sum()), failures, results)


def _check_choices(game: Game, positions: Positions, rows: np.ndarray, actions: np.ndarray) -> None:
    for row, action in zip(rows, actions):
        is_action = 0 <= action < game.num_actions
        if not is_action or positions.children[row, action] == NO_CHILD:
            board = game.state_to_text(positions.states[row])
            raise InputError(
                f"the player chose the illegal action {action} in this position:\n{board}"
            )


def _failure(exact: ExactValues, row: int, action: int, value: float) -> Failure:
    state = exact.positions.states[row]
    best_value = float(exact.positions.values[row])
    return Failure(state, int(action), float(value), best_value, exact.best_actions(state))


def _play_alone(positions: Positions, chosen: np.ndarray) -> float:
    """Follow the player's moves in a game of one player; return the result in [-1, 1]."""
    row = 0
    while not positions.over[row]:
        row = positions.children[row, chosen[row]]
    return float(positions.values[row])


def _play_out(positions: Positions, chosen: np.ndarray, color: int) -> SideReport:
    """Play the player's moves as ``color`` (0: first, 1: second) against all opposing moves."""
    num_games = np.zeros(len(positions), object)  # number of games so far that reach each position
    num_games[0] = 1
    # Every move lowers `plies_left`. So, in this order, all games that reach a position are counted
    # before its own moves are followed.
    for row in np.argsort(-positions.plies_left, kind="stable"):
        if num_games[row] and not positions.over[row]:
            children = positions.children[row]
            if positions.players[row] == color:
                played = children[[chosen[row]]]
            else:
                played = children[children != NO_CHILD]
            for child in played:
                num_games[child] += num_games[row]
    results = np.where(positions.players == color, positions.values, -positions.values)
    games = []
    for result in (1, 0, -1):
        is_end = positions.over & (np.sign(results) == result)
        games.append(int(num_games[is_end].sum()))
    return SideReport(color, int(np.count_nonzero(num_games)), tuple(games))
