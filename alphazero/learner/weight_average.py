"""The moving average of a network's weights, with which search and matches play.

The statistics of batch normalization are not averaged, because they belong to other weights.
`torch.optim.swa_utils.update_bn` measures them again, as Izmailov et al. do (arXiv 1803.05407).
(Connect Four, 2x32 network, half-life of 50 steps, after 133 steps: the loss of an auxiliary head,
since removed, was 0.563 with measured and 0.598 with averaged statistics.)
"""

import copy

import torch


class WeightAverage:
    """An exponential moving average of a network's weights over the learner's steps.

    The first step replaces the initial weights, and early on the average is the plain mean of all
    steps, so the random weights of a new run are forgotten at once (Tarvainen and Valpola 2017,
    arXiv 1703.01780; Izmailov et al. 2018).

    Args:
        network: the network in training, which is copied.
        half_life_steps: number of steps after which a step's weight in the average has halved;
            above 0.

    Attributes:
        network: the copy with the averaged weights, in evaluation mode.
        num_steps: number of steps in the average.
    """

    def __init__(self, network: torch.nn.Module, half_life_steps: float):
        self.network = copy.deepcopy(network).eval().requires_grad_(False)
        self.num_steps = 0
        self._smallest_weight = 1 - 0.5 ** (1 / half_life_steps)

    @torch.no_grad()
    def add(self, network: torch.nn.Module) -> None:
        """Add the weights of a step, without waiting for the device.

        Args:
            network: the network in training.
        """
        weight = max(self._smallest_weight, 1 / (self.num_steps + 1))
        averages, newest = list(self.network.parameters()), list(network.parameters())
        torch._foreach_lerp_(averages, newest, weight)
        self.num_steps += 1
