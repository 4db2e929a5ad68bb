"""Pad batches with rows of zeros to a few sizes, for the torch engines."""

import numpy as np


def padded_size(num_rows: int) -> int:
    """Return the padded size of a batch: up to 16 rows, the next power of two.

    Above 16, it is the next multiple of an eighth of that power, or of 8 if that is more. torch
    needs separate kernels, or a CUDA graph, for every size. (OpenVINO needs no padding: a change of
    size costs 0.1 ms.)
    """
    next_power = 1 << (num_rows - 1).bit_length()
    if num_rows <= 16:
        return next_power
    step = max(next_power // 8, 8)
    return -(-num_rows // step) * step


def padded(planes: np.ndarray, num_rows: int) -> np.ndarray:
    """Append zeros to ``planes`` (float32[B, C, H, W]) up to ``num_rows`` rows."""
    if num_rows == len(planes):
        return planes
    zeros = np.zeros((num_rows - len(planes), *planes.shape[1:]), np.float32)
    return np.concatenate([planes, zeros])
