"""The results of a UCT search: the chosen move, and statistics of moves and positions."""

from typing import NamedTuple

import numpy as np


class UctOutput(NamedTuple):
    """The result of a UCT search. Values are from the viewpoint of the player to move."""

    action: int  #: the move to play
    action_weights: np.ndarray  #: float32[A], visit fractions, sum 1
    value: float  #: mean result of the simulations, in [-1, 1]
    #: int32[A], visits of the positions that the actions lead to. With statistics by node they sum
    #: to `num_simulations`. By position they also include visits from elsewhere in the tree, from
    #: rollouts (`record_rollouts`) and from earlier searches (`keep_table`).
    visits: np.ndarray
    values: np.ndarray  #: float32[A], mean results in [-1, 1], nan for an unvisited action
    num_simulations: int  #: number of simulations in this search


class PositionStatistics(NamedTuple):
    """A position's statistics from UCT searches, from the viewpoint of its player to move."""

    #: simulations that reached the position in the tree or, with `record_rollouts`, in a rollout
    visits: int
    wins: float  #: wins of the player to move; a draw counts half
    value: float  #: mean result, in [-1, 1]: 2 * wins / visits - 1; nan without visits


def best_moves(visits: np.ndarray, values: np.ndarray, final_move: str) -> np.ndarray:
    """Return the index of the best move, or the indices of several if they are tied.

    Args:
        final_move: "visits" compares the visits first, then the values; "value" the reverse.
    """
    first_key, second_key = (visits, values) if final_move == "visits" else (values, visits)
    largest = np.flatnonzero(first_key == first_key.max())
    return largest[second_key[largest] == second_key[largest].max()]
