"""Symmetries of a board as permutation tables, for `rules.symmetries`.

Symmetry s moves the content of index table[s, i] to index i; symmetry 0 is the identity.
"""

import numpy as np


def identity_tables(rows: int, columns: int, num_actions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the tables of a game without symmetries.

    Returns:
        cells: int32[1, rows * columns]; actions: int32[1, num_actions].
    """
    cells = np.arange(rows * columns, dtype=np.int32)
    actions = np.arange(num_actions, dtype=np.int32)
    return cells[None], actions[None]


def mirror_tables(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the identity and the left-right mirror of a board whose actions are its columns.

    Returns:
        cells: int32[2, rows * columns]; actions: int32[2, columns].
    """
    board = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    actions = np.arange(columns, dtype=np.int32)
    cells = np.stack([board.ravel(), board[:, ::-1].ravel()])
    return cells, np.stack([actions, actions[::-1]])


def square_tables(side: int, has_pass: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the 8 rotations and mirrors of a square board, whose actions are its cells.

    Args:
        has_pass: True if a pass follows the cells; no symmetry moves it.

    Returns:
        cells: int32[8, side**2]; actions: int32[8, side**2 (+ 1)].
    """
    board = np.arange(side * side, dtype=np.int32).reshape(side, side)
    images = []
    for num_quarters in range(4):
        turned = np.rot90(board, num_quarters)
        images += [turned.ravel(), turned[:, ::-1].ravel()]
    cells = np.stack(images)
    if not has_pass:
        return cells, cells.copy()
    actions = np.pad(cells, ((0, 0), (0, 1)), constant_values=side * side)
    return cells, actions
