"""Prove whether a player of a small game can lose, and find the positions that it misplays.

A `ProofReport` is made for a game and a function that chooses moves. The player chooses one move in
every unfinished position, in large batches. These moves are then played against every possible
sequence of opposing moves, or alone in a one-player game, and each is compared with perfect
play. The proof holds for this table of moves: if a player chooses at random, the proof says nothing
about the player's next game.

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
    """What can happen if the player takes one side and the opponent plays any legal moves.

    A *position* counts once, however it is reached. A *game* is a sequence of moves, so several
    games can end in the same final position.
    """

    color: int  #: 0 if the player moves first in the game, 1 if it moves second
    num_positions: int  #: number of positions that can occur, including the first and final ones
    games: tuple[int, ...]  #: numbers of possible games that the player wins, draws and loses


@dataclasses.dataclass(frozen=True)
class Failure:
    """A position in which the player's move gives up the best possible result.

    Values are results of perfect play, from the viewpoint of the player to move.
    """

    state: np.ndarray  #: [K], the position
    action: int  #: the player's move
    value: float  #: the result after the player's move
    best_value: float  #: the best possible result
    best_actions: list[int]  #: the moves that keep the best possible result


@dataclasses.dataclass(frozen=True)
class ProofReport:
    """How a player fares against every line of play, and the positions that it misplays."""

    game_name: str
    #: two reports, one with the player moving first and one second; empty in a one-player game
    sides: tuple[SideReport, ...]
    num_not_final: int  #: number of unfinished positions that any legal moves reach
    num_accurate: int  #: number of these in which the player's move keeps the best possible result
    failures: list[Failure]  #: the other unfinished positions
    #: in a one-player game, the result that the player reaches from the start, and the best
    #: possible result; both in [-1, 1]
    results: tuple[float, float] | None = None

    @property
    def num_losses(self) -> int:
        """Number of possible games that the player loses, on both sides together."""
        return sum(side.games[2] for side in self.sides)

    @property
    def unbeatable(self) -> bool:
        """Whether the opponent cannot win, whichever side the player takes."""
        return self.num_losses == 0

    @property
    def perfect(self) -> bool:
        """Whether the player's move keeps the best possible result in every position."""
        return self.num_accurate == self.num_not_final


def prove(
    game: Game,
    choose: Callable[[np.ndarray], np.ndarray],
    exact: ExactValues | None = None,
) -> ProofReport:
    """Ask a player for its move in every position, and follow all games that can result.

    Args:
        game: the game, small enough to enumerate.
        choose: maps unfinished positions ([B, K]) to the player's actions (int[B]); each position
            is asked once.
        exact: the results of perfect play in this game; if None, they are computed here.

    Returns:
        The possible wins, draws and losses on each side, and the misplayed positions.

    Raises:
        UnsolvableError: if the game has too many positions to enumerate.
        InputError: if the player chooses an illegal action, or a position can occur twice in a
            game.
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
    """Follow the player's moves in a one-player game and return the final result, in [-1, 1].

    Args:
        positions: all positions of the game.
        chosen: int64[N], the player's action in each position.
    """
    row = 0
    while not positions.over[row]:
        row = positions.children[row, chosen[row]]
    return float(positions.values[row])


def _play_out(positions: Positions, chosen: np.ndarray, color: int) -> SideReport:
    """Play the player's moves on one side against all possible opposing moves.

    Args:
        positions: all positions of the game.
        chosen: int64[N], the player's action in each position.
        color: 0 if the player moves first in the game, 1 if it moves second.
    """
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
