"""A network of windows as tables and small layers, which a kernel evaluates without calling torch.

`alphazero.inference.engines.table_engine` computes the tables; the network is
`alphazero.network.windows.WindowNetwork`.
"""

from typing import NamedTuple

import numpy as np

from alphazero.inference.tables import evaluate, expected_value, make_scratch
from alphazero.network.window_states import CHANNELS, POLICY_UNITS, RADIUS, VALUE_UNITS
from alphazero.runtime.jit import njit
from alphazero.runtime.simd import add, as_float32, larger, load, multiply_add, spread, store, total

_TOGETHER = 4  # number of cells whose policy is computed at once; even
AT_ONCE = 16  #: number of cells whose states are found at once


class WindowTables(NamedTuple):
    """The features of all windows, and the weights of the layers after them, for one board size.

    Arrays whose shapes are in parentheses are flattened. G groups of directions, R regions, V value
    logits. P is H * (W + RADIUS), the board with RADIUS empty columns on its right, rounded up to a
    multiple of AT_ONCE.
    """

    features: np.ndarray  #: int16(G * num_states(RADIUS), CHANNELS)
    scale: np.ndarray  #: float32[CHANNELS], the value of 1 in `features` and `start`
    start: np.ndarray  #: int16(H * W, CHANNELS), what the features are added to
    #: int32[4, H * (W + RADIUS)], by direction, the row of the first state of a cell's window
    first_rows: np.ndarray
    #: int16[4, P], the inverse modulo 2^16 of 3^n if n cells before its middle are missing
    inverses: np.ndarray
    depthwise: np.ndarray  #: float32(9, CHANNELS)
    pointwise: np.ndarray  #: float32(CHANNELS, CHANNELS), inputs x outputs
    pointwise_bias: np.ndarray  #: float32[CHANNELS]
    policy_hidden: np.ndarray  #: float32(CHANNELS, POLICY_UNITS)
    policy_global: np.ndarray  #: float32(2 * CHANNELS, POLICY_UNITS)
    policy_hidden_bias: np.ndarray  #: float32[POLICY_UNITS]
    policy: np.ndarray  #: float32[POLICY_UNITS]
    policy_bias: np.float32
    has_pass: bool  #: whether the last action is a pass
    pass_weights: np.ndarray  #: float32[2 * CHANNELS]
    pass_bias: np.float32
    drops: bool  #: whether actions are columns
    regions: np.ndarray  #: int32[R, 4], first row, end row, first column, end column
    value_hidden: np.ndarray  #: float32((2 + R) * CHANNELS, VALUE_UNITS)
    value_hidden_bias: np.ndarray  #: float32[VALUE_UNITS]
    value: np.ndarray  #: float32(V, VALUE_UNITS)
    value_bias: np.ndarray  #: float32[V]


class WindowScratch(NamedTuple):
    """The working memory of `evaluate`."""

    pieces: np.ndarray  #: int16, the board with RADIUS empty cells around it
    states: np.ndarray  #: int16[4, P], states within their kinds, to be read as uint16
    cells: np.ndarray  #: float32(H + 2, W + 2, CHANNELS) and one more cell; 0 at the border
    mixed: np.ndarray  #: float32(2, CHANNELS), two cells after the depthwise convolution
    outputs: np.ndarray  #: float32(H + 2, W + 2, CHANNELS) and _TOGETHER more cells
    inputs: np.ndarray  #: float32[(2 + R) * CHANNELS], the inputs of the value head
    logits: np.ndarray  #: float32[W + _TOGETHER], policy logits of one row of the board
    value_logits: np.ndarray  #: float32[V]


