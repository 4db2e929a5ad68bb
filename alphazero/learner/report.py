"""The learner's reports, and the running sums from which they are computed.

The losses are compared with those of an uninformed predictor, which gives all legal actions equal
probabilities and predicts the mean of the value targets in every position.
"""

import dataclasses
import math
from math import nan

import torch

from alphazero.learner.gradients import Answers
from alphazero.learner.loss import Targets, masked_log_softmax
from alphazero.network.interface import expected_value

_NUM_BINS = 10  # bins of predicted values, for the calibration error
_MEANS = "loss policy_loss value_loss policy_entropy target_entropy value_error gradient_norm"


@dataclasses.dataclass
class LearnerReport:
    """Metrics of one iteration's training, mostly means over every eighth step, which is measured.

    NaN means that no step has been measured.
    """

    num_steps: int = 0  #: number of steps, measured or not
    loss: float = nan  #: the weighted sum of policy and value loss
    policy_loss: float = nan  #: cross-entropy, in nats
    value_loss: float = nan  #: cross-entropy in nats (win/draw/loss), or squared error (scalar)
    policy_entropy: float = nan  #: entropy of the network's policy, in nats
    target_entropy: float = nan  #: entropy of the policy target, in nats
    value_error: float = nan  #: mean absolute difference between predicted value and result
    #: mean absolute difference between mean predicted value and mean result, over groups of
    #: samples with similar predicted values
    calibration_error: float = nan
    gradient_norm: float = nan  #: norm of all gradients together, before clipping
    weight_norm: float = nan  #: norm of all weights together, after the last step
    learning_rate: float = nan  #: the rate during this iteration
    uninformed_policy_loss: float = nan  #: policy loss of an uninformed predictor
    uninformed_value_loss: float = nan  #: value loss of an uninformed predictor
    weight_size: float = nan  #: root mean square of the weights after the last step
    #: mean loss over all steps of each epoch; None unless `LearnerSettings.epochs` is set
    epoch_losses: list[float] | None = None


@dataclasses.dataclass
class HeldOutReport:
    """Mean losses on held-out samples: those of new games, before training on them.

    Unlike training losses, these do not fall because of overfitting.
    """

    num_samples: int = 0  #: number of held-out samples
    loss: float = nan  #: the weighted sum of policy and value loss
    policy_loss: float = nan  #: cross-entropy, in nats
    value_loss: float = nan  #: cross-entropy in nats (win/draw/loss), or squared error (scalar)


class UninformedLoss:
    """Computes the losses of an uninformed predictor on the samples added so far.

    The predictor gives all legal actions equal probabilities and predicts the mean of the value
    targets in every position.

    Args:
        device: the torch device of the targets.
    """

    def __init__(self, device: torch.device):
        # Sums over the samples: their number; the log of the number of legal actions; the columns
        # of the value targets (win/draw/loss), or the values and their squares (scalar).
        self._sums = torch.zeros(5, device=device)
        self._is_scalar = False

    def add(self, targets: Targets) -> None:
        """Add the targets of a batch to the running sums."""
        values = targets.values
        self._is_scalar = values.shape[1] == 1
        if self._is_scalar:
            values = torch.cat([values, values * values], dim=1)
        self._sums[0] += len(values)
        num_legal = targets.legal_action_mask.sum(dim=1)
        self._sums[1] += num_legal.clamp_min(1).log().sum()
        self._sums[2 : 2 + values.shape[1]] += values.sum(dim=0)

    def losses(self) -> tuple[float, float]:
        """Return the mean policy loss and value loss; both are NaN if no samples were added.

        The cross-entropy of targets with mean m against m is -sum m * log m. The mean square of
        their distance from m is the mean of the squares minus m^2.
        """
        num_samples, log_legal, *sums = self._sums.tolist()
        if num_samples == 0:
            return math.nan, math.nan
        policy_loss = log_legal / num_samples
        means = [total / num_samples for total in sums]
        if self._is_scalar:
            variance = means[1] - means[0] ** 2
            return policy_loss, max(variance, 0.0)
        entropy = -sum(mean * math.log(mean) for mean in means if mean > 0)
        return policy_loss, entropy


class TrainingStatistics:
    """Sums up the losses and other metrics of an iteration's measured steps.

    The sums stay on the device until the report, because reading a number waits for the device.

    Args:
        device: the torch device of the network's outputs.
        value_weight: weight of the value loss in the total loss.
    """

    def __init__(self, device: torch.device, value_weight: float):
        self._value_weight = value_weight
        self._num_measured = 0
        self._sums = torch.zeros(7, device=device)
        # For each bin of predicted values: number of samples, sum of v, sum of z.
        self._calibration = torch.zeros((3, _NUM_BINS), device=device)
        self._uninformed = UninformedLoss(device)

    @torch.no_grad()
    def add(self, answers: Answers, outcomes: torch.Tensor, gradient_norm: torch.Tensor) -> None:
        """Add the metrics of one step to the sums.

        Args:
            answers: the network's predictions and losses for M samples.
            outcomes: float32[M], the games' results in [-1, 1], for the player to move.
            gradient_norm: scalar, norm of all gradients before clipping.
        """
        output, targets, parts = answers
        log_policy = masked_log_softmax(output.prior_logits, targets.legal_action_mask)
        log_target = targets.action_weights.clamp_min(1e-30).log()
        values = expected_value(output.value_logits)
        numbers = [
            parts.total(self._value_weight),
            parts.policy,
            parts.value,
            -(log_policy.exp() * log_policy).sum(dim=1).mean(),
            -(targets.action_weights * log_target).sum(dim=1).mean(),
            (values - outcomes).abs().mean(),
            gradient_norm,
        ]
        self._sums += torch.stack(numbers)
        self._num_measured += 1
        bins = ((values + 1) * (_NUM_BINS / 2)).long().clamp(0, _NUM_BINS - 1)
        columns = torch.stack([torch.ones_like(values), values, outcomes])
        self._calibration.index_add_(1, bins, columns)
        self._uninformed.add(targets)

    @torch.no_grad()
    def report(self, network: torch.nn.Module, num_steps: int, rate: float) -> LearnerReport:
        """Compute an iteration's report from the sums.

        Args:
            network: the network after the last step, for the norm of its weights.
            num_steps: number of steps in the iteration, measured or not.
            rate: the learning rate during the iteration.
        """
        means = (self._sums / max(self._num_measured, 1)).tolist()
        num_samples, values, results = self._calibration
        calibration_error = (values - results).abs().sum() / num_samples.sum().clamp_min(1)
        uninformed_policy_loss, uninformed_value_loss = self._uninformed.losses()
        parameters = list(network.parameters())
        num_weights = sum(parameter.numel() for parameter in parameters)
        squares = [float((parameter**2).sum()) for parameter in parameters]
        weight_norm = math.sqrt(sum(squares))
        return LearnerReport(
            **dict(zip(_MEANS.split(), means)),
            num_steps=num_steps,
            calibration_error=float(calibration_error),
            weight_norm=weight_norm,
            learning_rate=rate,
            uninformed_policy_loss=uninformed_policy_loss,
            uninformed_value_loss=uninformed_value_loss,
            weight_size=weight_norm / math.sqrt(num_weights),
        )
