"""Gradients of a batch in parts: those of the textbook, the same on every run."""

import copy

import numpy as np
import pytest
import torch
from learner_samples import CPU, GAME, SHAPE, random_batch

from alphazero.learner import gradients
from alphazero.learner.gradients import Gradients, answers_of
from alphazero.learner.learner import Learner
from alphazero.learner.settings import LearnerSettings
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import make_network
from alphazero.network.weights import network_arrays
from alphazero.replay.buffer import Batch

SETTINGS = LearnerSettings(batch_size=192, precision="float32", value_weight=0.5)


@pytest.fixture(autouse=True)
def several_shares(monkeypatch):
    monkeypatch.setattr(gradients, "_WORK_PER_THREAD", 1)


def network_of_tic_tac_toe():
    return make_network(GAME.planes_shape, GAME.num_actions, NetworkSettings(**SHAPE), seed=1)


def tensors(batch):
    return Batch(*map(torch.from_numpy, batch))


def test_they_are_the_mean_over_the_parts_each_normalized_by_itself():
    network, batch = network_of_tic_tac_toe(), tensors(random_batch(192))
    start = network_arrays(network)
    answers = Gradients(network, SETTINGS, CPU, num_threads=3).compute(batch)
    twin = copy.deepcopy(network)
    twin.zero_grad()
    outputs, loss = [], 0.0
    for part in range(3):
        rows = slice(64 * part, 64 * (part + 1))
        found = answers_of(twin, Batch(*(column[rows] for column in batch)), SETTINGS)
        outputs.append(found.output.prior_logits)
        loss = loss + (found.losses.policy + 0.5 * found.losses.value) / 3
    loss.backward()
    torch.testing.assert_close(answers.output.prior_logits, torch.cat(outputs))
    torch.testing.assert_close(answers.losses.total(0.5), loss)
    assert torch.equal(answers.targets.action_weights, batch.action_weights)
    for weights, expected in zip(network.parameters(), twin.parameters()):
        torch.testing.assert_close(weights.grad, expected.grad)
    names = [name for name, _ in network.named_parameters()]
    assert all(np.array_equal(network_arrays(network)[name], start[name]) for name in names)


def test_all_parts_learn_with_the_same_weights_bit_for_bit_on_every_run():
    def weights_after_steps(num_threads):
        learner = Learner(network_of_tic_tac_toe(), SETTINGS, CPU, num_threads)
        list(learner.learn([random_batch(192, seed) for seed in range(4)], 0.0))
        return network_arrays(learner.network)

    first, second, alone = map(weights_after_steps, (3, 3, 1))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert any(not np.array_equal(first[name], alone[name]) for name in first)
