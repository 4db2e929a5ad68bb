"""What the learner reports, and the sums that a report is made from.

In: the network's answers in the measured steps. Out: `LearnerReport`.
"""

import dataclasses
import math
from math import nan

import torch

from alphazero.learner.gradients import Answers
from alphazero.learner.loss import masked_log_softmax
from alphazero.learner.uninformed_loss import UninformedLoss
from alphazero.network.interface import expected_value

_NUM_BINS = 10  # of predicted values, for the calibration error
_MEANS = "loss policy_loss value_loss policy_entropy target_entropy value_error gradient_norm"


@dataclasses.dataclass
class LearnerReport:
    """Means over the measured steps of an iteration."""

    num_steps: int = 0
    loss: float = nan
    policy_loss: float = nan
    value_loss: float = nan
    policy_entropy: float = nan
    target_entropy: float = nan
    value_error: float = nan
    calibration_error: float = nan
    gradient_norm: float = nan
    weight_norm: float = nan
    learning_rate: float = nan
    uninformed_policy_loss: float = nan
    uninformed_value_loss: float = nan
    weight_size: float = nan
    #: mean loss of all steps of each epoch; None unless the settings count epochs
    epoch_losses: list[float] | None = None


@dataclasses.dataclass
class HeldOutReport:
    """Held-out losses: measured on new games before training on them.

    Overfitting cannot lower them.
    """

    num_samples: int = 0
    loss: float = nan
    policy_loss: float = nan
    value_loss: float = nan


class TrainingStatistics:
    """Sums over the measured steps of an iteration.

    They stay on the device until the report, because reading a number waits for the device.
    """

    def __init__(self, device: torch.device, value_weight: float):
        self._value_weight = value_weight
        self._num_measured = 0
        self._sums = torch.zeros(7, device=device)
        # For each bin of predicted values: samples, sum of v, sum of z.
        self._calibration = torch.zeros((3, _NUM_BINS), device=device)
        self._uninformed = UninformedLoss(device)

    @torch.no_grad()
    def add(
        self,
        answers: Answers,
        outcomes: torch.Tensor,
        gradient_norm: torch.Tensor,
    ) -> None:
        """Add a step.

        Args:
            outcomes: float32[M], results from the viewpoint of the player to move.
        """
        output, targets, parts = answers
        log_policy = masked_log_softmax(output.prior_logits, targets.legal_action_mask)
        log_target = targets.action_weights.clamp_min(1e-30).log()
        values = expected_value(output.value_logits)
        results = outcomes
        numbers = [
            parts.total(self._value_weight),
            parts.policy,
            parts.value,
            -(log_policy.exp() * log_policy).sum(dim=1).mean(),
            -(targets.action_weights * log_target).sum(dim=1).mean(),
            (values - results).abs().mean(),
            gradient_norm,
        ]
        self._sums += torch.stack(numbers)
        self._num_measured += 1
        bins = ((values + 1) * (_NUM_BINS / 2)).long().clamp(0, _NUM_BINS - 1)
        columns = torch.stack([torch.ones_like(values), values, results])
        self._calibration.index_add_(1, bins, columns)
        self._uninformed.add(targets)

    @torch.no_grad()
    def report(self, network: torch.nn.Module, num_steps: int, rate: float) -> LearnerReport:
        """Return the report of an iteration.

        Args:
            network: as it is after the last step.
            num_steps: all steps, measured or not.
            rate: the learning rate.
        """
        means = (self._sums / max(self._num_measured, 1)).tolist()
        num_samples, values, results = self._calibration
        uninformed_policy_loss, uninformed_value_loss = self._uninformed.losses()
        parameters = list(network.parameters())
        num_weights = sum(parameter.numel() for parameter in parameters)
        weight_norm = math.sqrt(sum(float((parameter**2).sum()) for parameter in parameters))
        return LearnerReport(
            **dict(zip(_MEANS.split(), means)),
            num_steps=num_steps,
            calibration_error=float(
                (values - results).abs().sum() / num_samples.sum().clamp_min(1)
            ),
            weight_norm=weight_norm,
            learning_rate=rate,
            uninformed_policy_loss=uninformed_policy_loss,
            uninformed_value_loss=uninformed_value_loss,
            weight_size=weight_norm / math.sqrt(num_weights),
        )
