"""The EMA of the weights: its values, its normalizations, and where it starts."""

import numpy as np
import torch
from learner_samples import assert_same_state, make_learner, random_batches

from alphazero.learner.learner import _NORM_BATCHES
from alphazero.network.weights import network_arrays


def test_the_average_follows_the_steps_and_does_not_change_the_training():
    batches, half_life = random_batches(6), 1.5
    averaged, plain = make_learner(ema_half_life_steps=half_life), make_learner()
    assert plain.played_network is plain.network
    assert averaged.played_network is not averaged.network
    after_step = [network_arrays(averaged.network) for _ in averaged.learn(batches, 0.0)]
    list(plain.learn(batches, 0.0))
    assert_same_state(network_arrays(averaged.network), network_arrays(plain.network))
    expected = after_step[0]
    for num_steps, arrays in enumerate(after_step[1:], start=2):
        weight = max(1 - 0.5 ** (1 / half_life), 1 / num_steps)
        expected = {name: (1 - weight) * expected[name] + weight * arrays[name] for name in arrays}
    found = network_arrays(averaged.played_network)
    for name, _ in averaged.network.named_parameters():
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, atol=1e-6)
        assert np.abs(found[name] - after_step[-1][name]).max() > 1e-4


def test_the_normalisations_are_measured_on_the_newest_batches():
    batches = random_batches(_NORM_BATCHES + 3)
    learner = make_learner(ema_half_life_steps=2.0)
    list(learner.learn(batches, 0.0))
    stem = learner.played_network.stem
    with torch.no_grad():
        outputs = [stem.conv(torch.from_numpy(batch.planes)) for batch in batches[-_NORM_BATCHES:]]
    means = torch.stack([output.mean(dim=(0, 2, 3)) for output in outputs])
    variances = torch.stack([output.var(dim=(0, 2, 3)) for output in outputs])
    torch.testing.assert_close(stem.norm.running_mean, means.mean(dim=0))
    torch.testing.assert_close(stem.norm.running_var, variances.mean(dim=0))


def test_the_average_of_a_run_that_had_none_starts_with_its_weights():
    batches = random_batches(3)
    plain, averaged = make_learner(), make_learner(seed=5, ema_half_life_steps=100.0)
    list(averaged.learn(batches, 0.0))
    list(plain.learn(batches, 0.0))
    averaged.load_state_dict(plain.state_dict())
    assert_same_state(network_arrays(averaged.played_network), network_arrays(plain.network))
    list(averaged.learn(batches[:1], 0.0))
    # The first step replaces what the average started with.
    parameters = zip(averaged.played_network.parameters(), averaged.network.parameters())
    assert all(torch.equal(average, newest) for average, newest in parameters)
