"""A network of line patterns: units that see all cells' features, and are looked up in tables.

Input: planes. Only the first two are read: the pieces of the player to move and the opponent's.
Output: policy and value logits.

The features of a cell are the sum of what it sees in the four directions (`line_mapping`), and a
layer of units reads those of all cells. Up to the units' ReLU, everything is a sum of what each
line of cells contributes, and a line of n cells has only 3^n states. `line_tables` computes all
contributions in advance, so the engine `table` plays by adding up what it looks up.

Sources: patterns of lines are how Logistello (M. Buro 1997) and Edax evaluate Othello. A hidden
layer that is a sum of table entries is the idea of NNUE (Y. Nasu 2018).
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from alphazero.network.interface import NetworkOutput, NetworkSettings, num_value_logits
from alphazero.network.line_mapping import LineMapping, scale_and_offset, sharing
from alphazero.network.window_states import RADIUS, STEPS, first_states
from alphazero.runtime.errors import ConfigError

#: Longer lines have too many states: 3^9 = 19,683.
MAX_LENGTH = 9
_FEATURES = 16  # of a cell


class LineTable(NamedTuple):
    """What each state of a line of n cells contributes to the shared units."""

    cells: list[int]  #: row * W + column of each cell, in order
    #: float32[3^n, U]; in a state's number, the first cell is the least significant digit: 0 for
    #: empty, 1 for an own piece, 2 for an opponent's
    contributions: np.ndarray


class PatternNetwork(nn.Module):
    """The features of all cells, a layer of shared units, and the heads.

    Args:
        planes_shape: (C, H, W), the shape of the game's input planes.
        num_actions: A, the number of policy logits.
        settings: ``channels``, of the convolutions along lines, ``shared_units``, ``value_units``,
            and the kind of value head. More channels slow down training, but not the tables.
        num_symmetries: number of the game's symmetries, 1 if it has none.
    """

    def __init__(
        self,
        planes_shape: tuple[int, int, int],
        num_actions: int,
        settings: NetworkSettings,
        num_symmetries: int,
    ):
        super().__init__()
        _, height, width = planes_shape
        self._shape = height, width
        self.num_actions = num_actions
        drops = num_actions == width and height > 1
        groups = sharing(drops, num_symmetries).directions
        self.lines = LineMapping(groups, settings.channels, _FEATURES)
        self.lines.add_board(height, width)
        self.norm = nn.BatchNorm1d(_FEATURES)
        self.shared = nn.Linear(height * width * _FEATURES, settings.shared_units)
        self.policy = nn.Linear(settings.shared_units, num_actions)
        self.value_hidden = nn.Linear(settings.shared_units, settings.value_units)
        self.value = nn.Linear(settings.value_units, num_value_logits(settings))

    @staticmethod
    def check_settings(
        planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ) -> None:
        """Check that the game has the planes of two players' pieces, and a board of short lines.

        Raises:
            ConfigError: if it has not.
        """
        num_planes, height, width = planes_shape
        if num_planes not in (2, 3) or not 1 < max(height, width) <= MAX_LENGTH:
            allowed = f"a network such as resnet, or a board of up to {MAX_LENGTH} x {MAX_LENGTH}"
            reason = f"a game of {num_planes} planes of {height} x {width} has no tables of lines"
            raise ConfigError.of("network.kind", settings.kind, allowed, reason)

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes, float32[M, C, H, W], to policy logits and value logits."""
        features = self.norm(self.lines(planes))
        units = torch.relu(self.shared(features.view(len(planes), -1)))
        return NetworkOutput(self.policy(units), self.value(torch.relu(self.value_hidden(units))))

    @torch.inference_mode()
    def folded_shared(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the weights, [U, H * W, F], and bias, [U], of the shared units.

        The normalization by running statistics is merged into them.
        """
        scale, offset = scale_and_offset(self.norm)
        weights = self.shared.weight.unflatten(1, (-1, len(scale)))
        return weights * scale, (weights @ offset).sum(1) + self.shared.bias

    @torch.inference_mode()
    def line_tables(self) -> list[LineTable]:
        """Return the tables of all lines, whose sum is the input of the shared units' ReLU.

        The network must be in evaluation mode.
        """
        height, width = self._shape
        weights, constant = self.folded_shared()
        features = self.lines.tables()
        tables = []
        for step, group in zip(STEPS, self.lines.groups):
            for line in lines(height, width, step):
                cells = [row * width + column for row, column in line]
                seen = features[group, _windows(len(line))]  # [3^n, n, F]
                contributions = seen.flatten(1) @ weights[:, cells].flatten(1).T
                tables.append(LineTable(cells, contributions.numpy()))
        tables[0].contributions[:] += constant.numpy()
        return tables


def lines(height: int, width: int, step: tuple[int, int]) -> list[list[tuple[int, int]]]:
    """Return the lines of a board in one direction: (row, column) of their cells in order."""
    board = [(row, column) for row in range(height) for column in range(width)]
    found = []
    for row, column in board:
        if (row - step[0], column - step[1]) not in board:
            line = []
            while (row, column) in board:
                line.append((row, column))
                row, column = row + step[0], column + step[1]
            found.append(line)
    return found


def _windows(length: int) -> np.ndarray:
    """Return the states of the windows of all cells of a line, for each of its states.

    Returns:
        int64[3^length, length]; see `window_states`.
    """
    states = np.arange(3**length)
    found = []
    for place in range(length):
        before, after = min(place, RADIUS), min(length - 1 - place, RADIUS)
        number = states // 3 ** (place - before) % 3 ** (before + 1 + after)
        found.append(first_states(RADIUS)[RADIUS - before, RADIUS - after] + number)
    return np.stack(found, axis=1)
