"""The loss, and its gradients at the network's outputs.

In: logits of the network and rows of the replay. Out: the loss's parts, or what backpropagation starts from. Loss = (z - v)^2 - pi . log p
(Silver et al. 2018, equation 1), or with a win/draw/loss head the cross-entropy of its three probabilities in the place of the square. Auxiliary
heads add a term each (D. Wu, KataGo, arXiv 1902.10565, sections 3.4 and 4.1). All have gradients that fit in a line, so that autograd need not
record a loss at every step; the loss itself is worked out only when it is to be reported.
"""

from typing import NamedTuple

import torch
from torch.nn import functional

from alphazero.network.interface import NetworkOutput, expected_value

_NEVER = -1e30  # the logit of an illegal action: its probability is 0 beside any legal one, and a row without legal ones gives no NaN


class Targets(NamedTuple):
    """What the network is to say of M positions."""

    action_weights: torch.Tensor  #: float32[M, A]
    legal_action_mask: torch.Tensor  #: bool[M, A]
    values: torch.Tensor  #: float32[M, 3], probabilities of win, draw and loss, or float32[M, 1], of the player to move
    owners: torch.Tensor | None = (
        None  #: int8[M, H*W], each cell at the end of the game: 1 of the player to move, -1 of the other, 0 of nobody
    )


class LossWeights(NamedTuple):
    """What each part of the loss counts beside the policy's."""

    value: float = 1.0
    ownership: float = 0.0


class Losses(NamedTuple):
    """The parts of the loss, means over the rows, each a tensor of one number; None for a head that the network lacks."""

    policy: torch.Tensor
    value: torch.Tensor
    ownership: torch.Tensor | None = None  #: mean over the cells too

    def total(self, weights: LossWeights) -> torch.Tensor:
        """Return the weighted sum, which learning makes small."""
        return self.policy + sum(
            weight * part for weight, part in zip(weights, self[1:]) if part is not None
        )


def value_targets(
    outcomes: torch.Tensor,
    root_values: torch.Tensor,
    root_value_fraction: float,
    num_value_logits: int,
) -> torch.Tensor:
    """Return `Targets.values`, a mixture of the game's result with the search's value.

    Args:
        outcomes: int8[M].
        root_values: float32[M].
    """
    if num_value_logits == 1:
        return torch.lerp(outcomes.float(), root_values, root_value_fraction).unsqueeze(1)
    return torch.lerp(
        _win_draw_loss(outcomes.float()), _win_draw_loss(root_values), root_value_fraction
    )


def losses(output: NetworkOutput, targets: Targets) -> Losses:
    """Return the policy's cross-entropy, the value's loss, and those of the auxiliary heads that the network has."""
    log_policy = masked_log_softmax(output.prior_logits, targets.legal_action_mask)
    policy_loss = -(targets.action_weights * log_policy).sum(dim=1).mean()
    if output.value_logits.shape[1] == 1:
        value_loss = functional.mse_loss(
            expected_value(output.value_logits), targets.values.squeeze(1)
        )
    else:
        value_loss = functional.cross_entropy(output.value_logits, targets.values)
    ownership_loss = None
    if output.ownership_logits is not None:
        ownership_loss = functional.binary_cross_entropy_with_logits(
            output.ownership_logits, _shares(targets.owners)
        )
    return Losses(policy_loss, value_loss, ownership_loss)


def loss_gradients(output: NetworkOutput, targets: Targets, weights: LossWeights) -> NetworkOutput:
    """Return the gradients of `Losses.total` by the fields of ``output``.

    By the logits of a softmax p, the gradient of the cross-entropy -q . log p is p * sum(q) - q; by the logit of a sigmoid p, that of its two-sided
    form is p - q.
    """
    num_rows, ownership = len(targets.action_weights), None
    policy = (
        _softmax_gradient(
            output.prior_logits.masked_fill(~targets.legal_action_mask, _NEVER),
            targets.action_weights,
        )
        / num_rows
    )
    if targets.values.shape[1] == 1:
        value = _tanh_gradient(output.value_logits, targets.values) * (weights.value / num_rows)
    else:
        value = (torch.softmax(output.value_logits, dim=1) - targets.values) * (
            weights.value / num_rows
        )
    if output.ownership_logits is not None:
        ownership = (torch.sigmoid(output.ownership_logits) - _shares(targets.owners)) * (
            weights.ownership / targets.owners.numel()
        )
    return NetworkOutput(policy, value, ownership)


def masked_log_softmax(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return log probabilities over the legal actions, [M, A]; an illegal action gets 0, so that 0 * log 0 is 0 and never NaN."""
    log_policy = functional.log_softmax(logits.masked_fill(~mask, _NEVER), dim=1)
    return log_policy.masked_fill(~mask, 0.0)


def _softmax_gradient(logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the gradient of -weights . log softmax(logits), for each row alone."""
    return torch.softmax(logits, dim=1) * weights.sum(dim=1, keepdim=True) - weights


def _tanh_gradient(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """Return the gradient of (tanh(x) - z)^2, for each row alone."""
    value = torch.tanh(x)
    return 2 * (value - z) * (1 - value * value)


def _shares(owners: torch.Tensor) -> torch.Tensor:
    """Return the chance that the player to move owns each cell: 1, 0, or 1/2 of a cell that is nobody's."""
    return (owners.float() + 1) / 2


def _win_draw_loss(values: torch.Tensor) -> torch.Tensor:
    """Return the win/draw/loss probabilities, [M, 3], with the given expectation and the most draws: exact for results, a choice between."""
    decided = values.abs()
    return torch.stack([(decided + values) / 2, 1 - decided, (decided - values) / 2], dim=1)
