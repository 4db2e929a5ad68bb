"""The record of a finished game: positions, search results and the game's result.

Positions are stored raw. Planes and symmetries are made when the replay buffer samples them.
Letters for shapes: T plies, K words of a state, A actions.
"""

from typing import NamedTuple

import numpy as np


class GameRecord(NamedTuple):
    """One finished game, one row per ply."""

    states: np.ndarray  #: [T, K], the positions before each action
    actions: np.ndarray  #: int32[T], the actions played
    #: float32[T, A], policy target: `alphazero.search.roots.PolicyOutput.action_weights`
    action_weights: np.ndarray
    root_values: np.ndarray  #: float32[T], the search's value, for the player to move
    outcomes: np.ndarray  #: float32[T], the game's result in [-1, 1], for the player to move
    #: bool[T], True for plies with a search, which become training samples; False for the moves of
    #: a random opening
    is_target: np.ndarray
    #: float32[T], nats from the root's priors (noise included) to the policy target; None in old
    #: stored games
    surprises: np.ndarray | None = None

    @property
    def first_player_result(self) -> float:
        """The result from the viewpoint of the player who moves at ply 0."""
        return float(self.outcomes[0])
