"""The policy/value network: a pure function of tensors. Masking, softmax and devices belong to its caller.

In: planes of the player to move. Out: a logit for each action, and the value head's logits. Two kinds: the residual tower of AlphaZero (Silver
et al. 2018, supplement, "Representation" and "Architecture"), with sizes that fit a laptop, and the tiny one of the published notebook recipe
(one small convolution, one layer of shared units, two linear heads).
"""

import copy
import dataclasses
from typing import NamedTuple

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from alphazero.config import option


@dataclasses.dataclass
class NetworkSettings:
    """The shape of the network."""

    kind: str = option("resnet", "resnet is a residual tower; tiny is one convolution and one layer of shared units", choices=("resnet", "tiny"))
    blocks: int = option(4, "residual blocks (AlphaZero: 19)", low=0, high=80)
    channels: int = option(48, "channels of every convolution (AlphaZero: 256)", low=1, high=2048)
    kernel_size: int = option(3, "side of the convolutions' kernels (AlphaZero: 3)", low=1, high=9)
    head_channels: int = option(8, "channels of the 1x1 convolution in front of each head (AlphaZero: 2 and 1)", low=1, high=256)
    value_units: int = option(64, "hidden units of the value head (AlphaZero: 256)", low=1, high=4096)
    shared_units: int = option(32, "units that both heads of the tiny network share", low=1, high=4096)
    value_head: str = option("wdl", "wdl predicts win, draw and loss; scalar predicts one number (AlphaZero: scalar)", choices=("wdl", "scalar"))


class NetworkOutput(NamedTuple):
    """What the network says of M positions."""

    prior_logits: torch.Tensor  #: [M, A]
    value_logits: torch.Tensor  #: [M, 3] for win, draw, loss of the player to move, or [M, 1] before tanh


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
    """A stem, residual blocks, and two heads behind 1x1 convolutions."""

    def __init__(self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings):
        super().__init__()
        num_planes, height, width = planes_shape
        cells = height * width
        self.stem = ConvNorm(num_planes, settings.channels, settings.kernel_size)
        self.tower = nn.Sequential(*(ResidualBlock(settings.channels, settings.kernel_size) for _ in range(settings.blocks)))
        self.policy_conv = ConvNorm(settings.channels, settings.head_channels, 1)
        self.policy = nn.Linear(settings.head_channels * cells, num_actions)
        self.value_conv = ConvNorm(settings.channels, settings.head_channels, 1)
        self.value_hidden = nn.Linear(settings.head_channels * cells, settings.value_units)
        self.value = nn.Linear(settings.value_units, _num_value_logits(settings))

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes [M, C, H, W] to logits."""
        x = self.tower(torch.relu(self.stem(planes)))
        prior_logits = self.policy(torch.relu(self.policy_conv(x)).flatten(1))
        hidden = torch.relu(self.value_hidden(torch.relu(self.value_conv(x)).flatten(1)))
        return NetworkOutput(prior_logits, self.value(hidden))


class TinyNetwork(nn.Module):
    """One convolution without padding, one layer of shared units, two linear heads."""

    def __init__(self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings):
        super().__init__()
        num_planes, height, width = planes_shape
        side = settings.kernel_size - 1
        self.conv = nn.Conv2d(num_planes, settings.channels, settings.kernel_size)
        self.shared = nn.Linear(settings.channels * (height - side) * (width - side), settings.shared_units)
        self.policy = nn.Linear(settings.shared_units, num_actions)
        self.value = nn.Linear(settings.shared_units, _num_value_logits(settings))

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes [M, C, H, W] to logits."""
        x = torch.relu(self.shared(torch.relu(self.conv(planes)).flatten(1)))
        return NetworkOutput(self.policy(x), self.value(x))


def make_network(planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings, seed: int = 0) -> nn.Module:
    """Return a freshly initialised network for a game of these sizes; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        kind = {"resnet": ResidualNetwork, "tiny": TinyNetwork}[settings.kind]
        return kind(planes_shape, num_actions, settings)


def folded(network: nn.Module) -> nn.Module:
    """Return a copy for inference, with every batch normalisation folded into its convolution; the original is left alone."""
    network = copy.deepcopy(network).eval()
    for module in network.modules():
        if isinstance(module, ConvNorm):
            module.fold()
    return network


def expected_value(value_logits: torch.Tensor) -> torch.Tensor:
    """Return the value in [-1, 1], [M], from the viewpoint of the player to move: P(win) - P(loss), or tanh of the scalar head."""
    if value_logits.shape[-1] == 1:
        return torch.tanh(value_logits.squeeze(-1))
    probabilities = torch.softmax(value_logits, dim=-1)
    return probabilities[..., 0] - probabilities[..., 2]


def _num_value_logits(settings: NetworkSettings) -> int:
    return 3 if settings.value_head == "wdl" else 1
