"""The interface of all networks: their settings, their outputs, and how logits become values.

A network is a `torch.nn.Module`, made by ``Class(planes_shape, num_actions, settings, **options)``:

    planes_shape        (C, H, W), the shape of the game's planes; a vector is (C, 1, 1)
    num_actions         A, the number of policy logits
    settings            `NetworkSettings`; a network may ignore any of them
    options             the keyword arguments in the setting ``network.options``
    forward(planes)     maps float32[M, C, H, W] to a `NetworkOutput`

The planes may lie in memory with their channels last: use `flatten` or `reshape`, not `view`. A
class may define ``check_settings(planes_shape, num_actions, settings)``, a static method that
raises `ConfigError` if the settings do not suit a game; it is called before a run begins.
"""

import dataclasses
from typing import Any, NamedTuple

import torch

from alphazero.config.settings import option


@dataclasses.dataclass
class NetworkSettings:
    """The settings of the network: its architecture, its size and its value head."""

    kind: str = option(
        "resnet",
        "resnet: a residual tower; tiny: one convolution and one layer of shared units; notebook: "
        "the published notebook's, on one plane; windows: what each cell sees in four directions, "
        "the fastest on a CPU; patterns: the same for whole lines of small boards; or "
        "module:Class, a network of your own",
    )
    options: dict[str, Any] | None = option(
        None, "arguments for a network of your own, such as {units: 64}"
    )
    blocks: int = option(4, "residual blocks (AlphaZero: 19)", low=0, high=80)
    channels: int = option(48, "channels of every convolution (AlphaZero: 256)", low=1, high=2048)
    kernel_size: int = option(3, "side of the convolutions' kernels (AlphaZero: 3)", low=1, high=9)
    position_bias: bool = option(
        False,
        "learn a bias for each cell and channel of the first convolution: tells the cells apart",
    )
    head_channels: int = option(
        8, "channels of each head's 1x1 convolution (AlphaZero: 2 and 1)", low=1, high=256
    )
    value_units: int = option(
        64, "hidden units of the value head (AlphaZero: 256)", low=1, high=4096
    )
    policy_units: int = option(
        16, "hidden units of the notebook network's policy head", low=1, high=4096
    )
    shared_units: int = option(
        32, "units of the networks other than resnet that both heads share", low=1, high=4096
    )
    value_head: str = option(
        "wdl",
        "wdl predicts win, draw and loss; scalar predicts one number (AlphaZero: scalar)",
        choices=("wdl", "scalar"),
    )


class NetworkOutput(NamedTuple):
    """A network's predictions for M positions, before softmax or tanh."""

    prior_logits: torch.Tensor  #: [M, A], the policy as logits; illegal actions are not masked
    #: for the player to move: [M, 3], logits of win, draw and loss; for a scalar head, [M, 1], the
    #: value before tanh
    value_logits: torch.Tensor


def expected_value(value_logits: torch.Tensor) -> torch.Tensor:
    """Convert value logits to values for the player to move: float32[M], in [-1, 1].

    The value is P(win) - P(loss) for a win/draw/loss head, and tanh of the logit for a scalar head.

    Args:
        value_logits: for the player to move: [M, 3] for a win/draw/loss head, [M, 1] for a scalar
            head.
    """
    if value_logits.shape[-1] == 1:
        return torch.tanh(value_logits.squeeze(-1))
    probabilities = torch.softmax(value_logits, dim=-1)
    return probabilities[..., 0] - probabilities[..., 2]


def num_value_logits(settings: NetworkSettings) -> int:
    """Return the value head's number of logits: 3 for win, draw and loss, or 1 for a scalar."""
    return 3 if settings.value_head == "wdl" else 1
