"""The learner: steps by hand, the textbook's training loop, overfitting a batch, exact resume."""

import math

import numpy as np
import pytest
import torch
from learner_samples import (
    CPU,
    KINDS,
    LOGITS,
    TWO_SAMPLES,
    Table,
    assert_same_state,
    learn,
    make_learner,
    random_batch,
    random_batches,
)

from alphazero.learner.learner import Learner
from alphazero.learner.loss import Targets, losses, value_targets
from alphazero.learner.optimizers import learning_rate
from alphazero.learner.settings import LearnerSettings
from alphazero.network.interface import NetworkOutput
from alphazero.network.weights import load_arrays, network_arrays
from alphazero.replay.buffer import Batch
from alphazero.runtime.errors import InputError
from alphazero.storage.checkpoint import load_state, save_state

# --- steps by hand --------------------------------------------------------------------------------


def test_long_gradients_are_clipped_and_the_report_has_their_norm_before_clipping():
    clipped, unclipped = (Table(LOGITS, [[0.0], [0.0]]) for _ in range(2))
    settings = dict(learning_rate=1.0, root_value_fraction=0.0)
    report = learn(clipped, [TWO_SAMPLES], max_gradient_norm=0.125, **settings).report
    learn(unclipped, [TWO_SAMPLES], max_gradient_norm=2.0, **settings)
    norm = math.sqrt(1 / 16 + 2 / 64 + 2)
    assert report.gradient_norm == pytest.approx(norm)
    step = torch.tensor([[1.0], [-1.0]])
    torch.testing.assert_close(clipped.value_logits.data, 0.125 / norm * step, rtol=1e-4, atol=0)
    torch.testing.assert_close(unclipped.value_logits.data, step)


# --- learning rate and number of steps ------------------------------------------------------------


def rates(schedule):
    """Return the learning rates at several fractions of a run."""
    settings = LearnerSettings(schedule=schedule, learning_rate=0.1, final_learning_rate=0.001)
    fractions = (-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0)
    return [learning_rate(settings, fraction) for fraction in fractions]


def test_schedules():
    assert rates("constant") == [0.1] * 7
    quarter = 0.001 + 0.099 * (1 + math.sqrt(0.5)) / 2
    three_quarters = 0.001 + 0.099 * (1 - math.sqrt(0.5)) / 2
    cosine = [0.1, 0.1, quarter, 0.0505, three_quarters, 0.001, 0.001]
    assert rates("cosine") == pytest.approx(cosine)


def test_the_loss_of_each_epoch_is_the_mean_of_its_steps():
    """With a learning rate of 0 the losses are those of the batches themselves."""
    batches = random_batches(6)
    learner = make_learner(epochs=3, learning_rate=0.0, final_learning_rate=0.0)
    list(learner.learn(batches, progress=0.0))
    expected = []
    for batch in batches:
        alone = make_learner(epochs=1, learning_rate=0.0, final_learning_rate=0.0)
        list(alone.learn([batch], progress=0.0))
        assert alone.report.epoch_losses == [pytest.approx(alone.report.loss, rel=1e-5)]
        expected.append(alone.report.loss)
    by_hand = [(expected[i] + expected[i + 1]) / 2 for i in (0, 2, 4)]
    assert learner.report.epoch_losses == pytest.approx(by_hand, rel=1e-5)
    without = make_learner()
    list(without.learn(batches, progress=0.0))
    assert without.report.epoch_losses is None


def test_the_number_of_steps_follows_the_replay_ratio_or_the_epochs():
    def steps(num_new_samples, window, **settings):
        learner = Learner(Table(LOGITS, [[0.0]]), LearnerSettings(batch_size=100, **settings), CPU)
        return learner.steps_for(num_new_samples, window)

    assert [steps(samples, 9999, replay_ratio=4.0) for samples in (1, 100, 1010)] == [1, 4, 40]
    assert [steps(7, window, epochs=3) for window in (1, 100, 299, 1000)] == [3, 3, 6, 30]


# --- real networks --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "optimizer, rate, value_head",
    (("adamw", 0.01, "wdl"), ("adam", 0.01, "scalar"), ("sgd", 0.1, "wdl")),
)
def test_a_small_batch_is_learned_by_heart(optimizer, rate, value_head):
    settings = dict(learning_rate=rate, schedule="constant", weight_decay=0.0)
    learner = make_learner(value_head=value_head, optimizer=optimizer, **settings)
    batch = random_batch(16)
    list(learner.learn([batch] * 4, 0.0))
    before = learner.report
    list(learner.learn([batch] * 120, 0.0))
    list(learner.learn([batch] * 4, 0.0))
    after = learner.report
    divergences = [report.policy_loss - report.target_entropy for report in (before, after)]
    assert divergences[1] < 0.1 * divergences[0]
    assert after.value_loss < 0.1 * before.value_loss
    assert after.value_error < 0.2


OPTIMIZERS = {
    "adamw": dict(kind=torch.optim.AdamW, weight_decay=0.5),
    "adam": dict(kind=torch.optim.Adam, weight_decay=0.1),
    "sgd": dict(kind=torch.optim.SGD, weight_decay=0.1, momentum=0.9, nesterov=True),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "precision, limit, optimizer",
    (
        *(("float32", limit, optimizer) for limit in (0.0, 0.1) for optimizer in OPTIMIZERS),
        # Adam's steps are as long for a gradient of rounding errors as for any other.
        ("bfloat16", 0.1, "sgd"),
    ),
)
def test_steps_are_those_of_the_textbook(kind, precision, limit, optimizer):
    """Several calls of the learner train like one loop of forward, loss, backward and step.

    A rounding error may switch a unit at zero on or off, about once in ten thousand steps; from
    there on the two differ. If batches disagree, others are tried, which must agree.
    """
    if not _disagreement(kind, precision, limit, optimizer, first_seed=0) <= 1:
        assert _disagreement(kind, precision, limit, optimizer, first_seed=100) <= 1


