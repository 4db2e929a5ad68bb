"""The loss against hand-computed numbers, and its gradients against closed formulas."""

import math

import pytest
import torch
from learner_samples import random_targets

from alphazero.learner.loss import losses, masked_log_softmax, value_targets
from alphazero.network.interface import NetworkOutput

NUM_SAMPLES, NUM_ACTIONS = 20, 9


def random_output(num_value_logits):
    generator = torch.Generator().manual_seed(3)
    sizes = (NUM_ACTIONS, num_value_logits)
    logits = (3 * torch.randn(NUM_SAMPLES, size, generator=generator) for size in sizes)
    return NetworkOutput(*(rows.requires_grad_() for rows in logits))


def closed_form_gradients(output, targets, value_weight):
    """Return the gradients of the total loss by each of the network's outputs.

    By the logits of a softmax p, the gradient of the cross-entropy -q . log p is p * sum(q) - q. By
    x, that of (tanh(x) - z)^2 is 2 (tanh(x) - z) (1 - tanh(x)^2).
    """
    logits = output.prior_logits.masked_fill(~targets.legal_action_mask, -1e30)
    sums = targets.action_weights.sum(dim=1, keepdim=True)
    policy = (torch.softmax(logits, dim=1) * sums - targets.action_weights) / NUM_SAMPLES
    if targets.values.shape[1] == 1:
        v = torch.tanh(output.value_logits)
        value = 2 * (v - targets.values) * (1 - v * v)
    else:
        value = torch.softmax(output.value_logits, dim=1) - targets.values
    return policy, value * value_weight / NUM_SAMPLES


@pytest.mark.parametrize("num_value_logits", (1, 3))
@pytest.mark.parametrize("value_weight", (1.0, 0.3))
def test_the_gradients_are_those_of_the_closed_formulas(num_value_logits, value_weight):
    targets, output = random_targets(NUM_SAMPLES, num_value_logits), random_output(num_value_logits)
    found = torch.autograd.grad(losses(output, targets).total(value_weight), output)
    with torch.no_grad():
        expected = closed_form_gradients(output, targets, value_weight)
    for ours, formula in zip(found, expected, strict=True):
        assert formula.abs().max() > 1e-3
        torch.testing.assert_close(ours, formula, rtol=1e-4, atol=1e-7)
    assert not found[0][0].any()  # no gradient where nothing is legal


def test_value_targets_by_hand():
    outcomes = torch.tensor([1, -1, 0], dtype=torch.float32)
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
