"""The engine for networks of line patterns: it looks up what their convolutions would compute.

In: planes. Out: logits and values. A numba kernel adds up the entries of all lines
(`alphazero.network.patterns.PatternNetwork.line_tables`), and torch multiplies by the weights of
the last layer.
"""

import copy
from typing import NamedTuple

import numpy as np
import torch

from alphazero.inference.engines.engine import Engine, EngineChoice
from alphazero.network.interface import expected_value
from alphazero.network.patterns import LineTable, PatternNetwork
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.jit import njit

_LARGEST = 32_000  # of int16: what the sum of all lines stays below
_BATCH = 128  # positions at a time, so that their units stay in the processor's cache


class Tables(NamedTuple):
    """The tables of all L lines of a board, in one array."""

    cells: np.ndarray  #: int32[sum of n], the cells of each line
    lengths: np.ndarray  #: int32[L], n
    first_states: np.ndarray  #: int64[L], row of `contributions` of the line's state 0
    contributions: np.ndarray  #: int16[sum of 3^n, U]
    start: np.ndarray  #: int16[U], to which the contributions are added


def make(choice: EngineChoice, device: torch.device, num_threads: int) -> Engine:
    """Make a `TableEngine`; see `engines.registry.make_engine` for the arguments.

    Raises:
        ConfigError: if the device is not a CPU, or the precision is not float32.
    """
    if device.type != "cpu" or choice.precision != "float32":
        raise ConfigError.of("engine", "table", ["auto"], "it runs on a CPU, in float32")
    return TableEngine()


def precisions(device: torch.device) -> list[str]:
    """Return ["float32"] for a CPU, else []; the tables themselves are integers."""
    return ["float32"] if device.type == "cpu" else []


class TableEngine:
    """Evaluates a network of line patterns; see `alphazero.inference.engines.engine.Engine`.

    The planes of pieces must be 0 or 1.
    """

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Compute the network's tables; see `Engine.load`.

        Args:
            network: a `PatternNetwork`.
            planes: not used.

        Raises:
            ConfigError: if it is another network.
        """
        if not isinstance(network, PatternNetwork):
            raise ConfigError.of("engine", "table", ["auto"], "it needs network=patterns")
        self._num_actions = network.policy.out_features
        self._tables, scale = joined(network.line_tables())
        self._value = copy.deepcopy(network.value).requires_grad_(False)
        layers = network.policy, network.value_hidden
        weights = torch.cat([layer.weight.detach() for layer in layers]) * torch.from_numpy(scale)
        bias = torch.cat([layer.bias.detach() for layer in layers])
        # Multiplication is faster if the number of columns is a multiple of 16.
        padding = 0, -len(bias) % 16
        self._weights = torch.nn.functional.pad(weights.T, padding).contiguous()
        self._bias = torch.nn.functional.pad(bias, padding)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions with the tables; see `Evaluator.evaluate`."""
        num_units = len(self._weights)
        codes = np.empty(planes[0, 0].size, np.int64)
        sums = np.empty(num_units, np.int16)
        units = np.empty((min(len(planes), _BATCH), num_units), np.float32)
        outputs = torch.empty(len(planes), len(self._bias))
        with torch.inference_mode():
            for start in range(0, len(planes), _BATCH):
                batch = planes[start : start + _BATCH]
                look_up(self._tables, batch, codes, sums, units)
                rows = outputs[start : start + _BATCH]
                inputs = torch.from_numpy(units[: len(batch)])
                torch.addmm(self._bias, inputs, self._weights, out=rows)
            logits = outputs[:, : self._num_actions].contiguous()
            hidden = torch.relu(outputs[:, self._num_actions :][:, : self._value.in_features])
            values = expected_value(self._value(hidden))
        return logits.numpy(), values.numpy()


def joined(tables: list[LineTable]) -> tuple[Tables, np.ndarray]:
    """Return the tables in the form that `look_up` reads.

    Returns:
        The tables, and the values of one unit of their integers, float32[U].
    """
    highest = np.array([table.contributions.max(axis=0) for table in tables])  # [L, U]
    lowest = np.array([table.contributions.min(axis=0) for table in tables])
    # Centered contributions need less than half the range, and so are rounded more finely.
    centers = (highest + lowest) / 2
    start = centers.sum(axis=0)
    largest = np.abs(start) + (highest - centers).sum(axis=0)
    scale = np.maximum(largest, 1e-6) / _LARGEST
    rounded = [
        np.rint((table.contributions - center) / scale).astype(np.int16)
        for table, center in zip(tables, centers)
    ]
    arrays = Tables(
        np.concatenate([table.cells for table in tables]).astype(np.int32),
        np.array([len(table.cells) for table in tables], np.int32),
        np.cumsum([0] + [len(rows) for rows in rounded[:-1]]),
        np.concatenate(rounded),
        np.rint(start / scale).astype(np.int16),
    )
    return arrays, scale


@njit
def look_up(tables, planes, codes, sums, units):
    """Write the ReLU of the sums over all lines.

    Args:
        planes: float32[B, 2 or more, H, W].
        codes, sums: int64[H * W] and int16[U], scratch memory.
        units: float32[at least B, U], output, in the units of the tables.
    """
    width = planes.shape[3]
    for row in range(planes.shape[0]):
        for cell in range(len(codes)):
            y, x = cell // width, cell % width
            if planes[row, 0, y, x] != 0:
                codes[cell] = 1
            else:
                codes[cell] = 2 if planes[row, 1, y, x] != 0 else 0
        for unit in range(len(sums)):
            sums[unit] = tables.start[unit]
        first = 0
        for line in range(len(tables.lengths)):
            end = first + tables.lengths[line]
            state, digit = tables.first_states[line], 1
            for place in range(first, end):
                state += codes[tables.cells[place]] * digit
                digit *= 3
            first = end
            added = tables.contributions[state]
            for unit in range(len(sums)):
                sums[unit] += added[unit]
        for unit in range(len(sums)):
            units[row, unit] = max(sums[unit], 0)