def _disagreement(kind, precision, limit, optimizer, first_seed):
    """Return how far learner and textbook differ after nine steps, as a multiple of rounding."""
    weight_decay = OPTIMIZERS[optimizer]["weight_decay"]
    settings = dict(optimizer=optimizer, learning_rate=0.02, schedule="constant")
    settings |= dict(weight_decay=weight_decay, max_gradient_norm=limit, precision=precision)
    learner, twin = (make_learner(kind, **settings) for _ in range(2))
    start = network_arrays(learner.network)
    batches = random_batches(9, first_seed=first_seed)
    for part in (batches[:3], batches[3:4], batches[4:]):
        list(learner.learn(part, 0.0))
    _train_by_the_textbook(twin.network, batches, precision, limit, **OPTIMIZERS[optimizer])
    ours, expected = network_arrays(learner.network), network_arrays(twin.network)
    tolerance = 1e-5 if precision == "float32" else 2e-3  # bfloat16 has 8 bits
    if precision == "float32":
        assert all(np.abs(ours[name] - start[name]).max() > 10 * tolerance for name in ours)
    differences = [
        (np.abs(ours[name] - array) / (tolerance * (1 + np.abs(array)))).max()
        for name, array in expected.items()
    ]
    return float(np.max(differences))  # NaN if any is NaN


def _train_by_the_textbook(network, batches, precision, limit, kind, **options):
    optimizer = kind(network.parameters(), 0.02, **options)
    network.train()
    for batch in batches:
        samples = Batch(*map(torch.from_numpy, batch))
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            output = network(samples.planes)
        output = NetworkOutput(*(logits.float() for logits in output))
        values = value_targets(samples.outcomes, samples.root_values, 0.5, 3)
        targets = Targets(samples.action_weights, samples.legal_action_mask, values)
        optimizer.zero_grad()
        losses(output, targets).total(1.0).backward()
        if limit:
            torch.nn.utils.clip_grad_norm_(network.parameters(), limit)
        optimizer.step()


def test_muon_trains_the_kernels_and_adamw_the_rest_and_both_rates_fall_together():
    settings = dict(learning_rate=0.01, final_learning_rate=0.001, muon_learning_rate=0.1)

    def steps_of(progress):
        learner = make_learner(optimizer="muon", precision="float32", **settings)
        before = network_arrays(learner.network)
        list(learner.learn([random_batch(8)], progress))
        parameters = learner.network.named_parameters()
        return {name: weights.detach().numpy() - before[name] for name, weights in parameters}

    first, last = steps_of(0.0), steps_of(1.0)
    kernels = [name for name, step in first.items() if step.ndim == 4]
    assert len(kernels) >= 4
    for name in kernels:
        # Singular values near 1 times the rate, and times sqrt(rows / columns) if there are more
        # rows; as far as the gradient has that rank.
        step = first[name].reshape(len(first[name]), -1)
        scale = 0.1 * max(1.0, step.shape[0] / step.shape[1]) ** 0.5
        assert 0.6 < np.linalg.svd(step, compute_uv=False).max() / scale < 1.25, name
        np.testing.assert_allclose(last[name], first[name] / 10, rtol=1e-3, atol=1e-7)
    # Adam's first step is the learning rate for every weight.
    np.testing.assert_allclose(np.abs(first["policy.bias"]), 0.01, rtol=0.02)


# --- state ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ("adamw", "adam"))
def test_learning_in_several_calls_is_learning_in_one(optimizer):
    learner, twin = (make_learner(optimizer=optimizer, weight_decay=0.1) for _ in range(2))
    batches = random_batches(5)
    for batch in batches:
        list(learner.learn([batch], 0.3))
    list(twin.learn(batches, 0.3))
    assert_same_state(learner.state_dict(), twin.state_dict())
    assert learner.state_dict()["optimizer"]["3"]["step"] == 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "settings",
    (
        dict(optimizer="adamw"),
        dict(optimizer="adam"),
        dict(optimizer="sgd"),
        dict(optimizer="sgd", momentum=0.0),
        dict(optimizer="adamw", ema_half_life_steps=2.0),
    ),
)
def test_a_restored_learner_continues_bit_for_bit(tmp_path, settings, kind):
    batches = random_batches(8)
    learner, restored = make_learner(kind, **settings), make_learner(kind, seed=5, **settings)
    list(restored.learn(batches[:2], 0.0))
    list(learner.learn(batches[:4], 0.1))
    save_state(tmp_path / "state.safetensors", learner.state_dict())
    list(learner.learn(batches[4:], 0.2))
    restored.load_state_dict(load_state(tmp_path / "state.safetensors"))
    assert restored.num_steps == 4
    list(restored.learn(batches[4:], 0.2))
    assert restored.report == learner.report
    assert_same_state(restored.state_dict(), learner.state_dict())
    assert ("average" in learner.state_dict()) == ("ema_half_life_steps" in settings)


def test_weights_that_do_not_fit_are_refused():
    learner = make_learner()
    arrays = network_arrays(learner.network)
    with pytest.raises(InputError, match="policy.bias"):
        load_arrays(learner.network, arrays | {"policy.bias": np.zeros(4, np.float32)})
    with pytest.raises(InputError, match="value.bias"):
        load_arrays(learner.network, {k: v for k, v in arrays.items() if k != "value.bias"})
