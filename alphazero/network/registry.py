"""The policy/value network: a pure function of tensors. Masking, softmax and devices belong to its caller.

In: planes of the player to move. Out: a logit for each action, and the value head's logits. Two kinds: the residual tower of AlphaZero (Silver
et al. 2018, supplement, "Representation" and "Architecture"), with sizes that fit a laptop, and the tiny one of the published notebook recipe
(one small convolution, one layer of shared units, two linear heads).

The residual network may have an auxiliary head that predicts who owns each cell when the game ends. It only helps the trunk to learn (D. Wu, KataGo,
arXiv 1902.10565, section 4.1). Search never runs it: `folded` leaves it out.
"""

import torch
from torch import nn

from alphazero.network.interface import NetworkSettings
from alphazero.network.residual import ResidualNetwork
from alphazero.network.tiny import TinyNetwork


def make_network(
    planes_shape: tuple[int, int, int], num_actions: int, settings: NetworkSettings, seed: int = 0
) -> nn.Module:
    """Return a freshly initialised network for a game of these sizes; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        kind = {"resnet": ResidualNetwork, "tiny": TinyNetwork}[settings.kind]
        return kind(planes_shape, num_actions, settings)
