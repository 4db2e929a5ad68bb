"""Stores policy targets sparsely: only the nonzero entries of each row take memory.

Rows are written and read as dense float32 arrays, by index as in a numpy array. Chess has 4,674
actions, about 30 of them legal in a position, so a row takes 0.3 kB instead of 18 kB.
"""

from typing import Any

import numpy as np


class SparseRows:
    """An array float32[..., A], initially all zeros, whose rows can be read and replaced.

    Args:
        shape: the shape of the leading axes, without A.
        num_columns: A, the length of a row.
    """

    def __init__(self, shape: tuple[int, ...], num_columns: int):
        self._num_columns = num_columns
        # The width W is the largest number of nonzero entries in a row so far.
        index_type = np.min_scalar_type(num_columns)
        self._columns = np.zeros((*shape, 0), index_type)  # [..., W]
        self._values = np.zeros((*shape, 0), np.float32)  # [..., W], 0 where there is no entry

    def __setitem__(self, indices: Any, rows: np.ndarray) -> None:
        """Replace the rows at ``indices`` by dense rows, [..., A]."""
        flat = rows.reshape(-1, self._num_columns)
        row, column = np.nonzero(flat)
        entry = np.arange(len(row)) - np.searchsorted(row, row)  # index within the row
        width = max(self._values.shape[-1], int(entry.max(initial=-1)) + 1)
        if width > self._values.shape[-1]:
            self._columns = lengthened(self._columns, width, axis=-1)
            self._values = lengthened(self._values, width, axis=-1)
        columns = np.zeros((len(flat), width), self._columns.dtype)
        values = np.zeros((len(flat), width), np.float32)
        columns[row, entry] = column
        values[row, entry] = flat[row, column]
        self._columns[indices] = columns.reshape(*rows.shape[:-1], width)
        self._values[indices] = values.reshape(*rows.shape[:-1], width)

    def __getitem__(self, indices: Any) -> np.ndarray:
        """Return a dense copy of the rows at ``indices``."""
        columns = self._columns[indices]
        values = self._values[indices]
        rows = np.zeros((*values.shape[:-1], self._num_columns), np.float32)
        entries = np.nonzero(values)
        rows[(*entries[:-1], columns[entries])] = values[entries]
        return rows

    def lengthened(self, length: int, axis: int = 0) -> "SparseRows":
        """Return a copy with one of the leading axes extended to ``length`` by rows of zeros."""
        longer = SparseRows((), self._num_columns)
        longer._columns = lengthened(self._columns, length, axis)
        longer._values = lengthened(self._values, length, axis)
        return longer


def lengthened(array: Any, length: int, axis: int = 0) -> Any:
    """Return a copy of an array or `SparseRows` with one axis extended to ``length`` by zeros."""
    if isinstance(array, SparseRows):
        return array.lengthened(length, axis)
    shape = list(array.shape)
    shape[axis] = length - shape[axis]
    return np.concatenate([array, np.zeros(shape, array.dtype)], axis=axis)
