"""The engine for networks of line patterns: it looks up what their convolutions would compute.

A kernel adds up the table entries of all lines (`alphazero.inference.line_tables`). A search may
also look them up in its own kernel (`alphazero.inference.table_search`).
"""

import copy

import numpy as np
import torch

from alphazero.inference.engines.registry import EngineChoice
from alphazero.inference.evaluator import Engine
from alphazero.inference.line_tables import LineTables, evaluate, make_scratch
from alphazero.network.patterns import PatternNetwork
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.jit import njit

_LARGEST = 32_000  # limit of the sum over all lines, which is an int16


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
    """Evaluates a network of line patterns; see `alphazero.inference.evaluator.Engine`.

    The planes of pieces must be 0 or 1.
    """

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Compute the network's tables; see `Engine.load`.

        Args:
            network: a `PatternNetwork`.
            planes: not used.

        Raises:
            ConfigError: if the network is not a `PatternNetwork`.
        """
        if not isinstance(network, PatternNetwork):
            raise ConfigError.of("engine", "table", ["auto"], "it needs network=patterns")
        tables = joined(copy.deepcopy(network).cpu())
        largest = np.abs(tables.bias) + _LARGEST * np.abs(tables.weights).sum(axis=0)
        if not np.isfinite(largest).all():
            raise OverflowError("its answers may be too large for float32")
        self.line_tables = tables

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions with the tables; see `Evaluator.evaluate`."""
        tables = self.line_tables
        assert tables is not None
        num_actions = tables.weights.shape[1] - len(tables.value_weights)
        logits = np.empty((len(planes), num_actions), np.float32)
        values = np.empty(len(planes), np.float32)
        _evaluate_rows(tables, planes, make_scratch(tables, planes[0, 0].size), logits, values)
        return logits, values


def joined(network: PatternNetwork) -> LineTables:
    """Return a network in the form that kernels read; it must be in evaluation mode."""
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
    """Return the contributions of all tables as integers, with the largest sums below 32,000.

    Args:
        rows: the contributions of each table, float32[3^n, U]; the list is emptied, because all of
            them take twice the memory of the result.

    Returns:
        The contributions, int16[sum of 3^n, U]; the initial sums that they are added to, int16[U];
        and the factors that turn these integers back into the original scale, float32[U].
    """
    highest = np.array([table.max(axis=0) for table in rows])  # [L, U]
    lowest = np.array([table.min(axis=0) for table in rows])
    # Centered contributions need less than half the range, and so are rounded more finely.
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
