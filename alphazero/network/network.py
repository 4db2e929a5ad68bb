"""The policy/value network: a pure function of tensors. Masking, softmax and devices belong to its caller.

In: planes of the player to move. Out: a logit for each action, and the value head's logits. Two kinds: the residual tower of AlphaZero (Silver
et al. 2018, supplement, "Representation" and "Architecture"), with sizes that fit a laptop, and the tiny one of the published notebook recipe
(one small convolution, one layer of shared units, two linear heads).

The residual network may have auxiliary heads, whose only use is what the trunk learns from them: the opponent's reply (D. Wu, KataGo, arXiv
1902.10565, section 3.4), who owns each cell when the game ends, and by how much the game ends (section 4.1). Search never runs them: `folded` leaves
them out.

Where a game is won by so many in a row, the residual network can be shown, beside the planes, which cells would complete a line: knowledge of such
games, as KataGo's planes of liberties and ladders are knowledge of Go (section 4.2).
"""

import copy
import dataclasses
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from alphazero.runtime.settings import option


@dataclasses.dataclass
class NetworkSettings:
    """The shape of the network."""

    kind: str = option(
        "resnet",
        "resnet is a residual tower; tiny is one convolution and one layer of shared units",
        choices=("resnet", "tiny"),
    )
    blocks: int = option(4, "residual blocks (AlphaZero: 19)", low=0, high=80)
    channels: int = option(48, "channels of every convolution (AlphaZero: 256)", low=1, high=2048)
    kernel_size: int = option(3, "side of the convolutions' kernels (AlphaZero: 3)", low=1, high=9)
    position_bias: bool = option(
        False,
        "a learned number for each cell and channel behind the first convolution: tells rows and columns apart",
    )
    line_length: int = option(
        0,
        "show the residual network also the empty cells that would complete a line of so many (Connect Four: 4); the first two planes are the pieces; 0: none",
        low=0,
        high=64,
    )
    head_channels: int = option(
        8,
        "channels of the 1x1 convolution in front of each head (AlphaZero: 2 and 1)",
        low=1,
        high=256,
    )
    value_units: int = option(
        64, "hidden units of the value head (AlphaZero: 256)", low=1, high=4096
    )
    shared_units: int = option(
        32, "units that both heads of the tiny network share", low=1, high=4096
    )
    value_head: str = option(
        "wdl",
        "wdl predicts win, draw and loss; scalar predicts one number (AlphaZero: scalar)",
        choices=("wdl", "scalar"),
    )
    reply_head: bool = option(
        False,
        "learn also what the search will say of the next position, the reply (KataGo: true); costs search nothing",
    )
    ownership_head: bool = option(
        False,
        "learn also who owns each cell when the game ends (KataGo: true); costs search nothing",
    )
    margin_head: bool = option(
        False,
        "learn also the difference of pieces when the game ends (KataGo: true); for games such as Othello; costs search nothing",
    )


AUXILIARY_HEADS = ("reply_head", "ownership_head", "margin_head")  # settings


class NetworkOutput(NamedTuple):
    """What the network says of M positions."""

    prior_logits: torch.Tensor  #: [M, A]
    value_logits: (
        torch.Tensor
    )  #: [M, 3] for win, draw, loss of the player to move, or [M, 1] before tanh
    reply_logits: torch.Tensor | None = (
        None  #: [M, A], of the search's action weights in the next position; None in the three: no such head
    )
    ownership_logits: torch.Tensor | None = (
        None  #: [M, H*W], of the chance that the player to move owns the cell at the end of the game
    )
    margin_logits: torch.Tensor | None = (
        None  #: [M, 1], before tanh, of the final difference of pieces as a share of the cells, player to move
    )


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


