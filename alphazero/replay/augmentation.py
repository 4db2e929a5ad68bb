"""Rows of a batch, each shown under a symmetry of its own, in one pass over memory.

In: planes, action weights and masks of M positions, a game's tables of symmetries, and which of them each row is shown under. Out: new arrays.
Knows neither games nor the replay: it reads tables, and works the same for rules that are not compiled.
"""

import numpy as np

from alphazero.runtime.jit import njit


def under_symmetries(
    chosen: np.ndarray,
    game,
    planes: np.ndarray,
    action_weights: np.ndarray,
    legal_action_mask: np.ndarray,
):
    """Return planes, action weights and mask as the symmetry ``chosen[row]`` of the game shows each row.

    Args:
        chosen: int64[M], each in [0, S).
        game: a batched game; only its tables ``cell_symmetries`` and ``action_symmetries`` are read.
        planes: float32[M, C, H, W].
        action_weights: float32[M, A].
        legal_action_mask: bool[M, A].
    """
    shown = tuple(
        np.empty(rows.shape, rows.dtype) for rows in (planes, action_weights, legal_action_mask)
    )
    flat = (*planes.shape[:2], -1)
    _permute(
        chosen,
        game.cell_symmetries,
        game.action_symmetries,
        (planes.reshape(flat), action_weights, legal_action_mask),
        (shown[0].reshape(flat), *shown[1:]),
    )
    return shown


def permuted(chosen: np.ndarray, table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return rows as the symmetry ``chosen[row]`` shows each.

    Args:
        chosen: int64[M], each in [0, S).
        table: int32[S, N], a game's ``cell_symmetries`` or ``action_symmetries``.
        rows: [M, N], a number for each cell or action.
    """
    shown = np.empty(rows.shape, rows.dtype)
    _permute_one(chosen, table, rows, shown)
    return shown


@njit
def _permute_one(chosen, table, rows, shown):
    for row in range(rows.shape[0]):
        for index in range(rows.shape[1]):
            shown[row, index] = rows[row, table[chosen[row], index]]


@njit
def _permute(chosen, cells, actions, rows, shown):
    """Write ``rows`` (planes float32[M, C, H*W], weights float32[M, A], mask bool[M, A]) into ``shown``, arrays of the same shapes."""
    planes, weights, mask = rows
    shown_planes, shown_weights, shown_mask = shown
    for row in range(planes.shape[0]):
        symmetry = chosen[row]
        for plane in range(planes.shape[1]):
            for cell in range(planes.shape[2]):
                shown_planes[row, plane, cell] = planes[row, plane, cells[symmetry, cell]]
        for action in range(weights.shape[1]):
            shown_weights[row, action] = weights[row, actions[symmetry, action]]
            shown_mask[row, action] = mask[row, actions[symmetry, action]]
