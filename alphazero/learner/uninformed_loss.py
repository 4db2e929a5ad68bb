"""What a network that knows nothing would lose on the same rows: the yardstick for the losses of one that learns.

In: targets, batch by batch. Out: two losses, in the units of `alphazero.learner.loss.losses`. The policy that knows nothing gives every legal action the
same probability; the value that knows nothing answers the mean target of the rows, whatever the position. Costs a few sums for each batch.
"""

import math

import torch

from alphazero.learner.loss import Targets


class Baseline:
    """Sums over the rows seen so far.

    Args:
        device: where the targets are.
    """

    def __init__(self, device: torch.device):
        self._sums = torch.zeros(
            5, device=device
        )  # rows, log of the number of legal actions, three columns of values or values and their squares
        self._is_scalar = False

    def add(self, targets: Targets) -> None:
        """Take the rows of a batch."""
        values = targets.values
        self._is_scalar = values.shape[1] == 1
        if self._is_scalar:
            values = torch.cat([values, values * values], dim=1)
        self._sums[0] += len(values)
        self._sums[1] += targets.legal_action_mask.sum(dim=1).clamp_min(1).log().sum()
        self._sums[2 : 2 + values.shape[1]] += values.sum(dim=0)

    def losses(self) -> tuple[float, float]:
        """Return the policy's and the value's loss, nats or squares, NaN where no row was seen.

        Cross-entropy of targets t against their own mean m is -sum m * log m; the mean square of t - m is mean t^2 - m^2.
        """
        num_rows, log_legal, *sums = self._sums.tolist()
        if num_rows == 0:
            return math.nan, math.nan
        means = [total / num_rows for total in sums]
        if self._is_scalar:
            return log_legal / num_rows, max(means[1] - means[0] ** 2, 0.0)
        return log_legal / num_rows, -sum(mean * math.log(mean) for mean in means if mean > 0)