@make_scratch.register
def _(tables: WindowTables, height: int, width: int) -> WindowScratch:
    num_places = tables.inverses.shape[1]
    padded = (height + 2) * (width + 2) * CHANNELS
    return WindowScratch(
        np.zeros(num_places + 2 * RADIUS * (width + RADIUS + 1), np.int16),
        np.zeros((4, num_places), np.int16),
        np.zeros(padded + CHANNELS, np.float32),
        np.zeros(2 * CHANNELS, np.float32),
        np.zeros(padded + _TOGETHER * CHANNELS, np.float32),
        np.zeros(len(tables.value_hidden) // VALUE_UNITS, np.float32),
        np.zeros(width + _TOGETHER, np.float32),
        np.zeros(len(tables.value_bias), np.float32),
    )


@evaluate.register(WindowTables)
def _(tables, planes, scratch, out_logits):
    _, height, width = planes.shape
    _find_states(tables, planes, scratch)
    _add_features(tables, height, width, scratch)
    _convolve(tables, height, width, scratch)
    _pool(tables, height, width, scratch)
    _write_policy(tables, height, width, scratch, out_logits)
    return _value(tables, scratch)


@njit
def _find_states(tables, planes, scratch):
    """Find the state of each cell's window in each direction."""
    _, height, width = planes.shape
    pitch = width + RADIUS
    first = RADIUS * pitch + RADIUS
    pieces, states = scratch.pieces, scratch.states
    for row in range(height):
        for column in range(width):
            piece = 1 if planes[0, row, column] > 0 else 2 * (planes[1, row, column] > 0)
            pieces[first + row * pitch + column] = piece
    zero, three = spread(np.int16(0), AT_ONCE), spread(np.int16(3), AT_ONCE)
    steps = (1, pitch, pitch + 1, pitch - 1)
    for direction in range(4):
        for place in range(0, states.shape[1], AT_ONCE):
            number = zero
            for distance in range(RADIUS, -RADIUS - 1, -1):
                seen = load(pieces, first + place + distance * steps[direction], AT_ONCE)
                number = multiply_add(number, three, seen)
            # 3^n divides the number if n cells before the middle are missing; store the quotient.
            inverses = load(tables.inverses[direction], place, AT_ONCE)
            store(multiply_add(number, inverses, zero), states[direction], place)


@njit
def _add_features(tables, height, width, scratch):
    """Add up the features of each cell's four windows."""
    states, first_rows, features = scratch.states, tables.first_rows, tables.features
    scale = load(tables.scale, 0, CHANNELS)
    zero = spread(np.float32(0), CHANNELS)
    cell = 0
    for row in range(height):
        to = ((row + 1) * (width + 2) + 1) * CHANNELS
        for column in range(width):
            place = row * (width + RADIUS) + column
            sums = load(tables.start, cell, CHANNELS)
            for direction in range(4):
                state = np.int64(np.uint16(states[direction, place]))
                table_row = first_rows[direction, place] + state
                sums = add(sums, load(features, table_row * CHANNELS, CHANNELS))
            active = larger(as_float32(sums), zero)
            store(multiply_add(active, scale, zero), scratch.cells, to)
            cell += CHANNELS
            to += CHANNELS


@njit
def _convolve(tables, height, width, scratch):
    """Apply the depthwise and the pointwise convolution, and add their input.

    Two cells are computed at once, to keep both of a processor's multiplication units busy. If the
    width is odd, the last cell of each row is computed with one beyond the border.
    """
    cells, mixed, outputs = scratch.cells, scratch.mixed, scratch.outputs
    pitch = (width + 2) * CHANNELS
    zero = spread(np.float32(0), CHANNELS)
    bias = load(tables.pointwise_bias, 0, CHANNELS)
    for row in range(height):
        for column in range(0, width, 2):
            around = row * pitch + column * CHANNELS
            here = around + pitch + CHANNELS
            left, right = zero, zero
            for place in range(9):
                kernel = load(tables.depthwise, place * CHANNELS, CHANNELS)
                at = around + place // 3 * pitch + place % 3 * CHANNELS
                left = multiply_add(load(cells, at, CHANNELS), kernel, left)
                right = multiply_add(load(cells, at + CHANNELS, CHANNELS), kernel, right)
            store(left, mixed, 0)
            store(right, mixed, CHANNELS)
            left, right = bias, bias
            for channel in range(CHANNELS):
                weights = load(tables.pointwise, channel * CHANNELS, CHANNELS)
                left = multiply_add(spread(mixed[channel], CHANNELS), weights, left)
                second = spread(mixed[CHANNELS + channel], CHANNELS)
                right = multiply_add(second, weights, right)
            left = add(left, load(cells, here, CHANNELS))
            right = add(right, load(cells, here + CHANNELS, CHANNELS))
            store(larger(left, zero), outputs, here)
            store(larger(right, zero), outputs, here + CHANNELS)


@njit
def _pool(tables, height, width, scratch):
    """Write the mean and the maximum over the board, and the means over its regions."""
    outputs, inputs, regions = scratch.outputs, scratch.inputs, tables.regions
    zero = spread(np.float32(0), CHANNELS)
    whole, most = zero, zero
    for region in range(len(regions)):
        num_rows = regions[region, 1] - regions[region, 0]
        num_columns = regions[region, 3] - regions[region, 2]
        at = ((regions[region, 0] + 1) * (width + 2) + regions[region, 2] + 1) * CHANNELS
        sums = zero
        for _ in range(num_rows):
            for column in range(num_columns):
                values = load(outputs, at + column * CHANNELS, CHANNELS)
                sums = add(sums, values)
                most = larger(most, values)
            at += (width + 2) * CHANNELS
        whole = add(whole, sums)
        share = spread(np.float32(1) / np.float32(max(num_rows * num_columns, 1)), CHANNELS)
        store(multiply_add(sums, share, zero), inputs, (2 + region) * CHANNELS)
    share = spread(np.float32(1 / (height * width)), CHANNELS)
    store(multiply_add(whole, share, zero), inputs, 0)
    store(most, inputs, CHANNELS)


@njit
def _write_policy(tables, height, width, scratch, out_logits):
    outputs, inputs, logits = scratch.outputs, scratch.inputs, scratch.logits
    zero = spread(np.float32(0), POLICY_UNITS)
    bias = load(tables.policy_hidden_bias, 0, POLICY_UNITS)
    for index in range(2 * CHANNELS):
        weights = load(tables.policy_global, index * POLICY_UNITS, POLICY_UNITS)
        bias = multiply_add(spread(inputs[index], POLICY_UNITS), weights, bias)
    policy = load(tables.policy, 0, POLICY_UNITS)
    if tables.drops:
        out_logits[:] = 0
    for row in range(height):
        first = ((row + 1) * (width + 2) + 1) * CHANNELS
        for column in range(0, width, _TOGETHER):  # the last cells may lie beyond the border
            at = first + column * CHANNELS
            a, b, c, d = bias, bias, bias, bias
            for channel in range(CHANNELS):
                weights = load(tables.policy_hidden, channel * POLICY_UNITS, POLICY_UNITS)
                here = at + channel
                a = multiply_add(spread(outputs[here], POLICY_UNITS), weights, a)
                here += CHANNELS
                b = multiply_add(spread(outputs[here], POLICY_UNITS), weights, b)
                here += CHANNELS
                c = multiply_add(spread(outputs[here], POLICY_UNITS), weights, c)
                here += CHANNELS
                d = multiply_add(spread(outputs[here], POLICY_UNITS), weights, d)
            logits[column] = total(multiply_add(larger(a, zero), policy, zero))
            logits[column + 1] = total(multiply_add(larger(b, zero), policy, zero))
            logits[column + 2] = total(multiply_add(larger(c, zero), policy, zero))
            logits[column + 3] = total(multiply_add(larger(d, zero), policy, zero))
        for column in range(width):
            if tables.drops:
                out_logits[column] += logits[column] + tables.policy_bias
            else:
                out_logits[row * width + column] = logits[column] + tables.policy_bias
    if tables.has_pass:
        logit = tables.pass_bias
        for index in range(2 * CHANNELS):
            logit += inputs[index] * tables.pass_weights[index]
        out_logits[height * width] = logit


@njit
def _value(tables, scratch):
    inputs, logits = scratch.inputs, scratch.value_logits
    zero = spread(np.float32(0), VALUE_UNITS)
    even, odd = load(tables.value_hidden_bias, 0, VALUE_UNITS), zero
    for index in range(0, len(inputs), 2):
        at = index * VALUE_UNITS
        weights = load(tables.value_hidden, at, VALUE_UNITS)
        even = multiply_add(spread(inputs[index], VALUE_UNITS), weights, even)
        weights = load(tables.value_hidden, at + VALUE_UNITS, VALUE_UNITS)
        odd = multiply_add(spread(inputs[index + 1], VALUE_UNITS), weights, odd)
    units = larger(add(even, odd), zero)
    for index in range(len(logits)):
        weights = load(tables.value, index * VALUE_UNITS, VALUE_UNITS)
        logits[index] = tables.value_bias[index] + total(multiply_add(units, weights, zero))
    return expected_value(logits)
