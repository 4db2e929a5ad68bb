"""The loss, and its gradients at the network's outputs.

In: logits of the network and rows of the replay. Out: the loss's two parts, or what backpropagation starts from. Loss = (z - v)^2 - pi . log p
(Silver et al. 2018, equation 1), or with a win/draw/loss head the cross-entropy of its three probabilities in the place of the square. Both
kinds have gradients that fit in a line, so that autograd need not record a loss at every step; the loss itself is worked out only when it is
to be reported.
"""

from typing import NamedTuple

import torch
from torch.nn import functional

from alphazero.network import NetworkOutput, expected_value

_NEVER = -1e30  # the logit of an illegal action: its probability is 0 beside any legal one, and a row without legal ones gives no NaN


class Targets(NamedTuple):
    """What the network is to say of M positions."""

    action_weights: torch.Tensor  #: float32[M, A]
    legal_action_mask: torch.Tensor  #: bool[M, A]
    values: torch.Tensor  #: float32[M, 3], probabilities of win, draw and loss, or float32[M, 1], of the player to move


def value_targets(outcomes: torch.Tensor, root_values: torch.Tensor, root_value_share: float, num_value_logits: int) -> torch.Tensor:
    """Return `Targets.values`, a mixture of the game's result (int8[M]) with the search's value (float32[M])."""
    if num_value_logits == 1:
        return torch.lerp(outcomes.float(), root_values, root_value_share).unsqueeze(1)
    return torch.lerp(_win_draw_loss(outcomes.float()), _win_draw_loss(root_values), root_value_share)


def losses(output: NetworkOutput, targets: Targets) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the policy's cross-entropy and the value's loss, means over the rows."""
    log_policy = masked_log_softmax(output.prior_logits, targets.legal_action_mask)
    policy_loss = -(targets.action_weights * log_policy).sum(dim=1).mean()
    if output.value_logits.shape[1] == 1:
        return policy_loss, functional.mse_loss(expected_value(output.value_logits), targets.values.squeeze(1))
    return policy_loss, functional.cross_entropy(output.value_logits, targets.values)


def loss_gradients(output: NetworkOutput, targets: Targets, value_weight: float) -> NetworkOutput:
    """Return the gradients of policy loss + value_weight * value loss by the two fields of ``output``.

    By the logits of a softmax p, the gradient of the cross-entropy -q . log p is p * sum(q) - q. By x, that of (tanh(x) - z)^2 is
    2 (tanh(x) - z) (1 - tanh(x)^2).
    """
    weights, mask, values = targets
    num_rows = len(weights)
    policy = torch.softmax(output.prior_logits.masked_fill(~mask, _NEVER), dim=1)
    policy_gradient = (policy * weights.sum(dim=1, keepdim=True) - weights) / num_rows
    if values.shape[1] == 1:
        value = torch.tanh(output.value_logits)
        return NetworkOutput(policy_gradient, (value - values) * (1 - value * value) * (2 * value_weight / num_rows))
    return NetworkOutput(policy_gradient, (torch.softmax(output.value_logits, dim=1) - values) * (value_weight / num_rows))


def masked_log_softmax(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return log probabilities over the legal actions, [M, A]; an illegal action gets 0, so that 0 * log 0 is 0 and never NaN."""
    log_policy = functional.log_softmax(logits.masked_fill(~mask, _NEVER), dim=1)
    return log_policy.masked_fill(~mask, 0.0)


def _win_draw_loss(values: torch.Tensor) -> torch.Tensor:
    """Return the win/draw/loss probabilities, [M, 3], that have the given expectation and the most draws: exact for results, a choice between."""
    return torch.stack([values.clamp_min(0), 1 - values.abs(), (-values).clamp_min(0)], dim=1)
