"""Gradients of a batch in parts: those of the textbook, the same on every run."""

import copy

import numpy as np
import pytest
import torch
from learner_samples import CPU, GAME, SHAPE, make_learner, random_batch

from alphazero.learner import gradients
from alphazero.learner.gradients import Gradients, forward_loss
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
    return make_network(GAME, NetworkSettings(**SHAPE), seed=1)


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
        found = forward_loss(twin, Batch(*(column[rows] for column in batch)), SETTINGS)
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


class RandomNetwork(torch.nn.Module):
    """Draws random numbers in every step."""

    def __init__(self, network):
        super().__init__()
        self.network, self.dropout = network, torch.nn.Dropout(0.5)

    def forward(self, planes):
        return self.network(self.dropout(planes))


@pytest.mark.parametrize(
    "wrap, num_samples", [(RandomNetwork, 192), (lambda network: network, 100)]
)
def test_dropout_and_small_batches_are_not_divided(wrap, num_samples):
    network, batch = wrap(network_of_tic_tac_toe()), tensors(random_batch(num_samples))
    twin = copy.deepcopy(network)
    torch.manual_seed(5)
    loss = Gradients(network, SETTINGS, CPU, num_threads=3).compute(batch).losses.total(0.5)
    torch.manual_seed(5)
    assert loss == forward_loss(twin, batch, SETTINGS).losses.total(0.5)


def test_little_work_is_done_by_one_thread(monkeypatch):
    threads = []

    def answers(*arguments):
        threads.append(torch.get_num_threads())
        return forward_loss(*arguments)

    monkeypatch.setattr(gradients, "forward_loss", answers)
    network, batch = network_of_tic_tac_toe(), random_batch(192)
    work = 192 * sum(weights.numel() for weights in network.parameters())
    for work_per_thread, expected in ((work, [1]), (work // 2, [1, 1]), (1, [2, 2, 2])):
        monkeypatch.setattr(gradients, "_WORK_PER_THREAD", work_per_thread)
        learner = Learner(network, SETTINGS, CPU, num_threads=6)
        list(learner.learn([batch], 0.0))
        assert threads == expected and torch.get_num_threads() == 1
        threads.clear()
    list(Learner(network, SETTINGS, CPU, 6, shares_cores=True).learn([batch], 0.0))
    assert threads == [1, 1, 1]  # self-play needs the others


def test_frozen_weights_and_weights_without_influence_get_no_gradient():
    network = network_of_tic_tac_toe()
    network.policy.weight.requires_grad_(False)
    network.unused = torch.nn.Parameter(torch.ones(3))
    Gradients(network, SETTINGS, CPU, num_threads=2).compute(tensors(random_batch(192)))
    assert network.policy.weight.grad is None and network.unused.grad is None
    assert network.policy.bias.grad is not None


def test_an_error_in_a_part_reaches_the_caller():
    learner = make_learner(batch_size=128)
    batch = random_batch(128)
    wrong = batch._replace(planes=np.zeros((128, 1, 3, 3), np.float32))
    with pytest.raises(RuntimeError, match="channels"):
        list(learner.learn([wrong], 0.0))


@pytest.mark.parametrize("num_threads", (1, 3))
def test_a_program_may_have_turned_gradients_off(num_threads):
    network, batch = network_of_tic_tac_toe(), tensors(random_batch(192))
    expected = Gradients(network, SETTINGS, CPU, num_threads).compute(batch).losses.total(0.5)
    with torch.no_grad():
        answers = Gradients(network, SETTINGS, CPU, num_threads).compute(batch)
    assert torch.equal(answers.losses.total(0.5), expected)
    assert all(weights.grad is not None for weights in network.parameters())
