"""A network of windows: each cell sees nine cells, itself in the middle, in four directions.

Input: planes. Only the first two are read: the pieces of the player to move and the opponent's.
Output: policy and value logits.

A *window* is what a cell sees in one direction. Small convolutions along the line map it to a
vector of features. No weight is tied to a cell, so one network plays boards of every size. A window
has only 43,923 states; those with n cells on the board are numbers of n digits in base 3.
`LineMapping.tables` computes the features of all states in advance, and the engine `table` adds up
four of them for each cell. After that, only small layers remain: a depthwise and a pointwise
convolution, and the heads.

The last convolution is linear, so the features of nine cells are the sum of the contributions of
three windows of seven cells, which have only 4,800 states. Training computes the contributions of
all these states once per batch, layer by layer from smaller windows, and then looks them up.

Sources: the mapping, its tables, the depthwise convolution and a value from regions of the board
are those of Rapfi's Mix networks for Gomoku (Z. Jin 2025, arXiv 2503.13178). The global means and
maxima in the heads are those of KataGo (D. Wu 2019, arXiv 1902.10565).
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from alphazero.network.interface import NetworkOutput, NetworkSettings, num_value_logits
from alphazero.network.window_states import (
    CHANNELS,
    NUM_DISTANCES,
    POLICY_UNITS,
    RADIUS,
    STEPS,
    VALUE_UNITS,
    edge_distances,
    inner_states,
    missing_cells,
    num_states,
    regions,
    suits,
)
from alphazero.runtime.errors import ConfigError
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
        num_groups: G, number of groups of directions; each has its own weights.
        channels: number of channels between the layers.
    """

    def __init__(self, num_groups: int, channels: int):
        super().__init__()
        sizes = [3] + [channels] * _INNER + [CHANNELS]
        self.layers = nn.ModuleList()  # [layer][group], one convolution each
        for size, next_size in zip(sizes, sizes[1:]):
            has_bias = len(self.layers) < _INNER  # a normalization follows the last layer
            groups = [nn.Conv2d(size, next_size, (1, 3), bias=has_bias) for _ in range(num_groups)]
            self.layers.append(nn.ModuleList(groups))
        for layer in self.layers:
            for convolution in layer:
                nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
        groups = torch.arange(num_groups)[:, None, None]
        for radius in range(1, RADIUS + 1):
            inner = torch.from_numpy(inner_states(radius))
            rows = 3 * (inner + groups * (num_states(radius - 1) + 1)) + torch.arange(3)
            self.register_buffer(f"rows_{radius}", rows.flatten(0, 1), persistent=False)

    def forward(self) -> torch.Tensor:
        """Return the contributions of windows of radius 3 to the windows of radius 4 around them.

        Returns:
            [G * (num_states(RADIUS - 1) + 1) * 3, CHANNELS]. Each state has three rows: for a small
            window around the cell before the middle of the larger window, around the middle, and
            around the cell after it. The last three rows of each group are 0, for small windows
            around cells beyond the border.
        """
        num_groups = len(self.layers[0])
        features = torch.eye(3, device=self.layers[0][0].weight.device).expand(num_groups, 3, 3)
        for radius, layer in enumerate(self.layers[:-1], 1):
            sums = self._sums(radius, self._contributions(radius, features))
            biases = torch.stack([convolution.bias for convolution in layer])
            features = torch.relu(sums.unflatten(0, (num_groups, -1)) + biases[:, None])
        return self._contributions(RADIUS, features)

    def tables(self) -> torch.Tensor:
        """Return the features of all states of a window, [G, num_states(RADIUS), CHANNELS]."""
        return self._sums(RADIUS, self()).unflatten(0, (-1, num_states(RADIUS)))

    def _contributions(self, radius: int, features: torch.Tensor) -> torch.Tensor:
        """Return the contributions of windows, given their features [G, states, inputs]."""
        kernels = torch.stack([convolution.weight for convolution in self.layers[radius - 1]])
        matrices = kernels[:, :, :, 0].permute(0, 2, 3, 1).flatten(2)  # [G, inputs, 3 * outputs]
        padded = functional.pad(features, (0, 0, 0, 1))  # a row for windows beyond the border
        return (padded @ matrices).flatten(0, 1).unflatten(1, (3, -1)).flatten(0, 1)

    def _sums(self, radius: int, contributions: torch.Tensor) -> torch.Tensor:
        return row_sums(contributions.float(), self.get_buffer(f"rows_{radius}"))


