"""A network of line patterns: its convolutions run along rows, columns and diagonals only.

In: planes, of which it reads the first two: the pieces of the player to move and the opponent's.
Out: logits.

Each direction has its own convolutions; their outputs are added up and read by a layer of shared
units. Up to the units' ReLU everything is a sum of what each line of cells contributes, and a line
of n cells has only 3^n states. `line_tables` computes all contributions in advance, so that
`alphazero.inference.engines.table_engine` plays by looking them up.

Sources: patterns of lines are how Logistello (M. Buro 1997) and Edax evaluate Othello. Convolutions
along lines that are turned into tables are those of Rapfi (Z. Jin 2025, arXiv 2503.13178). A hidden
layer that is a sum of table entries is the idea of NNUE (Y. Nasu 2018).
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from alphazero.network.interface import NetworkOutput, NetworkSettings, num_value_logits
from alphazero.runtime.errors import ConfigError

#: Longer lines have too many states: 3^9 = 19,683.
MAX_LENGTH = 9
_NUM_LAYERS = 3  # of convolutions: a cell sees three cells to either side
_NUM_PIECES = 2  # planes: own pieces, opponent's pieces
#: The step from a cell of a line to the next: row, column, diagonal, antidiagonal.
_STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


class LineTable(NamedTuple):
    """What each state of a line of n cells contributes to the shared units."""

    cells: list[int]  #: row * W + column of each cell, in order
    #: float32[3^n, U]; in a state's number, the first cell is the least significant digit: 0 for
    #: empty, 1 for an own piece, 2 for an opponent's
    contributions: np.ndarray


class LineConvolutions(nn.Module):
    """Convolutions of width 3 along all lines of one direction.

    Args:
        channels: number of channels of every convolution's output.
        num_places: N, length of the board as one row of cells; see `PatternNetwork.forward`.
    """

    def __init__(self, channels: int, num_places: int):
        super().__init__()
        sizes = [_NUM_PIECES] + [channels] * _NUM_LAYERS
        pairs = zip(sizes, sizes[1:])
        self.layers = nn.ModuleList(nn.Conv2d(*pair, (1, 3)) for pair in pairs)
        #: Added to the first convolution; tells the cells apart.
        self.position_bias = nn.Parameter(torch.zeros(channels, 1, num_places))

    def forward(
        self,
        x: torch.Tensor,
        stride: int,
        is_cell: torch.Tensor,
        places: list[int] | slice = slice(None),
    ) -> torch.Tensor:
        """Map [B, 2, 1, N] to [B, channels, 1, N].

        Args:
            stride: number of places from a cell of a line to the next.
            is_cell: [N], 0 at places that are no cells, where features stay 0, and 1 at cells.
            places: which N places of the whole board the input has.
        """
        for index, layer in enumerate(self.layers):
            x = functional.conv2d(
                x, layer.weight, layer.bias, padding=(0, stride), dilation=(1, stride)
            )
            if index == 0:
                x = x + self.position_bias[:, :, places].to(x.dtype)  # stays in half precision
            if index < _NUM_LAYERS - 1:
                x = torch.relu(x) * is_cell.to(x.dtype)
        return x


class PatternNetwork(nn.Module):
    """Convolutions along lines in four directions, a layer of shared units, and the heads.

    Args:
        planes_shape: (C, H, W), the shape of the game's input planes.
        num_actions: A, the number of policy logits.
        settings: ``channels``, ``shared_units``, ``value_units``, and the kind of value head.
    """

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        _, height, width = planes_shape
        self._shape = height, width
        self.num_actions = num_actions
        is_cell = functional.pad(torch.ones(height, width), (0, 1)).flatten()
        self.register_buffer("is_cell", is_cell, persistent=False)
        self.directions = nn.ModuleList(
            LineConvolutions(settings.channels, height * (width + 1)) for _ in _STEPS
        )
        self.norm = nn.BatchNorm1d(settings.channels)
        self.shared = nn.Linear(height * width * settings.channels, settings.shared_units)
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
        height, width = self._shape
        # One row of cells, with a place that is no cell after each row of the board: the next cell
        # of a line is always the same number of places away, and none is beyond the border.
        x = functional.pad(planes[:, :_NUM_PIECES], (0, 1)).flatten(2).unsqueeze(2)
        x = x.contiguous(memory_format=torch.channels_last)
        outputs = [
            direction(x, down * (width + 1) + right, self.is_cell)
            for direction, (down, right) in zip(self.directions, _STEPS)
        ]
        total = (outputs[0] + outputs[1]) + (outputs[2] + outputs[3])
        features = total.permute(0, 2, 3, 1).unflatten(2, (height, width + 1))[:, 0, :, :width]
        features = self.norm(features.flatten(0, 2)).unflatten(0, (-1, height * width)).flatten(1)
        units = torch.relu(self.shared(features))
        return NetworkOutput(self.policy(units), self.value(torch.relu(self.value_hidden(units))))

    @torch.inference_mode()
    def folded_shared(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the weights, [U, H * W, C], and bias, [U], of the shared units.

        The normalization by running statistics is merged into them.
        """
        scale = self.norm.weight / (self.norm.running_var + self.norm.eps).sqrt()
        offset = self.norm.bias - self.norm.running_mean * scale
        weights = self.shared.weight.unflatten(1, (-1, len(scale)))
        return weights * scale, (weights @ offset).sum(1) + self.shared.bias

    @torch.inference_mode()
    def line_tables(self) -> list[LineTable]:
        """Return the tables of all lines, whose sum is the input of the shared units' ReLU.

        The network must be in evaluation mode.
        """
        height, width = self._shape
        weights, constant = self.folded_shared()
        tables = []
        for direction, step in zip(self.directions, _STEPS):
            for line in lines(height, width, step):
                places = [row * (width + 1) + column for row, column in line]
                cells = [row * width + column for row, column in line]
                x = direction(_all_states(len(line)), 1, torch.ones(len(line)), places)
                x = x[:, :, 0].transpose(1, 2).flatten(1)  # [3^n, n * C]
                contributions = x @ weights[:, cells].flatten(1).T
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


def _all_states(length: int) -> torch.Tensor:
    """Return the planes of all states of a line, float32[3^length, 2, 1, length]."""
    states = torch.arange(3**length)
    digits = states[:, None] // 3 ** torch.arange(length) % 3
    return torch.stack([digits == 1, digits == 2], dim=1).float().unsqueeze(2)
