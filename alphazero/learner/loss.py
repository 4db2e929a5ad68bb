"""The loss (z - v)^2 - pi . log p (Silver et al. 2018, equation 1).

Here z is the game's result and v the network's value, both for the player to move, pi is the policy
target and p the network's policy. With a win/draw/loss value head, the cross-entropy of the three
probabilities replaces the squared error. Weight decay is left to the optimizer.
"""

from typing import NamedTuple

import torch
from torch.nn import functional

from alphazero.network.interface import NetworkOutput, expected_value

# The logit of an illegal action; with -inf, a position without legal actions would give NaN.
_ILLEGAL_LOGIT = -1e30


class Targets(NamedTuple):
    """The policies and values that the network should predict for M positions."""

    action_weights: torch.Tensor  #: float32[M, A], policy target; each row sums to 1
    legal_action_mask: torch.Tensor  #: bool[M, A], True for legal actions
    #: for the player to move: float32[M, 3], P(win, draw, loss); for a scalar head, float32[M, 1],
    #: the value
    values: torch.Tensor


class Losses(NamedTuple):
    """The parts of the loss: means over the samples, as scalar tensors."""

    policy: torch.Tensor  #: cross-entropy in nats
    value: torch.Tensor  #: cross-entropy in nats (win/draw/loss), or squared error (scalar)

    def total(self, value_weight: float) -> torch.Tensor:
        """Return policy + value_weight * value, the loss that training minimizes."""
        return self.policy + value_weight * self.value


def losses(output: NetworkOutput, targets: Targets) -> Losses:
    """Compute the policy loss and the value loss, each averaged over the M positions.

        policy = -sum over legal a of action_weights(a) * log p(a)
        value  = -sum over win, draw, loss of target * log P

    Here p and P are the network's probabilities. With a scalar value head, which predicts v, the
    value loss is (v - target)^2 instead.

    Args:
        output: the network's logits for the positions.
        targets: what the network should predict for them.
    """
    log_policy = masked_log_softmax(output.prior_logits, targets.legal_action_mask)
    policy_loss = -(targets.action_weights * log_policy).sum(dim=1).mean()
    if output.value_logits.shape[1] == 1:
        value = expected_value(output.value_logits)
        value_loss = functional.mse_loss(value, targets.values.squeeze(1))
    else:
        value_loss = functional.cross_entropy(output.value_logits, targets.values)
    return Losses(policy_loss, value_loss)


def value_targets(
    outcomes: torch.Tensor,
    root_values: torch.Tensor,
    root_value_fraction: float,
    num_value_logits: int,
) -> torch.Tensor:
    """Compute the value targets: the game's result mixed with the search's value of the root.

    Args:
        outcomes: float32[M] in [-1, 1], the games' results for the player to move.
        root_values: float32[M] in [-1, 1], the search's values for the player to move.
        root_value_fraction: weight of the search's values in the mixture, in [0, 1].
        num_value_logits: 3 for a win/draw/loss head, 1 for a scalar head.

    Returns:
        The targets for the player to move: for a win/draw/loss head, float32[M, 3], the three
        probabilities; for a scalar head, float32[M, 1], the value.
    """
    if num_value_logits == 1:
        return torch.lerp(outcomes, root_values, root_value_fraction).unsqueeze(1)
    results = _win_draw_loss(outcomes)
    estimates = _win_draw_loss(root_values)
    return torch.lerp(results, estimates, root_value_fraction)


def masked_log_softmax(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the log probabilities of a softmax over the legal actions, float32[M, A].

    Illegal actions get 0 instead of -inf, because 0, their action weight, times -inf would be NaN.

    Args:
        logits: float32[M, A], logits of all actions.
        mask: bool[M, A], True for legal actions.
    """
    masked = logits.masked_fill(~mask, _ILLEGAL_LOGIT)
    log_policy = functional.log_softmax(masked, dim=1)
    return log_policy.masked_fill(~mask, 0.0)


def _win_draw_loss(values: torch.Tensor) -> torch.Tensor:
    """Convert values in [-1, 1] to probabilities of win, draw and loss with that expected value.

    Of all such probabilities, these have the largest probability of a draw. They are exact for
    results and a convention for values in between: if win and loss are equally likely, the target
    is a certain draw. The head's draw output therefore does not estimate the probability of a draw
    and is never shown.

    Returns:
        float32[M, 3], P(win, draw, loss) from the same viewpoint as ``values``.
    """
    decided = values.abs()
    win = (decided + values) / 2
    loss = (decided - values) / 2
    return torch.stack([win, 1 - decided, loss], dim=1)