class Completions(nn.Module):
    """Appends two planes: the empty cells that would complete a line of ``length`` pieces of the player to move, and those of the other player.

    The first two planes must hold the pieces of either player. A line, in any of four directions, is counted by a kernel of ones that leaves the cell
    itself out; counts are small whole numbers, the same in every number format.
    """

    def __init__(self, length: int):
        super().__init__()
        self.length = length
        self.register_buffer("lines", _lines_without_a_cell(length), persistent=False)

    def forward(self, planes):
        pieces = planes[:, :2]
        _, players, height, width = pieces.shape
        counts = functional.conv2d(
            pieces.reshape(-1, 1, height, width),
            self.lines.to(planes.dtype),
            padding=self.length - 1,
        )
        completing = torch.relu(counts.amax(dim=1) - (self.length - 2)).reshape(
            -1, players, height, width
        )
        return torch.cat([planes, completing * (1 - pieces.sum(dim=1, keepdim=True))], dim=1)


class ResidualBlock(nn.Module):
    """Two convolutions and a skip connection (He et al. 2016)."""

    def __init__(self, channels: int, kernel_size: int):
        super().__init__()
        self.first = ConvNorm(channels, channels, kernel_size)
        self.second = ConvNorm(channels, channels, kernel_size)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class ResidualNetwork(nn.Module):
    """A stem, residual blocks, and two heads behind 1x1 convolutions; as in KataGo, the auxiliary heads stand on the features of these two."""

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        num_planes, height, width = planes_shape
        cells = height * width
        self.completions = Completions(settings.line_length) if settings.line_length else None
        self.stem = ConvNorm(
            num_planes + (2 if settings.line_length else 0), settings.channels, settings.kernel_size
        )
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
        self.value = nn.Linear(settings.value_units, _num_value_logits(settings))
        # After all others, so that the same seed gives them the same first weights with these heads and without.
        self.reply = (
            nn.Linear(settings.head_channels * cells, num_actions) if settings.reply_head else None
        )
        self.ownership = (
            nn.Conv2d(settings.head_channels, 1, 1) if settings.ownership_head else None
        )
        self.margin = nn.Linear(settings.value_units, 1) if settings.margin_head else None

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes [M, C, H, W] to the logits of every head that the network has."""
        x = self.stem(planes if self.completions is None else self.completions(planes))
        if self.position_bias is not None:
            x = x + self.position_bias.to(x.dtype)  # so that a half-precision trunk stays one
        x = self.tower(torch.relu(x))
        policy_features = torch.relu(self.policy_conv(x)).flatten(1)
        value_features = torch.relu(self.value_conv(x))
        hidden = torch.relu(self.value_hidden(value_features.flatten(1)))
        return NetworkOutput(
            self.policy(policy_features),
            self.value(hidden),
            None if self.reply is None else self.reply(policy_features),
            None if self.ownership is None else self.ownership(value_features).flatten(1),
            None if self.margin is None else self.margin(hidden),
        )

    def drop_auxiliary_heads(self) -> None:
        """Keep policy and value alone."""
        self.reply = self.ownership = self.margin = None


class TinyNetwork(nn.Module):
    """One convolution without padding, one layer of shared units, two linear heads."""

    def __init__(
        self, planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings
    ):
        super().__init__()
        num_planes, height, width = planes_shape
        side = settings.kernel_size - 1
        self.conv = nn.Conv2d(num_planes, settings.channels, settings.kernel_size)
        self.shared = nn.Linear(
            settings.channels * (height - side) * (width - side), settings.shared_units
        )
        self.policy = nn.Linear(settings.shared_units, num_actions)
        self.value = nn.Linear(settings.shared_units, _num_value_logits(settings))
        self.register_buffer(
            "_patches", _patch_cells(planes_shape, settings.kernel_size), persistent=False
        )

    def forward(self, planes: torch.Tensor) -> NetworkOutput:
        """Map planes [M, C, H, W] to logits."""
        x = torch.relu(self.shared(torch.relu(self.conv(planes)).flatten(1)))
        return NetworkOutput(self.policy(x), self.value(x))

    @torch.no_grad()
    def backpropagate(self, planes: torch.Tensor, output_gradients) -> NetworkOutput:
        """Map planes to logits and set the gradient of every weight, by hand.

        The same numbers as autograd's, up to rounding. In a network this small autograd's bookkeeping costs more than the arithmetic: without it a
        whole step of the learner takes half the time (64 rows of Connect Four).

        Args:
            planes: float32[M, C, H, W], contiguous.
            output_gradients: maps the output to the loss's gradients by its two fields.
        """
        conv, shared, channels = self.conv, self.shared, self.conv.out_channels
        # The convolution is a product of matrices, with the channels last; the shared units' weights are put in the same order.
        patches = planes.flatten(1).index_select(1, self._patches).view(-1, conv.weight[0].numel())
        features = (
            torch.addmm(conv.bias, patches, conv.weight.flatten(1).t())
            .relu_()
            .view(len(planes), -1)
        )
        shared_weight = _swapped(shared.weight, channels)
        units = torch.addmm(shared.bias, features, shared_weight.t()).relu_()
        output = NetworkOutput(self.policy(units), self.value(units))

        policy_gradient, value_gradient, *_ = output_gradients(output)
        for linear, gradient in ((self.policy, policy_gradient), (self.value, value_gradient)):
            linear.weight.grad, linear.bias.grad = gradient.t() @ units, gradient.sum(dim=0)
        # What a relu lets through is its output's sign; a product with that takes 5 us, one with a comparison 26.
        units_gradient = torch.addmm(
            policy_gradient @ self.policy.weight, value_gradient, self.value.weight
        ).mul_(units.sign())
        shared.weight.grad = _swapped(units_gradient.t() @ features, features.shape[1] // channels)
        shared.bias.grad = units_gradient.sum(dim=0)
        features_gradient = (
            (units_gradient @ shared_weight).mul_(features.sign()).view(-1, channels)
        )
        conv.weight.grad = (
            (patches.t() @ features_gradient).t().reshape(conv.weight.shape).contiguous()
        )
        conv.bias.grad = features_gradient.sum(dim=0)
        return output


def make_network(
    planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings, seed: int = 0
) -> nn.Module:
    """Return a freshly initialised network for a game of these sizes; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        kind = {"resnet": ResidualNetwork, "tiny": TinyNetwork}[settings.kind]
        return kind(planes_shape, num_actions, settings)


