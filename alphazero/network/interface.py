"""What every network has: its settings, its outputs, and the value that they stand for."""

import dataclasses
from typing import NamedTuple

import torch

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
    ownership_head: bool = option(
        False,
        "learn also who owns each cell when the game ends (KataGo: true); costs search nothing",
    )


class NetworkOutput(NamedTuple):
    """What the network says of M positions."""

    prior_logits: torch.Tensor  #: [M, A]
    value_logits: (
        torch.Tensor
    )  #: [M, 3] for win, draw, loss of the player to move, or [M, 1] before tanh
    ownership_logits: torch.Tensor | None = (
        None  #: [M, H*W], of the chance that the player to move owns the cell at the end of the game; None: no such head
    )


def expected_value(value_logits: torch.Tensor) -> torch.Tensor:
    """Return the value in [-1, 1], [M], from the viewpoint of the player to move: P(win) - P(loss), or tanh of the scalar head."""
    if value_logits.shape[-1] == 1:
        return torch.tanh(value_logits.squeeze(-1))
    probabilities = torch.softmax(value_logits, dim=-1)
    return probabilities[..., 0] - probabilities[..., 2]


def num_value_logits(settings: NetworkSettings) -> int:
    return 3 if settings.value_head == "wdl" else 1