class WindowNetwork(nn.Module):
    """The whole network: features of windows, two small convolutions, and the heads.

    Args:
        planes_shape: (C, H, W), the shape of the game's input planes.
        num_actions: A: H * W if each action fills a cell, one more if the last action is a pass, or
            W if pieces are dropped into columns.
        settings: ``channels``, of the convolutions along lines, and the kind of value head; the
            other sizes are fixed. More channels slow down training, but not the tables.
        num_symmetries: number of the game's symmetries, 1 if it has none.

    Attributes:
        drops: whether pieces are dropped into columns.
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
        self.drops = num_actions == width and height > 1
        self.sharing = sharing(self.drops, num_symmetries)
        self.lines = LineMapping(len(set(self.sharing.directions)), settings.channels)
        num_edges = len(set(self.sharing.edges))
        self.edges = nn.Parameter(torch.zeros(num_edges, NUM_DISTANCES, CHANNELS))
        self.parity = nn.Parameter(torch.zeros(2, CHANNELS)) if self.drops else None
        self.norm = nn.BatchNorm1d(CHANNELS)
        self.depthwise = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, groups=CHANNELS, bias=False)
        self.pointwise = nn.Conv2d(CHANNELS, CHANNELS, 1, bias=False)
        self.middle_norm = nn.BatchNorm2d(CHANNELS)
        self.policy_hidden = nn.Linear(CHANNELS, POLICY_UNITS)
        self.policy_global = nn.Linear(2 * CHANNELS, POLICY_UNITS, bias=False)
        self.policy = nn.Linear(POLICY_UNITS, 1)
        has_pass = num_actions == height * width + 1
        self.pass_logit = nn.Linear(2 * CHANNELS, 1) if has_pass else None
        self.value_hidden = nn.Linear((2 + 9) * CHANNELS, VALUE_UNITS)
        self.value = nn.Linear(VALUE_UNITS, num_value_logits(settings))
        self.add_board(height, width)

    def add_board(self, height: int, width: int) -> None:
        """Prepare `forward` for boards of another size, too, with the same weights."""
        missing = [missing_cells(height, width, step, _INNER) for step in STEPS]
        first_states, factors = (torch.from_numpy(np.stack(arrays)) for arrays in zip(*missing))
        distances = torch.from_numpy(edge_distances(height, width))
        size = f"{height}x{width}"
        self.register_buffer(f"first_states_{size}", first_states, False)  # int32[4, H, W]
        self.register_buffer(f"factors_{size}", factors, False)  # int32[4, H, W]
        self.register_buffer(f"distances_{size}", distances, False)  # int64[4, H * W]

    @staticmethod
    def check_settings(
        planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ) -> None:
        """Check that the sizes of a game suit this network; see `window_states.suits`.

        Raises:
            ConfigError: if they do not.
        """
        if not suits(planes_shape, num_actions):
            allowed = "a network such as resnet, or a game whose actions fill cells or columns"
            shape = " x ".join(map(str, planes_shape))
            reason = f"a game with planes of {shape} and {num_actions} actions does not suit it"
            raise ConfigError.of("network.kind", settings.kind, allowed, reason)

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes, float32[M, C, H, W], to policy logits and value logits.

        H x W is the size of the board given to `__init__` or `add_board`.
        """
        num, _, height, width = planes.shape
        features = row_sums(self.lines().float(), self._rows(planes))
        features = features.view(num, height * width, CHANNELS) + self.place(height, width)
        features = torch.relu(self.norm(features.flatten(0, 1)))
        x = features.view(num, height, width, CHANNELS).permute(0, 3, 1, 2)
        x = torch.relu(x + self.middle_norm(self.pointwise(self.depthwise(x))))
        cells = x.permute(0, 2, 3, 1)  # [M, H, W, C]
        pooled = torch.cat([cells.mean((1, 2)), cells.amax((1, 2))], 1)
        hidden = self.policy_hidden(cells) + self.policy_global(pooled)[:, None, None]
        logits = self.policy(torch.relu(hidden))[..., 0]
        logits = logits.sum(1) if self.drops else logits.flatten(1)
        if self.pass_logit is not None:
            logits = torch.cat([logits, self.pass_logit(pooled)], 1)
        means = [_mean(cells[:, a:b, c:d]) for a, b, c, d in regions(height, width).tolist()]
        units = torch.relu(self.value_hidden(torch.cat([pooled, *means], 1)))
        return NetworkOutput(logits, self.value(units))

    def place(self, height: int, width: int) -> torch.Tensor:
        """Return the part of each cell's features that depends on its place, [H * W, CHANNELS]."""
        near = zip(self.sharing.edges, self.get_buffer(f"distances_{height}x{width}"))
        total = sum(self.edges[group][distances] for group, distances in near)
        if self.parity is not None:
            rows = torch.arange(height - 1, -1, -1, device=self.edges.device) % 2
            total = total + self.parity[rows.repeat_interleave(width)]
        return total

    def _rows(self, planes: torch.Tensor) -> torch.Tensor:
        """Return the rows of `LineMapping.forward` that each cell adds up, [M * H * W, 12]."""
        beyond = num_states(_INNER)
        size = "x".join(map(str, planes.shape[2:]))
        first_states = self.get_buffer(f"first_states_{size}")
        factors = self.get_buffer(f"factors_{size}")
        pieces = torch.where(planes[:, 0] > 0, 1, 2 * (planes[:, 1] > 0)).to(torch.int32)
        padded = functional.pad(pieces, (_INNER,) * 4)
        found = []
        for direction, (step, group) in enumerate(zip(STEPS, self.sharing.directions)):
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


def _shifted(padded: torch.Tensor, place: int, step: tuple[int, int], pad: int) -> torch.Tensor:
    """Return the content of the cell ``place`` steps away from each cell, [M, H, W].

    Args:
        padded: [M, H + 2 * pad, W + 2 * pad], boards with a border.
    """
    top, left = pad + place * step[0], pad + place * step[1]
    height, width = padded.shape[1] - 2 * pad, padded.shape[2] - 2 * pad
    return padded[:, top : top + height, left : left + width]


def _mean(cells: torch.Tensor) -> torch.Tensor:
    """Return the mean over a region, [M, C], from [M, rows, columns, C]; 0 if it is empty."""
    return cells.sum((1, 2)) / max(cells.shape[1] * cells.shape[2], 1)
