"""The average of the weights of many steps: a network that plays better than any one of them, for the noise of single batches cancels.

In: the network after each step. Out: a network of the same shape, for play alone; learning goes on from the weights that are not averaged. Weight
averaging is P. Izmailov et al. 2018 (arXiv 1803.05407), which KataGo (arXiv 1902.10565, appendix C) and Leela Chess Zero play with; the moving form
is that of B. Polyak and of A. Tarvainen and H. Valpola 2017 (arXiv 1703.01780).
"""

import copy

import torch


class WeightAverage:
    """An exponential moving average over steps.

    The statistics of batch normalisation are averaged as weights are: over so many steps they move as slowly as the weights that they belong to.

    Args:
        network: where the average begins; it is copied.
        half_life_steps: after so many further steps, a step counts half as much; above 0.
    """

    def __init__(self, network: torch.nn.Module, half_life_steps: float):
        self.network = copy.deepcopy(network).eval().requires_grad_(False)
        self.num_steps = 0
        self._newest_share = 1 - 0.5 ** (1 / half_life_steps)
        self._averages = _numbers(self.network)

    @torch.no_grad()
    def add(self, network: torch.nn.Module) -> None:
        """Take the weights of one more step into the average.

        average += share * (weights - average), with the half-life's share, or 1 / num_steps while that is more: at first this is the plain mean of
        all steps, so that the random weights that a run begins with are forgotten at once.
        """
        self.num_steps += 1
        share = max(self._newest_share, 1 / self.num_steps)
        torch._foreach_lerp_(self._averages, _numbers(network), share)


def _numbers(network: torch.nn.Module) -> list[torch.Tensor]:
    """Return the tensors that can be averaged: all but counters and tables of indices."""
    return [tensor for tensor in (*network.parameters(), *network.buffers()) if tensor.is_floating_point()]
