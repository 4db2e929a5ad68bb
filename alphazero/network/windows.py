"""A network of windows: each cell sees nine cells, itself in the middle, in four directions.

Input: planes. Only the first two are read: the pieces of the player to move and the opponent's.
Output: policy and value logits.

No weight is tied to a cell, so one network plays boards of every size. The features of a cell are
the sum of what it sees in the four directions (`line_mapping`), which the engine `table` looks up.
After that, only small layers remain: a depthwise and a pointwise convolution, and the heads.

Sources: the depthwise convolution and a value from regions of the board are those of Rapfi's Mix
networks for Gomoku (Z. Jin 2025, arXiv 2503.13178). The global means and maxima in the heads are
those of KataGo (D. Wu 2019, arXiv 1902.10565).
"""

import torch
from torch import nn

from alphazero.network.interface import NetworkOutput, NetworkSettings, num_value_logits
from alphazero.network.line_mapping import LineMapping, sharing
from alphazero.network.window_states import (
    CHANNELS,
    NUM_DISTANCES,
    POLICY_UNITS,
    VALUE_UNITS,
    edge_distances,
    regions,
    suits,
)
from alphazero.runtime.errors import ConfigError


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
        self.lines = LineMapping(self.sharing.directions, settings.channels, CHANNELS)
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
        self.lines.add_board(height, width)
        distances = torch.from_numpy(edge_distances(height, width))
        self.register_buffer(f"distances_{height}x{width}", distances, False)  # int64[4, H * W]

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
        features = self.lines(planes).view(num, height * width, CHANNELS)
        features = features + self.place(height, width)
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


def _mean(cells: torch.Tensor) -> torch.Tensor:
    """Return the mean over a region, [M, C], from [M, rows, columns, C]; 0 if it is empty."""
    return cells.sum((1, 2)) / max(cells.shape[1] * cells.shape[2], 1)
