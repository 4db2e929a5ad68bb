"""The engine for networks of windows and of line patterns, which looks up features in tables.

A kernel adds up table entries and computes the small layers after them
(`alphazero.inference.window_tables`, `alphazero.inference.line_tables`). A search may also do this
in its own kernel (`alphazero.inference.table_search`).
"""

import copy
from typing import Any

import numpy as np
import torch

from alphazero.inference.engines.registry import EngineChoice
from alphazero.inference.evaluator import Engine
from alphazero.inference.line_tables import LineTables
from alphazero.inference.tables import evaluate, make_scratch
from alphazero.inference.window_tables import AT_ONCE, WindowTables
from alphazero.network.line_mapping import scale_and_offset
from alphazero.network.patterns import PatternNetwork
from alphazero.network.window_states import (
    CHANNELS,
    POLICY_UNITS,
    RADIUS,
    STEPS,
    VALUE_UNITS,
    missing_cells,
    regions,
)
from alphazero.network.windows import WindowNetwork
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.jit import njit

_LARGEST = 32_000  # limit of the int16 sums over all directions or lines


def make(choice: EngineChoice, device: torch.device, num_threads: int) -> Engine:
    """Make a `TableEngine`; see `engines.registry.make_engine` for the arguments.

    Raises:
        ConfigError: if the precision is not float32.
    """
    if choice.precision != "float32":
        raise ConfigError.of(
            "precision", choice.precision, ["float32"], "engine=table has no other"
        )
    return TableEngine()


def precisions(device: torch.device) -> list[str]:
    """Return ["float32"] for any device: the tables are always on the CPU and hold integers."""
    return ["float32"]


class TableEngine(Engine):
    """Evaluates a network in the form of tables; see `alphazero.inference.evaluator.Engine`.

    The planes of pieces must contain only 0 and 1.
    """

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Compute the network's tables; see `Engine.load`.

        Args:
            network: a `WindowNetwork` or a `PatternNetwork`.
            planes: positions of the game, of which only the board's size is used.

        Raises:
            ConfigError: if the network is of another class.
        """
        if not isinstance(network, (WindowNetwork, PatternNetwork)):
            raise ConfigError.of(
                "engine", "table", ["auto"], "it needs network=windows or patterns"
            )
        network = copy.deepcopy(network).cpu()
        height, width = planes.shape[2:]
        if isinstance(network, WindowNetwork):
            tables: Any = window_tables(network, height, width)
            largest = _largest_result(tables, height)
            has_pass = network.pass_logit is not None
            self._num_actions = width if network.drops else height * width + has_pass
        else:
            tables = joined(network)
            largest = max(np.abs(tables.bias) + _LARGEST * np.abs(tables.weights).sum(axis=0))
            self._num_actions = network.num_actions
        if not largest < np.finfo(np.float32).max:  # also true for NaN
            raise OverflowError("its answers may be too large for float32")
        self.tables = tables

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions with the tables; see `Evaluator.evaluate`."""
        logits = np.empty((len(planes), self._num_actions), np.float32)
        values = np.empty(len(planes), np.float32)
        scratch = make_scratch(self.tables, *planes.shape[2:])
        _evaluate_rows(self.tables, planes, scratch, logits, values)
        return logits, values


@torch.inference_mode()
def window_tables(network: WindowNetwork, height: int, width: int) -> WindowTables:
    """Convert a network to the form that kernels read, for one size of board.

    The network must be in evaluation mode. Normalizations are merged into the layers before them.
    """
    scale, offset = scale_and_offset(network.norm)
    tables = (network.lines.tables() * scale).numpy()
    start = (network.place(height, width) * scale + offset).numpy()
    groups = list(network.sharing.directions)
    largest = np.abs(start).max(axis=0) + np.abs(tables).max(axis=1)[groups].sum(axis=0)
    unit = np.maximum(largest, 1e-6) / _LARGEST
    first_rows = np.zeros((4, height, width + RADIUS), np.int32)
    inverses = np.zeros((4, height, width + RADIUS), np.uint16)
    for direction, step in enumerate(STEPS):
        first_states, factors = missing_cells(height, width, step, RADIUS)
        first_rows[direction, :, :width] = first_states + groups[direction] * tables.shape[1]
        inverse = [pow(factor, -1, 2**16) for factor in factors.ravel().tolist()]
        inverses[direction, :, :width] = np.reshape(inverse, factors.shape)
    padding = -inverses[0].size % AT_ONCE
    middle_scale, middle_offset = scale_and_offset(network.middle_norm)
    passing = network.pass_logit or torch.nn.Linear(2 * CHANNELS, 1)  # unused without a pass
    return WindowTables(
        _flat(np.rint(tables / unit), np.int16),
        _flat(unit),
        _flat(np.rint(start / unit), np.int16),
        first_rows.reshape(4, -1),
        np.pad(inverses.reshape(4, -1), ((0, 0), (0, padding))).view(np.int16),
        _flat(network.depthwise.weight.reshape(CHANNELS, 9).T),
        _flat(network.pointwise.weight[:, :, 0, 0].T * middle_scale),
        _flat(middle_offset),
        _flat(network.policy_hidden.weight.T),
        _flat(network.policy_global.weight.T),
        _flat(network.policy_hidden.bias),
        _flat(network.policy.weight),
        np.float32(network.policy.bias.item()),
        network.pass_logit is not None,
        _flat(passing.weight),
        np.float32(passing.bias.item()),
        network.drops,
        regions(height, width),
        _flat(network.value_hidden.weight.T),
        _flat(network.value_hidden.bias),
        _flat(network.value.weight),
        _flat(network.value.bias),
    )


