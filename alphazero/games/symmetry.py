"""Make the permutation tables of board symmetries that games return from `rules.symmetries`.

In each table, symmetry s moves the content of index table[s, i] to index i; symmetry 0 is the
identity.
"""

import numpy as np


def identity_tables(rows: int, columns: int, num_actions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the symmetry tables of a game without symmetries, which hold only the identity.

    Returns:
        cells: int32[1, rows * columns]; actions: int32[1, num_actions].
    """
    cells = np.arange(rows * columns, dtype=np.int32)
    actions = np.arange(num_actions, dtype=np.int32)
    return cells[None], actions[None]


def mirror_tables(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the symmetry tables of a left-right symmetric board whose actions are its columns.

    Symmetry 0 is the identity and symmetry 1 the mirror image.

    Returns:
        cells: int32[2, rows * columns]; actions: int32[2, columns].
    """
    board = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    actions = np.arange(columns, dtype=np.int32)
    cells = np.stack([board.ravel(), board[:, ::-1].ravel()])
    return cells, np.stack([actions, actions[::-1]])


def rectangle_tables(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the symmetry tables of a board, each of whose actions fills the cell of its number.

    A square has 8 symmetries, another rectangle 4: half turns and reflections.

    Returns:
        cells and actions: int32[S, rows * columns], with equal entries.
    """
    if rows == columns:
        return square_tables(rows)
    board = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    images = [board, board[:, ::-1], board[::-1], board[::-1, ::-1]]
    cells = np.stack([image.ravel() for image in images])
    return cells, cells.copy()


def square_tables(side: int, has_pass: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the symmetry tables of a square board, with its 8 rotations and reflections.

    Each action fills the cell of the same number; a pass may follow as the last action.

    Args:
        side: the number of rows, equal to that of columns.
        has_pass: True if there is a pass, which every symmetry maps to itself.

    Returns:
        cells: int32[8, side**2]; actions: int32[8, side**2], or side**2 + 1 columns with a pass.
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
