"""The loss's gradients against autograd's, and the tiny network's backpropagation by hand against autograd's."""

import numpy as np
import pytest
import torch

from alphazero.learner.loss import (
    LossWeights,
    Targets,
    loss_gradients,
    losses,
    value_targets,
)
from alphazero.network.interface import NetworkOutput, NetworkSettings
from alphazero.network.registry import make_network


def random_targets(num_rows, num_actions, value_head, seed=0):
    rng = np.random.default_rng(seed)
    mask = rng.random((num_rows, num_actions)) < 0.6
    mask[1:, 0] = True
    mask[0] = False  # a row without legal actions
    weights = np.where(mask, rng.random(mask.shape) ** 4, 0)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
    outcomes = torch.from_numpy(rng.integers(-1, 2, num_rows).astype(np.int8))
    root_values = torch.from_numpy(rng.uniform(-1, 1, num_rows).astype(np.float32))
    values = value_targets(outcomes, root_values, 0.3, 3 if value_head == "wdl" else 1)
    return Targets(torch.from_numpy(weights.astype(np.float32)), torch.from_numpy(mask), values)


def test_value_targets_by_hand():
    outcomes, root_values = (
        torch.tensor([1, -1, 0], dtype=torch.int8),
        torch.tensor([0.5, 0.0, -1.0]),
    )
    torch.testing.assert_close(
        value_targets(outcomes, root_values, 0.25, 1), torch.tensor([[0.875], [-0.75], [-0.25]])
    )
    expected = torch.tensor([[0.875, 0.125, 0.0], [0.0, 0.25, 0.75], [0.0, 0.75, 0.25]])
    torch.testing.assert_close(value_targets(outcomes, root_values, 0.25, 3), expected)


@pytest.mark.parametrize("value_head", ("wdl", "scalar"))
@pytest.mark.parametrize("value_weight", (1.0, 0.3))
def test_loss_gradients_are_autograds(value_head, value_weight):
    generator = torch.Generator().manual_seed(3)
    targets = random_targets(20, 5, value_head)
    output = NetworkOutput(
        *(3 * torch.randn(20, size, generator=generator) for size in (5, targets.values.shape[1]))
    )
    for logits in output[:2]:
        logits.requires_grad_()
    policy_loss, value_loss, *_ = losses(output, targets)
    expected = torch.autograd.grad(policy_loss + value_weight * value_loss, output[:2])
    with torch.no_grad():
        found = loss_gradients(output, targets, LossWeights(value_weight))
    for ours, theirs in zip(found[:2], expected, strict=True):
        assert theirs.abs().max() > 0.01
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-7)
    assert found.prior_logits[0].tolist() == [0.0] * 5  # nothing pulls where nothing is legal


def auxiliary_targets(num_rows, num_actions, num_cells):
    rng = np.random.default_rng(1)
    owners = rng.integers(-1, 2, (num_rows, num_cells)).astype(np.int8)
    return random_targets(num_rows, num_actions, "wdl")._replace(owners=torch.from_numpy(owners))


def test_the_gradient_of_the_ownership_head_is_autograds():
    generator = torch.Generator().manual_seed(3)
    targets = auxiliary_targets(20, 5, 9)
    output = NetworkOutput(
        *(3 * torch.randn(20, size, generator=generator).requires_grad_() for size in (5, 3, 9))
    )
    parts, weights = losses(output, targets), LossWeights(0.5, 1.5)
    total = parts.policy + 0.5 * parts.value + 1.5 * parts.ownership
    torch.testing.assert_close(parts.total(weights), total)
    expected = torch.autograd.grad(total, output)
    with torch.no_grad():
        found = loss_gradients(output, targets, weights)
    for ours, theirs in zip(found, expected, strict=True):
        assert theirs.abs().max() > 1e-3
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("value_head", ("wdl", "scalar"))
@pytest.mark.parametrize(
    "shape, kernel_size, num_rows",
    (((2, 6, 7), 2, 64), ((3, 4, 5), 3, 2), ((1, 5, 3), 1, 7), ((2, 3, 3), 3, 5)),
)
def test_the_tiny_networks_backpropagation_is_autograds(value_head, shape, kernel_size, num_rows):
    settings = NetworkSettings(
        kind="tiny", channels=6, kernel_size=kernel_size, shared_units=9, value_head=value_head
    )
    network = make_network(shape, 5, settings, seed=4)
    targets = random_targets(num_rows, 5, value_head)
    planes = torch.randn(num_rows, *shape, generator=torch.Generator().manual_seed(5))
    output = network(planes)
    policy_loss, value_loss, *_ = losses(output, targets)
    (policy_loss + 0.7 * value_loss).backward()
    expected = {name: weights.grad for name, weights in network.named_parameters()}
    for weights in network.parameters():
        weights.grad = torch.ones_like(weights)  # of the step before: it must not be added to
    found = network.backpropagate(
        planes, lambda output: loss_gradients(output, targets, LossWeights(0.7))
    )
    for ours, theirs in zip(found[:2], output[:2], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)
    for name, weights in network.named_parameters():
        assert expected[name].abs().max() > 1e-3
        assert weights.grad.is_contiguous()
        torch.testing.assert_close(weights.grad, expected[name], rtol=1e-3, atol=1e-6)


def test_the_tiny_networks_weights_are_all_that_it_stores():
    network = make_network((2, 6, 7), 7, NetworkSettings(kind="tiny"))
    assert list(network.state_dict()) == [name for name, _ in network.named_parameters()]