def folded(network: nn.Module) -> nn.Module:
    """Return a copy for inference: policy and value alone, every batch normalisation folded into its convolution; the original is left alone."""
    network = copy.deepcopy(network).eval()
    if isinstance(network, ResidualNetwork):
        network.drop_auxiliary_heads()
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


def _lines_without_a_cell(length: int) -> torch.Tensor:
    """Return a kernel of ones for each line through the middle cell, which itself is left out: float32[4 * length, 1, 2 * length - 1, 2 * length - 1]."""
    lines = torch.zeros(4, length, 2 * length - 1, 2 * length - 1)
    for direction, (down, right) in enumerate(((0, 1), (1, 0), (1, 1), (1, -1))):
        for before in range(length):
            for step in set(range(-before, length - before)) - {0}:
                lines[direction, before, length - 1 + step * down, length - 1 + step * right] = 1.0
    return lines.flatten(0, 1).unsqueeze(1)


def _patch_cells(planes_shape: tuple[int, int, int], kernel_size: int) -> torch.Tensor:
    """Return the flat indices of the planes' cells under the kernel, int64[places of the kernel * C * kernel_size^2]."""
    num_planes, height, width = planes_shape
    cells = torch.arange(num_planes * height * width).view(planes_shape)
    patches = cells.unfold(1, kernel_size, 1).unfold(
        2, kernel_size, 1
    )  # [C, H', W', kernel_size, kernel_size]
    return patches.permute(1, 2, 0, 3, 4).flatten()


def _swapped(weights: torch.Tensor, size: int) -> torch.Tensor:
    """Return weights [N, size * other] with the two factors of the columns in the other order: [N, other * size]."""
    return weights.unflatten(1, (size, -1)).transpose(1, 2).flatten(1)


def _num_value_logits(settings: NetworkSettings) -> int:
    return 3 if settings.value_head == "wdl" else 1
