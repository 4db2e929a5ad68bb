"""The settings and results of a UCT search, in a module that imports no compiled kernels."""

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from alphazero.runtime.errors import ConfigError

#: Maximum simulations of a search: twice the number of visits must fit into 32 bits.
MAX_SIMULATIONS = 2**30 - 1
#: Default maximum nodes of a tree: 80 MB with statistics by node. Statistics by position need more
#: for each node: its state, 12 bytes, and 8 to 16 bytes of the hash table.
DEFAULT_MAX_NODES = 4_000_000


@dataclasses.dataclass(frozen=True)
class UctSettings:
    """The settings of a UCT search: exploration, limits, statistics and rollouts.

    `alphazero.players.base.PlayerSettings` checks the ranges.
    """

    uct_c: float = math.sqrt(2.0)  #: exploration constant C of UCB1
    num_simulations: int | None = 1000  #: simulations per move; None requires a time limit
    time_limit_s: float | None = None  #: seconds per move; the first limit reached counts
    statistics: str = "node"  #: "node", or "position" for statistics shared by transpositions
    #: keep the statistics for the whole game; requires statistics by position
    keep_table: bool = False
    final_move: str = "visits"  #: play the most visited move, or the one with the best "value"
    rollout: str = "random"  #: "random", or "weighted" by the game's evaluation of moves
    rollout_weights: list[float] | None = None  #: None takes the game's default weights
    #: maximum number of nodes; when the tree is full, simulations continue without new nodes
    max_nodes: int = DEFAULT_MAX_NODES

    def check(self) -> None:
        """Check that the settings do not contradict each other.

        Raises:
            ConfigError: if `keep_table` is on without statistics by position, or `rollout_weights`
                are given for random rollouts.
        """
        if self.keep_table and self.statistics != "position":
            reason = f"it needs statistics=position, not {self.statistics}"
            raise ConfigError.of("keep_table", True, False, reason)
        if self.rollout == "random" and self.rollout_weights is not None:
            message = "rollout_weights needs rollout=weighted; random rollouts have no weights."
            raise ConfigError(message, key="rollout_weights", value=self.rollout_weights)


class UctOutput(NamedTuple):
    """The result of a UCT search, from the viewpoint of the player to move."""

    action: int  #: the move to play
    action_weights: np.ndarray  #: float32[A], visit fractions, sum 1
    value: float  #: mean result of the simulations, in [-1, 1]
    #: int32[A], visits of the positions that the actions lead to. With statistics by node they sum
    #: to `num_simulations`. By position they also include visits by other move orders and in
    #: earlier searches (`keep_table`).
    visits: np.ndarray
    values: np.ndarray  #: float32[A], mean results in [-1, 1], NaN for an unvisited action
    num_simulations: int  #: number of simulations in this search


class PositionStatistics(NamedTuple):
    """A position's statistics from UCT searches, from the viewpoint of its player to move."""

    visits: int  #: number of simulations that reached the position in the tree
    wins: float  #: wins of the player to move; a draw counts half
    value: float  #: mean result, in [-1, 1]: 2 * wins / visits - 1; NaN without visits


def best_moves(visits: np.ndarray, values: np.ndarray, final_move: str) -> np.ndarray:
    """Return the indices of the best of M moves: one, or several if they are tied.

    Args:
        visits: int[M], the visits of each move.
        values: float[M], the mean result of each move in [-1, 1], for the player to move.
        final_move: "visits" compares the visits first, then the values; "value" does the reverse.
    """
    first_key, second_key = (visits, values) if final_move == "visits" else (values, visits)
    best = np.flatnonzero(first_key == first_key.max())
    tie_breakers = second_key[best]
    return best[tie_breakers == tie_breakers.max()]
