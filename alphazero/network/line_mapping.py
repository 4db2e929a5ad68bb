"""Features of cells from small convolutions along lines, which are looked up in tables.

A *window* is what a cell sees in one direction: nine cells, itself in the middle. Convolutions
along the line map it to a vector of features. No weight is tied to a cell, so the mapping serves
boards of every size.

A window has only 43,923 states; those with n cells on the board are numbers of n digits in base 3
(`window_states`). `LineMapping.tables` computes the features of all states in advance; to play, an
engine adds up what it looks up.

The last convolution is linear, so the features of nine cells are the sum of the contributions of
three windows of seven cells, which have only 4,800 states. Training computes the contributions of
all these states once per batch, layer by layer from smaller windows, and then looks them up.

Source: the mapping and its tables are those of Rapfi's Mix networks for Gomoku (Z. Jin 2025, arXiv
2503.13178).
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from alphazero.network.window_states import (
    RADIUS,
    STEPS,
    inner_states,
    missing_cells,
    num_states,
)
from alphazero.runtime.row_sums import row_sums

_INNER = RADIUS - 1  # radius of the windows whose contributions are looked up in training


class Sharing(NamedTuple):
    """Group numbers of directions and of board edges; those with the same number share weights."""

    directions: tuple[int, int, int, int]  #: group of each of `STEPS`
    edges: tuple[int, int, int, int]  #: group of the upper, lower, left and right edge


_SQUARE = Sharing((0, 0, 1, 1), (0, 0, 0, 0))  # rotations and reflections
_MIRROR = Sharing((0, 1, 2, 2), (0, 1, 2, 2))  # left-right reflection
_NONE = Sharing((0, 1, 2, 3), (0, 1, 2, 3))


class LineMapping(nn.Module):
    """Convolutions of width 3 along lines, computed for all states of a window.

    Layer k maps the features of three neighbouring windows of radius k - 1 to those of a window of
    radius k. A window of radius 0 is one cell, and its features are its state, one-hot.

    Args:
        groups: the group of each of `STEPS`; each of the G groups has its own weights.
        channels: number of channels between the layers.
        num_features: F, number of features of a cell.
    """

    def __init__(self, groups: tuple[int, int, int, int], channels: int, num_features: int):
        super().__init__()
        self.groups = groups
        num_groups = len(set(groups))
        sizes = [3] + [channels] * _INNER + [num_features]
        self.layers = nn.ModuleList()  # [layer][group], one convolution each
        for size, next_size in zip(sizes, sizes[1:]):
            has_bias = len(self.layers) < _INNER  # a normalization follows the last layer
            layer = [nn.Conv2d(size, next_size, (1, 3), bias=has_bias) for _ in range(num_groups)]
            self.layers.append(nn.ModuleList(layer))
        for layer in self.layers:
            for convolution in layer:
                nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
        numbers = torch.arange(num_groups)[:, None, None]
        for radius in range(1, RADIUS + 1):
            inner = torch.from_numpy(inner_states(radius))
            rows = 3 * (inner + numbers * (num_states(radius - 1) + 1)) + torch.arange(3)
            self.register_buffer(f"rows_{radius}", rows.flatten(0, 1), persistent=False)

    def add_board(self, height: int, width: int) -> None:
        """Prepare `forward` for boards of another size, too, with the same weights."""
        missing = [missing_cells(height, width, step, _INNER) for step in STEPS]
        first_states, factors = (torch.from_numpy(np.stack(arrays)) for arrays in zip(*missing))
        size = f"{height}x{width}"
        self.register_buffer(f"first_states_{size}", first_states, False)  # int32[4, H, W]
        self.register_buffer(f"factors_{size}", factors, False)  # int32[4, H, W]

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """Map planes, float32[M, C, H, W], to features of all cells, [M * H * W, F].

        H x W is the size of a board given to `add_board`.
        """
        return row_sums(self.contributions().float(), self._rows(planes))

    def contributions(self) -> torch.Tensor:
        """Return the contributions of windows of radius 3 to the windows of radius 4 around them.

        Returns:
            [G * (num_states(RADIUS - 1) + 1) * 3, F]. Each state has three rows: for a small
            window around the cell before the middle of the larger window, around the middle, and
            around the cell after it. The last three rows of each group are 0, for small windows
            around cells beyond the border.
        """
        num_groups = len(self.layers[0])
        features = torch.eye(3, device=self.layers[0][0].weight.device).expand(num_groups, 3, 3)
        for radius, layer in enumerate(self.layers[:-1], 1):
            sums = self._sums(radius, self._next_contributions(radius, features))
            biases = torch.stack([convolution.bias for convolution in layer])
            features = torch.relu(sums.unflatten(0, (num_groups, -1)) + biases[:, None])
        return self._next_contributions(RADIUS, features)

    def tables(self) -> torch.Tensor:
        """Return the features of all states of a window, [G, num_states(RADIUS), F]."""
        return self._sums(RADIUS, self.contributions()).unflatten(0, (-1, num_states(RADIUS)))

    def _next_contributions(self, radius: int, features: torch.Tensor) -> torch.Tensor:
        """Return the contributions of windows, given their features [G, states, inputs]."""
        kernels = torch.stack([convolution.weight for convolution in self.layers[radius - 1]])
        matrices = kernels[:, :, :, 0].permute(0, 2, 3, 1).flatten(2)  # [G, inputs, 3 * outputs]
        padded = functional.pad(features, (0, 0, 0, 1))  # a row for windows beyond the border
        return (padded @ matrices).flatten(0, 1).unflatten(1, (3, -1)).flatten(0, 1)

    def _sums(self, radius: int, contributions: torch.Tensor) -> torch.Tensor:
        return row_sums(contributions.float(), self.get_buffer(f"rows_{radius}"))

    def _rows(self, planes: torch.Tensor) -> torch.Tensor:
        """Return the rows of `contributions` that each cell adds up, [M * H * W, 12]."""
        beyond = num_states(_INNER)
        size = "x".join(map(str, planes.shape[2:]))
        first_states = self.get_buffer(f"first_states_{size}")
        factors = self.get_buffer(f"factors_{size}")
        pieces = torch.where(planes[:, 0] > 0, 1, 2 * (planes[:, 1] > 0)).to(torch.int32)
        padded = functional.pad(pieces, (_INNER,) * 4)
        found = []
        for direction, (step, group) in enumerate(zip(STEPS, self.groups)):
            number = sum(
                3 ** (place + _INNER) * _shifted(padded, place, step, _INNER)
                for place in range(-_INNER, _INNER + 1)
            )
            states = first_states[direction] + number // factors[direction]
            states = functional.pad(states, (1,) * 4, value=beyond) + group * (beyond + 1)
            states = 3 * states
            found += [_shifted(states, place, step, 1) + place + 1 for place in (-1, 0, 1)]
        return torch.stack(found, dim=-1).flatten(0, 2)


def sharing(drops: bool, num_symmetries: int) -> Sharing:
    """Return which directions and edges share weights, given the number of symmetries.

    A board that is not square has at most four symmetries. Its rows and columns nevertheless share
    weights, because the game has eight symmetries on a square board.
    """
    if drops:
        return _MIRROR if num_symmetries > 1 else _NONE
    return _SQUARE if num_symmetries >= 4 else _NONE


@torch.inference_mode()
def scale_and_offset(norm: nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the factors and offsets of the channels, [C] each, that equal a batch normalization.

    The normalization must be in evaluation mode, in which it uses its running statistics.
    """
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    return scale, norm.bias - norm.running_mean * scale


def _shifted(padded: torch.Tensor, place: int, step: tuple[int, int], pad: int) -> torch.Tensor:
    """Return the content of the cell ``place`` steps away from each cell, [M, H, W].

    Args:
        padded: [M, H + 2 * pad, W + 2 * pad], boards with a border.
    """
    top, left = pad + place * step[0], pad + place * step[1]
    height, width = padded.shape[1] - 2 * pad, padded.shape[2] - 2 * pad
    return padded[:, top : top + height, left : left + width]
