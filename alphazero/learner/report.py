"""What the learner reports, and the sums that a report is made from.

In: outputs, targets and losses of the measured steps. Out: `LearnerReport`.
"""

import dataclasses
import math

import torch

from alphazero.learner.loss import Losses, Targets, masked_log_softmax
from alphazero.learner.uninformed_loss import UninformedLoss
from alphazero.network.interface import NetworkOutput, expected_value

_NUM_BINS = 10  # of predicted values, for the calibration error


@dataclasses.dataclass
class LearnerReport:
    """Means over the measured steps of an iteration."""

    num_steps: int = 0
    loss: float = math.nan  #: weighted sum of the losses below
    policy_loss: float = math.nan  #: cross-entropy of the network's policy and the target, nats
    value_loss: float = math.nan  #: cross-entropy (win/draw/loss) or squared error (scalar)
    policy_entropy: float = math.nan  #: of the network's policy over the legal actions, nats
    target_entropy: float = math.nan  #: of the policy target, nats
    value_error: float = math.nan  #: mean |v - z|, where z is the game's result
    #: expected calibration error: mean of |mean v - mean z| over ten bins of v, weighted by samples
    calibration_error: float = math.nan
    gradient_norm: float = math.nan  #: before clipping
    weight_norm: float = math.nan
    learning_rate: float = math.nan
    uninformed_policy_loss: float = math.nan  #: policy loss of equal probabilities
    uninformed_value_loss: float = math.nan  #: value loss of the mean value target
    weight_size: float = math.nan  #: root of the mean squared weight
    #: mean loss of all steps of each epoch; None unless the settings count epochs
    epoch_losses: list[float] | None = None


@dataclasses.dataclass
class HeldOutReport:
    """Held-out losses: measured on new games before training on them.

    Overfitting cannot lower them.
    """

    num_samples: int = 0
    loss: float = math.nan  #: policy loss + value_weight * value loss
    policy_loss: float = math.nan
    value_loss: float = math.nan


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
        output: NetworkOutput,
        targets: Targets,
        outcomes: torch.Tensor,
        parts: Losses,
        gradient_norm: torch.Tensor,
    ) -> None:
        """Add a step.

        Args:
            outcomes: int8[M], results from the viewpoint of the player to move.
            parts: the losses of ``output``.
        """
        log_policy = masked_log_softmax(output.prior_logits, targets.legal_action_mask)
        log_target = targets.action_weights.clamp_min(1e-30).log()
        values, results = expected_value(output.value_logits), outcomes.float()
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
        loss, policy, value, entropy, target_entropy, value_error, gradient_norm = means
        num_samples, values, results = self._calibration
        uninformed_policy_loss, uninformed_value_loss = self._uninformed.losses()
        parameters = list(network.parameters())
        num_weights = sum(parameter.numel() for parameter in parameters)
        weight_norm = math.sqrt(sum(float((parameter**2).sum()) for parameter in parameters))
        return LearnerReport(
            num_steps=num_steps,
            loss=loss,
            policy_loss=policy,
            value_loss=value,
            policy_entropy=entropy,
            target_entropy=target_entropy,
            value_error=value_error,
            calibration_error=float(
                (values - results).abs().sum() / num_samples.sum().clamp_min(1)
            ),
            gradient_norm=gradient_norm,
            weight_norm=weight_norm,
            learning_rate=rate,
            uninformed_policy_loss=uninformed_policy_loss,
            uninformed_value_loss=uninformed_value_loss,
            weight_size=weight_norm / math.sqrt(num_weights),
        )
