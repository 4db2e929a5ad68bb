"""The residual network of AlphaZero (Silver et al. 2018, supplement, "Architecture")."""

import copy

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from alphazero.network.interface import NetworkOutput, NetworkSettings, num_value_logits


class ConvNorm(nn.Module):
    """A convolution that keeps the board's size, followed by batch normalization.

    Args:
        channels_in, channels_out: number of channels of the input and of the output.
        kernel_size: side of the square kernel.
    """

    def __init__(self, channels_in: int, channels_out: int, kernel_size: int):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size, padding="same", bias=False)
        self.norm = nn.BatchNorm2d(channels_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [B, channels_in, H, W] to [B, channels_out, H, W]."""
        return self.norm(self.conv(x))

    def fold(self) -> None:
        """Fold the normalization into the convolution, in place, which saves a pass over memory.

        The outputs do not change. The network must be in evaluation mode.
        """
        self.conv = fuse_conv_bn_eval(self.conv, self.norm)
        self.norm = nn.Identity()


class ResidualBlock(nn.Module):
    """A residual block: two convolutions with a skip connection around them (He et al. 2016).

    Outputs of layers are modified in place to save memory bandwidth, which all threads share.

    Args:
        channels: number of channels of the input, of the output, and between the convolutions.
        kernel_size: side of the square kernels.
    """

    def __init__(self, channels: int, kernel_size: int):
        super().__init__()
        self.first = ConvNorm(channels, channels, kernel_size)
        self.second = ConvNorm(channels, channels, kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map [B, channels, H, W] to the same shape."""
        y = self.second(torch.relu_(self.first(x)))
        y += x
        return torch.relu_(y)


class ResidualNetwork(nn.Module):
    """AlphaZero's network: a convolution, residual blocks, and heads for policy and value.

    Each head begins with a 1x1 convolution.

    Args:
        planes_shape: (C, H, W), the shape of the game's input planes.
        num_actions: A, the number of policy logits.
        settings: numbers of blocks, channels and units, and the kind of value head.
    """

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        num_planes, height, width = planes_shape
        channels = settings.channels
        kernel_size = settings.kernel_size
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

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes, float32[M, C, H, W], to policy logits and value logits.

        The policy logits are float32[M, A]; the value logits are float32[M, 3] for a win/draw/loss
        head and float32[M, 1] for a scalar head.
        """
        x = self.stem(planes)
        if self.position_bias is not None:
            x += self.position_bias.to(x.dtype)  # keeps x in half precision
        x = self.tower(torch.relu_(x))
        policy_features = torch.relu_(self.policy_conv(x)).flatten(1)
        value_features = torch.relu_(self.value_conv(x)).flatten(1)
        hidden = torch.relu_(self.value_hidden(value_features))
        return NetworkOutput(self.policy(policy_features), self.value(hidden))


def folded(network: nn.Module) -> nn.Module:
    """Return a copy of a network in evaluation mode, with every `ConvNorm` folded.

    Folding merges batch normalization into the convolution before it, without changing the outputs.
    """
    network = copy.deepcopy(network).eval()
    for module in network.modules():
        if isinstance(module, ConvNorm):
            module.fold()
    return network
