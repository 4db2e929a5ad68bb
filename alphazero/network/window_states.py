"""The numbers that describe what a cell sees: the states of its windows and its place on the board.

A *window* is the part of a line within `RADIUS` of a cell, in one of four directions. Windows that
miss the same cells, because these are beyond the border, are of one kind. Within a kind, a state is
a number in base 3 with a digit for each cell on the board, the first cell's being the least
significant: 0 for empty, 1 for a piece of the player to move, 2 for an opponent's. The states of
all kinds are numbered in one sequence.

`alphazero.network.windows` and `alphazero.inference.window_tables` use these numbers.
"""

from typing import NamedTuple

import numpy as np

#: Kinds of networks that are looked up in tables. They read two planes: own and opponent's pieces.
LOOKED_UP = ("windows", "patterns")
RADIUS = 4
CHANNELS = 32  #: features of a cell
POLICY_UNITS = 16  #: hidden units of the policy, for each cell
VALUE_UNITS = 32  #: hidden units of the value
#: Distances from an edge of the board that the network tells apart: 0, 1, 2, 3, and 4 or more.
NUM_DISTANCES = 5
#: Steps (rows, columns) to the next cell along a row, a column, a diagonal and an antidiagonal.
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


def first_states(radius: int) -> np.ndarray:
    """Return the number of the first state of each kind of window.

    Args:
        radius: number of cells of a window on either side of the one in the middle.

    Returns:
        int64[radius + 1, radius + 1]; entry [a, b] is for windows that miss a cells before the one
        in the middle, and b cells after it.
    """
    missing = np.add.outer(np.arange(radius + 1), np.arange(radius + 1))
    sizes = 3 ** (2 * radius + 1 - missing)
    return (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)


def num_states(radius: int) -> int:
    """Return the number of states of windows of all kinds."""
    return int(first_states(radius)[-1, -1]) + 3  # a window of the last kind is one cell


def inner_states(radius: int) -> np.ndarray:
    """Return, for each state of a window, the states of the three smaller windows within it.

    Returns:
        int64[num_states(radius), 3]: states of the windows of radius - 1 around the cell before the
        middle, around the middle, and around the cell after it. An entry is num_states(radius - 1)
        if that cell is beyond the border.
    """
    inner_firsts = first_states(radius - 1)
    found = []
    for before, after in np.ndindex(radius + 1, radius + 1):
        states = np.arange(3 ** (2 * radius + 1 - before - after))
        columns = []
        for shift in (-1, 0, 1):
            inner_before, inner_after = max(before - 1 - shift, 0), max(after - 1 + shift, 0)
            if max(inner_before, inner_after) == radius:
                columns.append(np.full_like(states, num_states(radius - 1)))
            else:
                skipped = states // 3 ** max(1 + shift - before, 0)
                digits = skipped % 3 ** (2 * radius - 1 - inner_before - inner_after)
                columns.append(inner_firsts[inner_before, inner_after] + digits)
        found.append(np.stack(columns, axis=1))
    return np.concatenate(found)


class MissingCells(NamedTuple):
    """Converts base-3 numbers of windows to states: first_states + number // factors.

    The numbers have a digit for each cell of the whole window; missing cells count as empty.
    """

    first_states: np.ndarray  #: int32[H, W], the first state of the kind of the cell's window
    factors: np.ndarray  #: int32[H, W], 3^n if n cells before the middle are missing


def missing_cells(height: int, width: int, step: tuple[int, int], radius: int) -> MissingCells:
    """Return the `MissingCells` of a board of this size, for windows in the direction ``step``."""
    row, column = np.indices((height, width))
    down, right = step
    far = np.full((height, width), radius)
    before, after = far, far
    if down:
        before, after = np.minimum(before, row), np.minimum(after, height - 1 - row)
    if right:
        left, rest = (column, width - 1 - column)[::right]
        before, after = np.minimum(before, left), np.minimum(after, rest)
    missing = radius - before, radius - after
    firsts = first_states(radius)[missing]
    return MissingCells(firsts.astype(np.int32), (3 ** missing[0]).astype(np.int32))


def suits(planes_shape: tuple[int, int, int], num_actions: int) -> bool:
    """Return whether the sizes of a game fit planes of two players' pieces and suitable actions.

    Such actions fill cells, with or without a pass as the last one, or drop pieces into columns.
    """
    num_planes, height, width = planes_shape
    cells = height * width
    return num_planes in (2, 3) and num_actions in (width, cells, cells + 1)


def has_seen(trained: tuple[int, int], board: tuple[int, int]) -> bool:
    """Return whether a network knows all windows of a board from the board it was trained on.

    Args:
        trained, board: rows and columns. Beyond nine, sizes make no difference to windows.
    """
    whole = 2 * RADIUS + 1
    return all(min(size, whole) <= known for known, size in zip(trained, board))


def are_pieces(planes: np.ndarray) -> bool:
    """Return whether planes 0 and 1 contain only 0 and 1, and no cell is 1 in both.

    Args:
        planes: float32[M, C, H, W].
    """
    own, opponent = planes[:, 0], planes[:, 1]
    return bool(np.isin(planes[:, :2], (0, 1)).all() and not (own * opponent).any())


def edge_distances(height: int, width: int) -> np.ndarray:
    """Return each cell's distances from the upper, lower, left and right edge, int64[4, H * W].

    Distances are capped at NUM_DISTANCES - 1.
    """
    row, column = (index.ravel() for index in np.indices((height, width)))
    distances = row, height - 1 - row, column, width - 1 - column
    return np.minimum(distances, NUM_DISTANCES - 1)


def regions(height: int, width: int) -> np.ndarray:
    """Return the nine regions of a board, int32[9, 4]: first row, end row, first and end column.

    Rows and columns are each divided in three: the outer parts are a third of the side, rounded,
    and the middle part is the rest. Regions may be empty.
    """
    spans = []
    for size in (height, width):
        third = round(size / 3)
        spans.append(((0, third), (third, size - third), (size - third, size)))
    return np.array([(*rows, *columns) for rows in spans[0] for columns in spans[1]], np.int32)
