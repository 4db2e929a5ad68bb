"""Sums of rows of a matrix in torch, as `embedding_bag` computes them, with a faster gradient.

On a CPU, torch sorts all indices before it adds up the gradient of `embedding_bag`, which takes
most of the time of training with lookups. Here, a kernel adds it up in the given order.
"""

import numpy as np
import torch
from torch.nn import functional

from alphazero.runtime.jit import njit


class _RowSums(torch.autograd.Function):
    @staticmethod
    def forward(context, matrix, rows):
        context.save_for_backward(rows)
        context.num_rows = len(matrix)
        return functional.embedding_bag(rows, matrix, mode="sum")

    @staticmethod
    def backward(context, gradient):
        (rows,) = context.saved_tensors
        of_matrix = np.zeros((context.num_rows, gradient.shape[1]), np.float32)
        _add_to_rows(gradient.contiguous().numpy(), rows.numpy(), of_matrix)
        return torch.from_numpy(of_matrix), None


def row_sums(matrix: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Return sums of rows of a matrix, float32[N, C].

    Args:
        matrix: float32[R, C].
        rows: int[N, n], the indices of the rows in each sum.
    """
    if torch.compiler.is_exporting():  # ONNX has no `embedding_bag`
        return functional.embedding(rows, matrix).sum(1)
    if matrix.device.type == "cpu":
        return _RowSums.apply(matrix, rows)
    return functional.embedding_bag(rows, matrix, mode="sum")


@njit
def _add_to_rows(added, rows, out_matrix):
    for index in range(rows.shape[0]):
        for place in range(rows.shape[1]):
            row = rows[index, place]
            for column in range(added.shape[1]):
                out_matrix[row, column] += added[index, column]
