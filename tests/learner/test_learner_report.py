"""The learner's report: losses and statistics against numbers worked out by hand."""

import copy
import math

import numpy as np
import pytest
import torch
from learner_samples import (
    LOGITS,
    TWO_SAMPLES,
    Table,
    learn,
    make_batch,
    make_learner,
    random_batch,
)

from alphazero.learner.learner import _MEASURE_EVERY
from alphazero.learner.loss import Targets, losses, value_targets
from alphazero.replay.buffer import Batch

LN_2 = math.log(2)
STILL = dict(learning_rate=0.0, final_learning_rate=0.0)  # the weights do not change


def test_scalar_value_loss():
    # v = 0 and 1/2. z = 1 and -1, mixed with half of the search's value: 3/4 and -1/2. Squared
    # errors 9/16 and 1.
    network = Table(LOGITS, [[0.0], [math.atanh(0.5)]])
    report = learn(network, [TWO_SAMPLES], value_weight=0.5, root_value_fraction=0.5).report
    assert report.policy_loss == pytest.approx(LN_2)
    assert report.value_loss == pytest.approx(25 / 32)
    assert report.loss == pytest.approx(LN_2 + 0.5 * 25 / 32)
    assert report.value_error == pytest.approx((1 + 1.5) / 2)
    # The samples are in different bins.
    assert report.calibration_error == pytest.approx((1 + 1.5) / 2)
    network = Table(LOGITS, [[0.0], [0.0]])
    report = learn(network, [TWO_SAMPLES], root_value_fraction=0.0).report
    assert report.loss == pytest.approx(LN_2 + 1)
    # One bin: a win and a loss, both predicted as 0.
    assert report.calibration_error == pytest.approx(0)


def test_win_draw_loss_value_loss():
    # Both samples: P(win, draw, loss) = 1/2, 1/4, 1/4.
    values = [[LN_2, 0.0, 0.0]] * 2
    report = learn(Table(LOGITS, values), [TWO_SAMPLES], root_value_fraction=0.0).report
    assert report.value_loss == pytest.approx((LN_2 + math.log(4)) / 2)
    # Half of the search's value. 0.5 is half a win and half a draw, 0 is a draw: the targets are
    # 3/4, 1/4, 0 and 0, 1/2, 1/2.
    settings = dict(root_value_fraction=0.5, value_weight=2.0)
    report = learn(Table(LOGITS, values), [TWO_SAMPLES], **settings).report
    expected = ((0.75 * LN_2 + 0.25 * math.log(4)) + math.log(4)) / 2
    assert report.value_loss == pytest.approx(expected)
    assert report.loss == pytest.approx(LN_2 + 2 * expected)
    assert report.value_error == pytest.approx((0.75 + 1.25) / 2)  # |1/4 - 1|, |1/4 + 1|


def test_the_report_averages_the_measured_steps():
    draw, win = (make_batch([[1.0, 0.0]], [[True, True]], [z], [0]) for z in (0, 1))
    network = Table([[0.0, 0.0]], [[0.0]])
    batches = [draw, *[win] * _MEASURE_EVERY]
    learner = learn(network, batches, root_value_fraction=0.0, **STILL)
    # The first step, whose loss is 0, and the last, whose loss is 1, are measured.
    assert learner.report.value_loss == pytest.approx(0.5)
    assert learner.report.num_steps == learner.num_steps == _MEASURE_EVERY + 1
    list(learner.learn([win], 0.5))
    assert learner.report.value_loss == pytest.approx(1.0)
    assert learner.num_steps == _MEASURE_EVERY + 2


@pytest.mark.parametrize("half_life", [0.0, 3.0])
def test_held_out_losses_are_those_of_the_network_that_plays_and_change_nothing(half_life):
    learner = make_learner(ema_half_life_steps=half_life)
    batch = random_batch(30)
    list(learner.learn([batch] * 9, 0.0))
    before = copy.deepcopy(learner.state_dict())
    report = learner.held_out_losses(batch)
    after = learner.state_dict()
    assert after["num_steps"] == before["num_steps"] == 9
    for name, array in after["network"].items():
        np.testing.assert_array_equal(array, before["network"][name])
    samples = Batch(*map(torch.from_numpy, batch))
    with torch.no_grad():
        output = learner.played_network.eval()(samples.planes)
    values = value_targets(samples.outcomes, samples.root_values, 0.5, 3)
    targets = Targets(samples.action_weights, samples.legal_action_mask, values)
    policy_loss, value_loss = losses(output, targets)
    assert report.num_samples == 30
    assert report.policy_loss == pytest.approx(float(policy_loss))
    assert report.value_loss == pytest.approx(float(value_loss))
    assert report.loss == pytest.approx(report.policy_loss + report.value_loss)
