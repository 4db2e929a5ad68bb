"""The loss of an uninformed predictor: the scale on which the losses of a network are judged.

In: targets, batch by batch. Out: two losses in the units of `alphazero.learner.loss.losses`. The
uninformed policy gives every legal action the same probability. The uninformed value is the mean of
the value targets, whatever the position. Cost: a few sums per batch.
"""

import math

import torch

from alphazero.learner.loss import Targets


class UninformedLoss:
    """Sums over the samples seen so far.

    Args:
        device: where the targets are.
    """

    def __init__(self, device: torch.device):
        # Number of samples; log of the number of legal actions; then the columns of the value
        # targets (win/draw/loss), or the values and their squares (scalar).
        self._sums = torch.zeros(5, device=device)
        self._is_scalar = False

    def add(self, targets: Targets) -> None:
        """Add the samples of a batch."""
        values = targets.values
        self._is_scalar = values.shape[1] == 1
        if self._is_scalar:
            values = torch.cat([values, values * values], dim=1)
        self._sums[0] += len(values)
        self._sums[1] += targets.legal_action_mask.sum(dim=1).clamp_min(1).log().sum()
        self._sums[2 : 2 + values.shape[1]] += values.sum(dim=0)

    def losses(self) -> tuple[float, float]:
        """Return the policy loss and the value loss; NaN if there were no samples.

        The cross-entropy of targets with mean m against m is -sum m * log m. The mean square of
        their distance to m is the mean of the squares minus m^2.
        """
        num_samples, log_legal, *sums = self._sums.tolist()
        if num_samples == 0:
            return math.nan, math.nan
        means = [total / num_samples for total in sums]
        if self._is_scalar:
            return log_legal / num_samples, max(means[1] - means[0] ** 2, 0.0)
        entropy = -sum(mean * math.log(mean) for mean in means if mean > 0)
        return log_legal / num_samples, entropy
