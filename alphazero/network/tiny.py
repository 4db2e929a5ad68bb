"""A tiny network, for laptops and tests."""

import torch
from torch import nn

from alphazero.network.interface import (
    NetworkOutput,
    NetworkSettings,
    check_kernel_fits,
    num_value_logits,
)


class TinyNetwork(nn.Module):
    """One convolution without padding, one layer of shared units, two linear heads."""

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        num_planes, height, width = planes_shape
        lost = settings.kernel_size - 1  # rows and columns that a convolution without padding drops
        num_features = settings.channels * (height - lost) * (width - lost)
        self.conv = nn.Conv2d(num_planes, settings.channels, settings.kernel_size)
        self.shared = nn.Linear(num_features, settings.shared_units)
        self.policy = nn.Linear(settings.shared_units, num_actions)
        self.value = nn.Linear(settings.shared_units, num_value_logits(settings))

    @staticmethod
    def check_settings(planes_shape: tuple[int, int, int], settings: NetworkSettings) -> None:
        """See `alphazero.network.interface`."""
        check_kernel_fits(planes_shape, settings)

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes [M, C, H, W] to logits."""
        x = torch.relu(self.shared(torch.relu(self.conv(planes)).flatten(1)))
        return NetworkOutput(self.policy(x), self.value(x))
