"""The residual network of AlphaZero (Silver et al. 2018, supplement, "Architecture").

The optional ownership head predicts who owns each cell at the end of the game (D. Wu, KataGo, arXiv
1902.10565, section 4.1). Its only purpose is what the trunk learns from it. Search never runs it:
`folded` removes it.
"""

import copy

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from alphazero.network.interface import NetworkOutput, NetworkSettings, num_value_logits


class ConvNorm(nn.Module):
    """A convolution that keeps the board's size, followed by batch normalization."""

    def __init__(self, channels_in: int, channels_out: int, kernel_size: int):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size, padding="same", bias=False)
        self.norm = nn.BatchNorm2d(channels_out)

    def forward(self, x):
        return self.norm(self.conv(x))

    def fold(self):
        """Fold the normalization into the convolution, which saves a pass over memory.

        The function stays the same. The network must be in evaluation mode.
        """
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
    """A stem, residual blocks, and heads behind 1x1 convolutions.

    As in KataGo, the ownership head reads the features of the value head.
    """

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        num_planes, height, width = planes_shape
        channels, kernel_size = settings.channels, settings.kernel_size
        num_features = settings.head_channels * height * width
        self.stem = ConvNorm(num_planes, channels, kernel_size)
        bias = torch.zeros(1, channels, height, width)
        self.position_bias = nn.Parameter(bias) if settings.position_bias else None
        blocks = (ResidualBlock(channels, kernel_size) for _ in range(settings.blocks))
        self.tower = nn.Sequential(*blocks)
        self.policy_conv = ConvNorm(channels, settings.head_channels, 1)
        self.policy = nn.Linear(num_features, num_actions)
        self.value_conv = ConvNorm(channels, settings.head_channels, 1)
        self.value_hidden = nn.Linear(num_features, settings.value_units)
        self.value = nn.Linear(settings.value_units, num_value_logits(settings))
        # Last, so that a seed gives the other layers the same weights with this head and without.
        has_ownership = settings.ownership_head
        self.ownership = nn.Conv2d(settings.head_channels, 1, 1) if has_ownership else None

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes [M, C, H, W] to logits."""
        x = self.stem(planes)
        if self.position_bias is not None:
            x = x + self.position_bias.to(x.dtype)  # keeps the half precision of the trunk
        x = self.tower(torch.relu(x))
        policy_features = torch.relu(self.policy_conv(x)).flatten(1)
        value_features = torch.relu(self.value_conv(x))
        hidden = torch.relu(self.value_hidden(value_features.flatten(1)))
        ownership = None if self.ownership is None else self.ownership(value_features).flatten(1)
        return NetworkOutput(self.policy(policy_features), self.value(hidden), ownership)


def folded(network: nn.Module) -> nn.Module:
    """Return a copy for inference, in evaluation mode.

    It has no ownership head, and every batch normalization is folded into its convolution.
    """
    network = copy.deepcopy(network).eval()
    if isinstance(network, ResidualNetwork):
        network.ownership = None
    for module in network.modules():
        if isinstance(module, ConvNorm):
            module.fold()
    return network
