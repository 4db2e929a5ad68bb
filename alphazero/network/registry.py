"""The kinds of policy/value network, and the function that makes one.

A network maps planes from the viewpoint of the player to move to a logit for each action and the
logits of the value head. It is a pure function of tensors: masking, softmax and devices belong to
the caller. To add an architecture, add its class to `_KINDS` and its name to the choices of
`NetworkSettings.kind`.

There are three kinds: the residual tower of AlphaZero (Silver et al. 2018, supplement,
"Representation" and "Architecture") in sizes that fit a laptop, a tiny network, and that of the
published notebook (docs/notebooks.md).
"""

from torch import nn
from torch.random import fork_rng, manual_seed

from alphazero.network.interface import NetworkSettings
from alphazero.network.notebook import NotebookNetwork
from alphazero.network.residual import ResidualNetwork
from alphazero.network.tiny import TinyNetwork

_KINDS = {"resnet": ResidualNetwork, "tiny": TinyNetwork, "notebook": NotebookNetwork}


def make_network(
    planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings, seed: int = 0
) -> nn.Module:
    """Return a network with random weights on the CPU.

    Args:
        planes_shape: (C, H, W), the shape of the game's input planes.
        num_actions: A, the number of policy logits.
        seed: determines the weights. The state of torch's global generator is left unchanged.
    """
    with fork_rng(devices=[]):
        manual_seed(seed)
        return _KINDS[settings.kind](planes_shape, num_actions, settings)
