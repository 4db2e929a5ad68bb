"""A network of line patterns as tables, which a kernel looks up without calling torch.

`alphazero.inference.engines.table_engine` computes the tables; the network is
`alphazero.network.patterns.PatternNetwork`.
"""

from typing import NamedTuple

import numpy as np

from alphazero.inference.tables import evaluate, expected_value, make_scratch
from alphazero.runtime.jit import njit


class LineTables(NamedTuple):
    """The tables of all L lines of a board, and the weights of the layers behind the U units.

    P is the number of actions plus the number of the value head's hidden units; V is the number of
    value logits.
    """

    cells: np.ndarray  #: int32[sum of n], the cells of each line, of n cells
    lengths: np.ndarray  #: int32[L], n
    first_states: np.ndarray  #: int64[L], row of `contributions` of the line's state 0
    contributions: np.ndarray  #: int16[sum of 3^n, U]
    start: np.ndarray  #: int16[U], to which the contributions are added
    weights: np.ndarray  #: float32[U, P], scaled to the integers of the tables
    bias: np.ndarray  #: float32[P]
    value_weights: np.ndarray  #: float32[P - A, V]
    value_bias: np.ndarray  #: float32[V]


class Scratch(NamedTuple):
    """The memory that `evaluate` works in."""

    pieces: np.ndarray  #: int64[H * W]
    sums: np.ndarray  #: int16[U]
    active: np.ndarray  #: int32[U + 1]
    outputs: np.ndarray  #: float32[P]
    value_logits: np.ndarray  #: float64[V]


@make_scratch.register
def _(tables: LineTables, height: int, width: int) -> Scratch:
    num_units, num_outputs = tables.weights.shape
    return Scratch(
        np.empty(height * width, np.int64),
        np.empty(num_units, np.int16),
        np.empty(num_units + 1, np.int32),
        np.empty(num_outputs, np.float32),
        np.empty(len(tables.value_bias), np.float64),
    )


@evaluate.register(LineTables)
def _(tables, planes, scratch, out_logits):
    _add_lines(tables, planes, scratch.pieces, scratch.sums)
    # Most units are off. Their list is made without a branch, which would often be mispredicted.
    num_active = 0
    for unit in range(len(scratch.sums)):
        scratch.active[num_active] = unit
        num_active += scratch.sums[unit] > 0
    outputs = scratch.outputs
    for output in range(len(outputs)):
        outputs[output] = tables.bias[output]
    for index in range(num_active):
        unit = scratch.active[index]
        activation = np.float32(scratch.sums[unit])
        for output in range(len(outputs)):
            outputs[output] += activation * tables.weights[unit, output]
    num_actions = len(out_logits)
    for action in range(num_actions):
        out_logits[action] = outputs[action]
    logits = scratch.value_logits
    for index in range(len(logits)):
        logits[index] = tables.value_bias[index]
    for hidden in range(len(tables.value_weights)):
        activation = max(outputs[num_actions + hidden], np.float32(0.0))
        for index in range(len(logits)):
            logits[index] += activation * tables.value_weights[hidden, index]
    return expected_value(logits)


@njit
def _add_lines(tables, planes, pieces, out_sums):
    """Write the sums over all lines, before the units' ReLU."""
    width = planes.shape[2]
    for cell in range(len(pieces)):
        row, column = cell // width, cell % width
        if planes[0, row, column] != 0:
            pieces[cell] = 1
        else:
            pieces[cell] = 2 if planes[1, row, column] != 0 else 0
    for unit in range(len(out_sums)):
        out_sums[unit] = tables.start[unit]
    first = 0
    for line in range(len(tables.lengths)):
        end = first + tables.lengths[line]
        state, digit = tables.first_states[line], 1
        for place in range(first, end):
            state += pieces[tables.cells[place]] * digit
            digit *= 3
        first = end
        added = tables.contributions[state]
        for unit in range(len(out_sums)):
            out_sums[unit] += added[unit]