def _flat(array: np.ndarray | torch.Tensor, dtype: type = np.float32) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(array), dtype).ravel().copy()


def _largest_result(tables: WindowTables, height: int) -> float:
    """Return an upper bound on the absolute outputs of all layers, computed from the weights."""

    def layer(inputs: float, weights: np.ndarray, num_inputs: int, bias: Any) -> float:
        sums = np.abs(weights.reshape(num_inputs, -1)).sum(axis=0, dtype=np.float64)
        return inputs * sums.max(initial=0) + float(np.abs(bias).max(initial=0))

    none = np.zeros(1, np.float32)
    features = _LARGEST * float(tables.scale.max())
    mixed = layer(features, tables.depthwise, 9, none)
    cells = features + layer(mixed, tables.pointwise, CHANNELS, tables.pointwise_bias)
    of_policy = np.concatenate([tables.policy_hidden, tables.policy_global])
    policy_units = layer(cells, of_policy, 3 * CHANNELS, tables.policy_hidden_bias)
    policy = height * layer(policy_units, tables.policy, POLICY_UNITS, tables.policy_bias)
    passing = layer(cells, tables.pass_weights, 2 * CHANNELS, tables.pass_bias)
    num_inputs = len(tables.value_hidden) // VALUE_UNITS
    value_units = layer(cells, tables.value_hidden, num_inputs, tables.value_hidden_bias)
    of_value = tables.value.reshape(-1, VALUE_UNITS).T
    value = layer(value_units, of_value, VALUE_UNITS, tables.value_bias)
    return max(mixed, cells, policy_units, policy, passing, value_units, value)


def joined(network: PatternNetwork) -> LineTables:
    """Convert a network, which must be in evaluation mode, to the form that kernels read."""
    cells, rows = map(list, zip(*network.line_tables()))
    contributions, start, scale = rounded(rows)
    layers = network.policy, network.value_hidden
    weights = np.concatenate([layer.weight.detach().numpy().T for layer in layers], axis=1)
    lengths = [len(line) for line in cells]
    return LineTables(
        np.concatenate(cells).astype(np.int32),
        np.array(lengths, np.int32),
        np.cumsum([0] + [3**length for length in lengths[:-1]]),
        contributions,
        start,
        np.ascontiguousarray(weights * scale[:, None], np.float32),
        np.concatenate([layer.bias.detach().numpy() for layer in layers]),
        np.ascontiguousarray(network.value.weight.detach().numpy().T),
        network.value.bias.detach().numpy().copy(),
    )


def rounded(rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Convert the contributions of all tables to integers whose largest sums are about 32,000.

    Args:
        rows: the contributions of each table, float32[3^n, U]; the list is emptied to free
            its memory, which is twice that of the result.

    Returns:
        The contributions, int16[sum of 3^n, U]; the initial sums that they are added to, int16[U];
        and the factors that turn these integers back into the original scale, float32[U].
    """
    highest = np.array([table.max(axis=0) for table in rows])  # [L, U]
    lowest = np.array([table.min(axis=0) for table in rows])
    # Centered contributions need less than half the range, so they are rounded more finely.
    centers = (highest + lowest) / 2
    start = centers.sum(axis=0)
    largest = np.abs(start) + (highest - centers).sum(axis=0)
    scale = np.maximum(largest, 1e-6) / _LARGEST
    contributions = []
    for center in centers:
        units = (rows.pop(0) - center) / scale
        contributions.append(np.rint(units).astype(np.int16))
    return np.concatenate(contributions), np.rint(start / scale).astype(np.int16), scale


@njit
def _evaluate_rows(tables, planes, scratch, out_logits, out_values):
    for row in range(planes.shape[0]):
        out_values[row] = evaluate(tables, planes[row], scratch, out_logits[row])
