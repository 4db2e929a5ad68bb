"""Networks, batches and learners for the tests of the learner."""

import math

import numpy as np
import torch

from alphazero.learner.learner import Learner
from alphazero.learner.loss import Targets, value_targets
from alphazero.learner.settings import LearnerSettings
from alphazero.network.interface import NetworkOutput, NetworkSettings
from alphazero.network.registry import make_network
from alphazero.own_games.registry import make_game
from alphazero.replay.buffer import Batch

CPU = torch.device("cpu")
GAME = make_game("tic_tac_toe")
SHAPE = dict(blocks=1, channels=8, kernel_size=3, head_channels=4, value_units=16, shared_units=16)
KINDS = {
    "resnet": dict(kind="resnet"),
    "tiny": dict(kind="tiny"),
}


class Table(torch.nn.Module):
    """A network whose weights are its outputs, whatever the input."""

    def __init__(self, prior_logits, value_logits):
        super().__init__()
        self.prior_logits = torch.nn.Parameter(torch.tensor(prior_logits))
        self.value_logits = torch.nn.Parameter(torch.tensor(value_logits))

    def forward(self, planes):
        return NetworkOutput(1 * self.prior_logits, 1 * self.value_logits)


def make_batch(action_weights, mask, outcomes, root_values):
    """Return a batch of these samples; `Table` ignores its planes."""
    return Batch(
        np.zeros((len(action_weights), 1, 2, 2), np.float32),
        np.array(action_weights, np.float32),
        np.array(mask, np.bool_),
        np.array(outcomes, np.float32),
        np.array(root_values, np.float32),
    )


TWO_SAMPLES = make_batch(
    [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]],
    [[True, True, False], [True, True, True]],
    outcomes=[1, -1],
    root_values=[0.5, 0.0],
)
#: Policies 1/2, 1/2 and 1/2, 1/4, 1/4: the policy loss of both of `TWO_SAMPLES` is ln 2.
LOGITS = [[3.0, 3.0, 9.0], [math.log(2), 0.0, 0.0]]


def learn(network, batches, progress=0.0, **settings):
    """Return a learner of plain gradient descent after a step for each batch."""
    plain = dict(optimizer="sgd", momentum=0.0, weight_decay=0.0)
    learner = Learner(network, LearnerSettings(**(plain | settings)), CPU)
    assert list(learner.learn(batches, progress)) == list(range(1, len(batches) + 1))
    return learner


def random_batch(num_samples, seed=0):
    """Return random samples of tic-tac-toe's shapes; the root values are the outcomes."""
    rng = np.random.default_rng(seed)
    mask = rng.random((num_samples, GAME.num_actions)) < 0.6
    mask[:, 0] = True
    weights = np.where(mask, rng.random(mask.shape) ** 4, 0)
    weights /= weights.sum(axis=1, keepdims=True)
    planes = rng.integers(0, 2, (num_samples, *GAME.planes_shape)).astype(np.float32)
    outcomes = rng.integers(-1, 2, num_samples).astype(np.float32)
    root_values = outcomes.astype(np.float32)
    return Batch(planes, weights.astype(np.float32), mask, outcomes, root_values)


def random_targets(num_samples, num_value_logits, seed=0):
    """Return targets of random positions; the first position has no legal action."""
    batch = random_batch(num_samples, seed)
    batch.legal_action_mask[0] = False
    batch.action_weights[0] = 0
    root_values = np.random.default_rng(seed).uniform(-1, 1, num_samples).astype(np.float32)
    values = map(torch.from_numpy, (batch.outcomes, root_values))
    return Targets(
        torch.from_numpy(batch.action_weights),
        torch.from_numpy(batch.legal_action_mask),
        value_targets(*values, 0.3, num_value_logits),
    )


def random_batches(count, num_samples=8, first_seed=0):
    """Return different random batches."""
    return [random_batch(num_samples, first_seed + index) for index in range(count)]


def make_learner(kind="resnet", seed=0, value_head="wdl", **settings):
    """Return the learner of a small network for tic-tac-toe; ``kind`` is one of `KINDS`."""
    shape = NetworkSettings(value_head=value_head, **KINDS[kind], **SHAPE)
    network = make_network(GAME, shape, seed)
    return Learner(network, LearnerSettings(**settings), CPU)


def assert_same_state(found, expected):
    """Assert that two nested states have the same keys in the same order, and the same values."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            assert_same_state(found[key], expected[key])
    else:
        assert np.array_equal(found, expected)
