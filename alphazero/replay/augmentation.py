"""Augmentation: transform each sample of a batch by its own symmetry, in one pass over memory.

It needs only a game's symmetry tables, so it also works for games whose rules are not compiled.
"""

import numpy as np

from alphazero.runtime.jit import njit


def apply_symmetries(
    symmetries: np.ndarray,
    game,
    planes: np.ndarray,
    action_weights: np.ndarray,
    legal_action_mask: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Transform each position's planes, action weights and mask by that position's symmetry.

    Args:
        symmetries: int64[M], the index of each position's symmetry, in [0, S).
        game: a batched game; only ``cell_symmetries`` and ``action_symmetries`` are read.
        planes: float32[M, C, H, W].
        action_weights: float32[M, A].
        legal_action_mask: bool[M, A].
    """
    new_planes = np.empty(planes.shape, planes.dtype)
    new_weights = np.empty(action_weights.shape, action_weights.dtype)
    new_mask = np.empty(legal_action_mask.shape, legal_action_mask.dtype)
    flat = (*planes.shape[:2], -1)
    _apply(
        symmetries,
        game.cell_symmetries,
        game.action_symmetries,
        (planes.reshape(flat), action_weights, legal_action_mask),
        (new_planes.reshape(flat), new_weights, new_mask),
    )
    return new_planes, new_weights, new_mask


def distinct_symmetries(planes: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Find, for each position, the symmetries that give an image unlike those before it.

    Args:
        planes: float32[M, C, H, W].
        table: int32[S, H*W], a game's ``cell_symmetries``.

    Returns:
        bool[M, S], True where the image is new, as for the identity, which comes first.
    """
    images = planes.reshape(*planes.shape[:2], -1)[:, :, table]  # [M, C, S, H*W]
    is_distinct = np.ones((len(planes), len(table)), np.bool_)
    for symmetry in range(1, len(table)):
        is_equal = images[:, :, :symmetry] == images[:, :, symmetry : symmetry + 1]
        equals_earlier = is_equal.all(axis=(1, 3))  # [M, symmetry]
        is_distinct[:, symmetry] = ~equals_earlier.any(axis=1)
    return is_distinct


@njit
def _apply(symmetries, cells, actions, inputs, outputs):
    """Transform ``inputs`` into ``outputs``: planes [M, C, H*W], weights [M, A], mask [M, A]."""
    planes, weights, mask = inputs
    new_planes, new_weights, new_mask = outputs
    for row in range(planes.shape[0]):
        symmetry = symmetries[row]
        for plane in range(planes.shape[1]):
            for cell in range(planes.shape[2]):
                new_planes[row, plane, cell] = planes[row, plane, cells[symmetry, cell]]
        for action in range(weights.shape[1]):
            new_weights[row, action] = weights[row, actions[symmetry, action]]
            new_mask[row, action] = mask[row, actions[symmetry, action]]
