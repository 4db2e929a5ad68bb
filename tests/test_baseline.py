"""What knowing nothing would lose, against the loss of networks that really know nothing; losses on new rows, which change nothing."""

import copy

import numpy as np
import pytest
import torch
from test_learner import TWO_ROWS, Table, learn

from alphazero.games.registry import make_game
from alphazero.learner.learner import Learner
from alphazero.learner.loss import Targets, losses, value_targets
from alphazero.learner.settings import LearnerSettings
from alphazero.learner.uninformed_loss import UninformedLoss
from alphazero.network.interface import NetworkOutput, NetworkSettings
from alphazero.network.registry import make_network
from alphazero.network.weights import network_arrays
from alphazero.replay.buffer import Batch, Replay, ReplaySettings

CPU = torch.device("cpu")


def random_targets(rng, num_rows, num_value_logits):
    mask = torch.from_numpy(rng.random((num_rows, 7)) < 0.6)
    mask[:, 0] = True
    weights = torch.from_numpy(rng.random((num_rows, 7)).astype(np.float32)) * mask
    outcomes, values = (
        torch.from_numpy(rng.integers(-1, 2, num_rows)),
        torch.from_numpy(rng.uniform(-1, 1, num_rows).astype(np.float32)),
    )
    return Targets(
        weights / weights.sum(dim=1, keepdim=True),
        mask,
        value_targets(outcomes, values, 0.3, num_value_logits),
    )


@pytest.mark.parametrize("num_value_logits", (1, 3))
def test_the_baseline_is_the_loss_of_the_network_that_gives_the_same_answer_everywhere(
    num_value_logits,
):
    rng = np.random.default_rng(2)
    parts = [random_targets(rng, rows, num_value_logits) for rows in (5, 40, 17)]
    baseline = UninformedLoss(CPU)
    for part in parts:
        baseline.add(part)
    everything = Targets(*(torch.cat(columns) for columns in zip(*(part[:3] for part in parts))))
    mean = everything.values.mean(dim=0)
    logits = torch.atanh(mean) if num_value_logits == 1 else mean.log()
    expected = losses(NetworkOutput(torch.zeros(62, 7), logits.expand(62, -1)), everything)
    assert baseline.losses() == pytest.approx([float(loss) for loss in expected[:2]], rel=1e-5)


def test_without_rows_the_baseline_is_not_a_number_and_with_equal_rows_it_is_zero():
    baseline = UninformedLoss(CPU)
    assert all(np.isnan(baseline.losses()))
    values = torch.tensor([[0.0, 1.0, 0.0]] * 3)
    baseline.add(Targets(torch.ones(3, 1), torch.ones(3, 1, dtype=torch.bool), values))
    assert baseline.losses() == (0.0, 0.0)


def test_the_learner_reports_baselines_of_the_rows_that_it_measures():
    # two and three legal actions; targets 1 and -1, whose mean is 0
    report = learn(
        Table([[0.0, 0.0, 0.0]] * 2, [[0.0], [0.0]]), [TWO_ROWS], root_value_fraction=0.0
    ).report
    assert report.uninformed_policy_loss == pytest.approx((np.log(2) + np.log(3)) / 2)
    assert report.uninformed_value_loss == pytest.approx(1.0) == report.value_loss
    assert report.weight_size == pytest.approx(report.weight_norm / np.sqrt(8))


@pytest.mark.parametrize("half_life", [0.0, 3.0])
def test_losses_on_new_rows_change_nothing_and_are_those_of_the_network_that_plays(half_life):
    rng = np.random.default_rng(0)
    game = make_game("tic_tac_toe")
    network = make_network(game.planes_shape, 9, NetworkSettings(blocks=1, channels=4))
    learner = Learner(network, LearnerSettings(batch_size=8, ema_half_life_steps=half_life), CPU)
    batch = Batch(rng.random((30, *game.planes_shape), np.float32), np.full((30, 9), 1 / 9, np.float32), np.ones((30, 9), np.bool_),
                  rng.integers(-1, 2, 30).astype(np.int8), rng.uniform(-1, 1, 30).astype(np.float32))  # fmt: skip
    list(learner.learn([batch] * 9, 0.0))
    before, state = network_arrays(network), copy.deepcopy(learner.state_dict())
    report = learner.losses_on(batch)
    for name, array in network_arrays(network).items():
        np.testing.assert_array_equal(array, before[name])
    assert learner.state_dict()["num_steps"] == state["num_steps"] == 9
    rows = Batch(*map(torch.from_numpy, batch[:5]))
    with torch.no_grad():
        output = learner.played_network.eval()(rows.planes)
    expected = losses(
        output,
        Targets(
            rows.action_weights,
            rows.legal_action_mask,
            value_targets(rows.outcomes, rows.root_values, 0.5, 3),
        ),
    )
    assert (report.num_rows, report.policy_loss, report.value_loss) == (
        30,
        *map(pytest.approx, map(float, expected[:2])),
    )
    assert report.loss == pytest.approx(report.policy_loss + report.value_loss)


def test_spread_takes_rows_evenly_from_the_newest_and_draws_nothing():
    from test_replay import random_record

    game, rng = make_game("tic_tac_toe"), np.random.default_rng(1)
    replay = Replay(game, ReplaySettings(window_start=50, window_max=50), np.random.default_rng(0))
    assert replay.spread(10, 5) is None
    records = [random_record(game, rng) for _ in range(30)]
    values = np.concatenate([record.root_values[record.is_target] for record in records])
    for record in records:
        replay.add(record)
    state = copy.deepcopy(replay.state_dict())
    batch = replay.spread(41, 5)
    np.testing.assert_array_equal(batch.root_values, values[[-1, -11, -21, -31, -41]])
    states = np.concatenate([record.states[record.is_target] for record in records])
    np.testing.assert_array_equal(batch.planes, game.observe(states[[-1, -11, -21, -31, -41]]))
    assert len(replay.spread(8, 512).outcomes) == 8
    assert len(replay.spread(4000, 512).outcomes) == 50
    assert replay.state_dict() == state
