"""Rows of the same position, merged: each is shown with the mean of what all of them say.

In: the rows of a window. Out: the distinct positions' mean targets, and which of them each row is. An opening that a thousand games share has a
thousand results; their mean has a thirtieth of the noise of one. A position and its mirror image count as two: symmetries are for the batches.
"""

from typing import NamedTuple

import numpy as np


class MergedRows(NamedTuple):
    """The distinct positions among M rows; N is their number."""

    position_of: np.ndarray  #: int64[M], the position of each row, in [0, N)
    action_weights: np.ndarray  #: float32[N, A], mean
    outcomes: np.ndarray  #: float32[N], mean in [-1, 1], from the viewpoint of the player to move
    decided: np.ndarray  #: float32[N], mean share of the outcomes that is no draw
    root_values: np.ndarray  #: float32[N], mean


def merge_rows(
    states: np.ndarray,
    action_weights: np.ndarray,
    outcomes: np.ndarray,
    decided: np.ndarray,
    root_values: np.ndarray,
) -> MergedRows:
    """Merge M rows (states [M, K], targets as in `alphazero.replay.buffer.Batch`)."""
    keys = (
        np.ascontiguousarray(states)
        .view(np.dtype((np.void, states.shape[1] * states.itemsize)))
        .ravel()
    )
    _, position_of, counts = np.unique(keys, return_inverse=True, return_counts=True)

    def mean(column: np.ndarray) -> np.ndarray:
        return (np.bincount(position_of, column, len(counts)) / counts).astype(np.float32)

    weights = np.stack([mean(column) for column in action_weights.T], axis=1)
    return MergedRows(position_of, weights, mean(outcomes), mean(decided), mean(root_values))
