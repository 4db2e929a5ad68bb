"""What a UCT search returns: its move, and statistics of moves and positions."""

from typing import NamedTuple

import numpy as np


class UctOutput(NamedTuple):
    """The result of a search. Values are from the viewpoint of the player to move."""

    action: int  #: the move to play
    action_weights: np.ndarray  #: float32[A], fractions of the visits, sum 1
    value: float  #: mean result of the simulations, in [-1, 1]
    #: int32[A], visits of the positions that the actions lead to. With statistics by node they sum
    #: to `num_simulations`; by position, a child may also have been visited from elsewhere in the
    #: tree, with `record_rollouts` also by rollouts, and with `keep_table` by earlier searches.
    visits: np.ndarray
    values: np.ndarray  #: float32[A], mean results in [-1, 1], nan for an unvisited action
    num_simulations: int  #: of this search


class PositionStatistics(NamedTuple):
    """What searches have learned about a position, for the player to move there."""

    #: simulations that reached the position: in the tree, with `record_rollouts` also in a rollout
    visits: int
    wins: float  #: of the player to move; a draw is half a win
    value: float  #: mean result, in [-1, 1]: 2 * wins / visits - 1; nan without visits


def best_moves(visits: np.ndarray, values: np.ndarray, final_move: str) -> np.ndarray:
    """Return the indices of the best moves.

    "visits": the most visited ones, and among these the best values; "value": the other way round.
    """
    first_key, second_key = (visits, values) if final_move == "visits" else (values, visits)
    largest = np.flatnonzero(first_key == first_key.max())
    return largest[second_key[largest] == second_key[largest].max()]
