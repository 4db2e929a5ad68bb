"""What one finished game leaves behind: raw states, what the search said, and the result. Planes and symmetries are made when it is sampled.

Letters for shapes: T plies, K state words, A actions.
"""

from typing import NamedTuple

import numpy as np


class GameRecord(NamedTuple):
    """One finished game, a row for each ply."""

    states: np.ndarray  #: [T, K], the positions before each action
    actions: np.ndarray  #: int32[T], the actions played
    action_weights: np.ndarray  #: float32[T, A], the policy target: visit shares at temperature 1
    root_values: (
        np.ndarray
    )  #: float32[T], the search's value, from the viewpoint of the player to move
    outcomes: (
        np.ndarray
    )  #: int8[T], the game's result 1, 0 or -1, from the viewpoint of the player to move
    is_target: np.ndarray  #: bool[T], True where the search was a full one, whose row is trained on; False too for the moves of a random opening
    surprises: np.ndarray | None = (
        None  #: float32[T], nats from the search's priors to the policy target; None in games stored by earlier versions
    )

    @property
    def first_player_result(self) -> int:
        """The result from the viewpoint of the player of row 0."""
        return int(self.outcomes[0])
