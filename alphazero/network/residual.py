"""The residual network."""

import copy

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from alphazero.network.interface import NetworkOutput, NetworkSettings, num_value_logits


class ConvNorm(nn.Module):
    """A convolution that keeps the board's size, with batch normalisation; `fold` makes the two one."""

    def __init__(self, channels_in: int, channels_out: int, kernel_size: int):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size, padding="same", bias=False)
        self.norm = nn.BatchNorm2d(channels_out)

    def forward(self, x):
        return self.norm(self.conv(x))

    def fold(self):
        """Multiply the normalisation of an evaluating network into the convolution: same function, one pass over memory less."""
        self.conv = fuse_conv_bn_eval(self.conv, self.norm)
        self.norm = nn.Identity()


class ResidualBlock(nn.Module):
    """Two convolutions and a skip connection (He et al. 2016)."""

    def __init__(self, channels: int, kernel_size: int):
        super().__init__()
        self.first = ConvNorm(channels, channels, kernel_size)
        self.second = ConvNorm(channels, channels, kernel_size)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class ResidualNetwork(nn.Module):
    """A stem, residual blocks, and two heads behind 1x1 convolutions; as in KataGo, the ownership head reads the value head's features."""

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        num_planes, height, width = planes_shape
        cells = height * width
        self.stem = ConvNorm(num_planes, settings.channels, settings.kernel_size)
        self.position_bias = (
            nn.Parameter(torch.zeros(1, settings.channels, height, width))
            if settings.position_bias
            else None
        )
        self.tower = nn.Sequential(
            *(
                ResidualBlock(settings.channels, settings.kernel_size)
                for _ in range(settings.blocks)
            )
        )
        self.policy_conv = ConvNorm(settings.channels, settings.head_channels, 1)
        self.policy = nn.Linear(settings.head_channels * cells, num_actions)
        self.value_conv = ConvNorm(settings.channels, settings.head_channels, 1)
        self.value_hidden = nn.Linear(settings.head_channels * cells, settings.value_units)
        self.value = nn.Linear(settings.value_units, num_value_logits(settings))
        # Last, so that the same seed gives the other layers the same first weights with this head and without.
        self.ownership = (
            nn.Conv2d(settings.head_channels, 1, 1) if settings.ownership_head else None
        )

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes [M, C, H, W] to the logits of every head that the network has."""
        x = self.stem(planes)
        if self.position_bias is not None:
            x = x + self.position_bias.to(x.dtype)  # so that a half-precision trunk stays one
        x = self.tower(torch.relu(x))
        policy_features = torch.relu(self.policy_conv(x)).flatten(1)
        value_features = torch.relu(self.value_conv(x))
        hidden = torch.relu(self.value_hidden(value_features.flatten(1)))
        return NetworkOutput(
            self.policy(policy_features),
            self.value(hidden),
            None if self.ownership is None else self.ownership(value_features).flatten(1),
        )

    def drop_auxiliary_heads(self) -> None:
        """Keep policy and value alone."""
        self.ownership = None


def folded(network: nn.Module) -> nn.Module:
    """Return a copy for inference: policy and value alone, every batch normalisation folded into its convolution; the original is left alone."""
    network = copy.deepcopy(network).eval()
    if isinstance(network, ResidualNetwork):
        network.drop_auxiliary_heads()
    for module in network.modules():
        if isinstance(module, ConvNorm):
            module.fold()
    return network
