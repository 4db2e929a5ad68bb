"""Batch sizes of the torch engines: few different ones, each with rows of zeros at the end."""

import numpy as np


def padded_size(num_rows: int) -> int:
    """Return the batch size to run: up to 16 the next power of two.

    Above 16, sizes are multiples of an eighth of the next power of two, but at least of 8. Every
    size costs torch a set of kernels, or a CUDA graph, of its own. (OpenVINO runs every size as it
    is: a change of the size costs it 0.1 ms.)
    """
    next_power = 1 << (num_rows - 1).bit_length()
    if num_rows <= 16:
        return next_power
    step = max(next_power // 8, 8)
    return -(-num_rows // step) * step


def padded(planes: np.ndarray, num_rows: int) -> np.ndarray:
    """Return ``planes`` (float32[B, C, H, W]) with zeros appended up to ``num_rows`` rows."""
    if num_rows == len(planes):
        return planes
    zeros = np.zeros((num_rows - len(planes), *planes.shape[1:]), np.float32)
    return np.concatenate([planes, zeros])
