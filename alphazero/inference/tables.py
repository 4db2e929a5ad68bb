"""The interface of networks in the form of tables, which search kernels evaluate without torch.

`alphazero.inference.line_tables` and `alphazero.inference.window_tables` implement it. Like the
rules of games, `evaluate` and `make_scratch` dispatch on the class of their first argument, in
Python and in compiled code.
"""

import functools
import math

import numpy as np

from alphazero.runtime.jit import njit, overload_by_class


@functools.singledispatch
def evaluate(tables, planes, scratch, out_logits):
    """Evaluate one position; return the value for the player to move.

    Args:
        tables: the network.
        planes: float32[2 or more, H, W]; the planes of pieces contain 0 and 1 only.
        scratch: from `make_scratch`.
        out_logits: float32[A], output: the policy logits.
    """
    raise NotImplementedError


overload_by_class(evaluate)


@functools.singledispatch
def make_scratch(tables, height: int, width: int):
    """Allocate the working memory of `evaluate` for one thread and a board of this size."""
    raise NotImplementedError


@njit
def expected_value(logits):
    """Convert the logits of a value head to a value in [-1, 1].

    Args:
        logits: float[V]: those of win, draw and loss, or a single one, whose tanh is the value.
    """
    if len(logits) == 1:
        return np.float32(math.tanh(logits[0]))
    largest = max(logits[0], logits[1], logits[2])
    win, draw, loss = (
        math.exp(logits[0] - largest),
        math.exp(logits[1] - largest),
        math.exp(logits[2] - largest),
    )
    return np.float32((win - loss) / (win + draw + loss))
