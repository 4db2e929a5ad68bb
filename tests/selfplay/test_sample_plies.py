"""Which plies of a game become training samples, with surprise weighting and without."""

import numpy as np
import pytest

from alphazero.own_games.registry import make_game
from alphazero.replay.buffer import ReplayBuffer, sample_plies
from alphazero.replay.settings import ReplaySettings
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.lockstep import kl_divergence

GAME = make_game("connect_four")


def record_of(surprises, is_target=None) -> GameRecord:
    """Return a game of Connect Four with these surprises; all plies are targets unless given."""
    num_plies = len(surprises)
    return GameRecord(
        GAME.initial_states(num_plies),
        np.zeros(num_plies, np.int32),
        np.full((num_plies, 7), 1 / 7, np.float32),
        np.zeros(num_plies, np.float32),
        np.zeros(num_plies, np.int8),
        np.ones(num_plies, np.bool_) if is_target is None else np.array(is_target),
        np.array(surprises, np.float32),
    )


def test_a_plys_weight_is_its_surprise_mixed_with_one():
    assert sample_plies(record_of([0.1, 0.3, 0.0, 0.0]), 1.0).tolist() == [0, 1, 1, 1]
    surprises = np.random.default_rng(1).exponential(size=100)
    counts = np.bincount(sample_plies(record_of(surprises), 0.5), minlength=100)
    weights = 0.5 + 0.5 * surprises / surprises.mean()
    assert np.cumsum(counts) == pytest.approx(np.cumsum(weights), abs=0.51)


@pytest.mark.parametrize("fraction", [0.0, 0.3, 1.0])
def test_a_game_has_as_many_samples_as_targets(fraction):
    generator = np.random.default_rng(3)
    for num_plies in (1, 2, 7, 41):
        surprises = generator.exponential(size=num_plies) * 1e-3
        record = record_of(surprises, is_target=generator.random(num_plies) < 0.7)
        plies = sample_plies(record, fraction)
        assert len(plies) == record.is_target.sum()
        assert record.is_target[plies].all()
        assert (np.diff(plies) >= 0).all()


def test_the_replay_buffer_weights_by_surprise():
    settings = ReplaySettings(window_start=10, window_max=10, surprise_fraction=1.0)
    replay = ReplayBuffer(GAME, settings, np.random.default_rng(0))
    root_values = np.array([0.25, 0.5, 0.75], np.float32)
    assert replay.add(record_of([0.0, 1.0, 0.0])._replace(root_values=root_values)) == 3
    assert set(replay.sample(50).root_values.tolist()) == {0.5}


def test_a_surprise_is_the_kl_divergence_and_actions_without_weight_count_nothing():
    targets = np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]], np.float32)
    priors = np.array([[0.25, 0.25, 0.5], [0.0, 0.8, 0.2]], np.float32)
    assert kl_divergence(targets, priors) == pytest.approx([np.log(2.0), 0.0])
