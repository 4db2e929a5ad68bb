"""The loss against hand-computed numbers, and its gradients against closed formulas."""

import math

import numpy as np
import pytest
import torch

from alphazero.learner.loss import LossWeights, Targets, losses, masked_log_softmax, value_targets
from alphazero.network.interface import NetworkOutput

NUM_SAMPLES, NUM_ACTIONS, NUM_CELLS = 20, 5, 9


def random_targets(num_value_logits):
    """Return targets of random positions; the first position has no legal action."""
    rng = np.random.default_rng(0)
    mask = rng.random((NUM_SAMPLES, NUM_ACTIONS)) < 0.6
    mask[1:, 0] = True
    mask[0] = False
    weights = np.where(mask, rng.random(mask.shape) ** 4, 0)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
    outcomes = rng.integers(-1, 2, NUM_SAMPLES).astype(np.int8)
    root_values = rng.uniform(-1, 1, NUM_SAMPLES).astype(np.float32)
    owners = rng.integers(-1, 2, (NUM_SAMPLES, NUM_CELLS)).astype(np.int8)
    return Targets(
        torch.from_numpy(weights.astype(np.float32)),
        torch.from_numpy(mask),
        value_targets(*map(torch.from_numpy, (outcomes, root_values)), 0.3, num_value_logits),
        torch.from_numpy(owners),
    )


def random_output(num_value_logits, has_ownership):
    generator = torch.Generator().manual_seed(3)
    sizes = (NUM_ACTIONS, num_value_logits, NUM_CELLS)[: 3 if has_ownership else 2]
    logits = (3 * torch.randn(NUM_SAMPLES, size, generator=generator) for size in sizes)
    return NetworkOutput(*(rows.requires_grad_() for rows in logits))


def closed_form_gradients(output, targets, weights):
    """Return the gradients of the total loss by each of the network's outputs.

    By the logits of a softmax p, the gradient of the cross-entropy -q . log p is p * sum(q) - q. By
    the logit of a sigmoid p, that of the binary cross-entropy is p - q. By x, that of
    (tanh(x) - z)^2 is 2 (tanh(x) - z) (1 - tanh(x)^2).
    """
    logits = output.prior_logits.masked_fill(~targets.legal_action_mask, -1e30)
    sums = targets.action_weights.sum(dim=1, keepdim=True)
    policy = (torch.softmax(logits, dim=1) * sums - targets.action_weights) / NUM_SAMPLES
    if targets.values.shape[1] == 1:
        v = torch.tanh(output.value_logits)
        value = 2 * (v - targets.values) * (1 - v * v)
    else:
        value = torch.softmax(output.value_logits, dim=1) - targets.values
    gradients = [policy, value * weights.value / NUM_SAMPLES]
    if output.ownership_logits is not None:
        ownership = torch.sigmoid(output.ownership_logits) - (targets.owners.float() + 1) / 2
        gradients.append(ownership * weights.ownership / targets.owners.numel())
    return gradients


@pytest.mark.parametrize("num_value_logits", (1, 3))
@pytest.mark.parametrize("has_ownership", (False, True))
@pytest.mark.parametrize("value_weight", (1.0, 0.3))
def test_the_gradients_are_those_of_the_closed_formulas(
    num_value_logits, has_ownership, value_weight
):
    targets = random_targets(num_value_logits)
    output = random_output(num_value_logits, has_ownership)
    parts, weights = losses(output, targets), LossWeights(value_weight, 1.5)
    assert (parts.ownership is not None) == has_ownership
    found = torch.autograd.grad(parts.total(weights), output[: 3 if has_ownership else 2])
    with torch.no_grad():
        expected = closed_form_gradients(output, targets, weights)
    for ours, formula in zip(found, expected, strict=True):
        assert formula.abs().max() > 1e-3
        torch.testing.assert_close(ours, formula, rtol=1e-4, atol=1e-7)
    assert not found[0][0].any()  # no gradient where nothing is legal


def test_the_total_is_the_weighted_sum():
    parts = losses(random_output(3, True), random_targets(3))
    expected = parts.policy + 0.5 * parts.value + 1.5 * parts.ownership
    torch.testing.assert_close(parts.total(LossWeights(0.5, 1.5)), expected)
    expected = parts.policy + 0.5 * parts.value
    total = parts._replace(ownership=None).total(LossWeights(0.5, 1.5))
    torch.testing.assert_close(total, expected)


def test_value_targets_by_hand():
    outcomes = torch.tensor([1, -1, 0], dtype=torch.int8)
    root_values = torch.tensor([0.5, 0.0, -1.0])
    torch.testing.assert_close(
        value_targets(outcomes, root_values, 0.25, 1), torch.tensor([[0.875], [-0.75], [-0.25]])
    )
    expected = torch.tensor([[0.875, 0.125, 0.0], [0.0, 0.25, 0.75], [0.0, 0.75, 0.25]])
    torch.testing.assert_close(value_targets(outcomes, root_values, 0.25, 3), expected)


def test_a_fully_masked_row_gives_zeros():
    mask = torch.tensor([[True, False, True], [False, False, False]])
    log_policy = masked_log_softmax(torch.tensor([[1.0, 99.0, 1.0], [5.0, -5.0, 0.0]]), mask)
    expected = torch.tensor([[-math.log(2), 0.0, -math.log(2)], [0.0, 0.0, 0.0]])
    torch.testing.assert_close(log_policy, expected)
