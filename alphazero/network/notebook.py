"""The network of the published notebook (docs/notebooks.md has its recipe)."""

import torch
from torch import nn

from alphazero.network.interface import (
    NetworkOutput,
    NetworkSettings,
    check_kernel_fits,
    num_value_logits,
)
from alphazero.runtime.errors import ConfigError


class NotebookNetwork(nn.Module):
    """One plane, one convolution without bias and activation, one shared layer, two small heads.

    The plane is the board as the player to move sees it: 1 for own pieces, -1 for the opponent's.
    They are the first two planes of the game's input; further planes are ignored.
    """

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        _, height, width = planes_shape
        lost = settings.kernel_size - 1  # rows and columns that a convolution without padding drops
        num_features = settings.channels * (height - lost) * (width - lost)
        self.conv = nn.Conv2d(1, settings.channels, settings.kernel_size, bias=False)
        self.shared = nn.Linear(num_features, settings.shared_units)
        self.policy_hidden = nn.Linear(settings.shared_units, settings.policy_units)
        self.policy = nn.Linear(settings.policy_units, num_actions)
        self.value_hidden = nn.Linear(settings.shared_units, settings.value_units)
        self.value = nn.Linear(settings.value_units, num_value_logits(settings))

    @staticmethod
    def check_settings(planes_shape: tuple[int, int, int], settings: NetworkSettings) -> None:
        """See `alphazero.network.interface`."""
        check_kernel_fits(planes_shape, settings)
        if planes_shape[0] < 2:
            reason = "it reads own and opponent's pieces from two planes, and the game has one"
            raise ConfigError.of("network.kind", settings.kind, "resnet or tiny", reason)

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes [M, C, H, W] to logits."""
        board = planes[:, :1] - planes[:, 1:2]
        x = torch.relu(self.shared(self.conv(board).flatten(1)))
        policy = self.policy(torch.relu(self.policy_hidden(x)))
        return NetworkOutput(policy, self.value(torch.relu(self.value_hidden(x))))
