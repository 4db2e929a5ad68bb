"""Transforms each sample of a batch by a symmetry of its own, in one pass over memory.

Only a game's symmetry tables are needed, so this also works for games whose rules are not compiled.
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
        symmetries: int64[M], the index of each position's symmetry among the game's S symmetries.
        game: an `alphazero.games.batched_game.Game`; only ``cell_symmetries`` and
            ``action_symmetries`` are read.
        planes: float32[M, C, H, W], the network's input.
        action_weights: float32[M, A], policy targets.
        legal_action_mask: bool[M, A], True for legal actions.

    Returns:
        New arrays: the transformed planes, action weights and mask.
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
    """Find, for each position, the symmetries whose images differ from all earlier ones.

    Args:
        planes: float32[M, C, H, W], the positions as network input.
        table: int32[S, H*W], a game's ``cell_symmetries``; the first is the identity.

    Returns:
        bool[M, S], True where the image is new; always True for the identity, the first symmetry.
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
    """Write the image of each row of ``inputs`` under that row's symmetry to ``outputs``.

    Args:
        symmetries: int64[M], the index of each row's symmetry.
        cells, actions: the game's symmetry tables, int32[S, H*W] and int32[S, A].
        inputs, outputs: tuples of the planes, float32[M, C, H*W], the action weights, float32[M,
            A], and the mask, bool[M, A].
    """
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
