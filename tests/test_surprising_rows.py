"""Rows by surprise: which plies of a game are trained on, how often, and that stored games keep what decides it."""

import numpy as np
import pytest

from alphazero.games.registry import make_game
from alphazero.replay.buffer import Replay, ReplaySettings
from alphazero.replay.targets import target_rows
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.lockstep import kl_divergence
from alphazero.storage.run_folder import RunFolder


def record_of(surprises, is_target=None) -> GameRecord:
    plies = len(surprises)
    states = make_game("connect_four").initial_states(plies)
    targets = np.ones(plies, np.bool_) if is_target is None else np.array(is_target)
    floats = np.zeros(plies, np.float32)
    return GameRecord(
        states,
        np.zeros(plies, np.int32),
        np.full((plies, 7), 1 / 7, np.float32),
        floats,
        np.zeros(plies, np.int8),
        targets,
        np.array(surprises, np.float32),
    )


def test_a_ply_counts_by_its_surprise_and_by_an_even_share():
    assert target_rows(record_of([0.1, 0.3, 0.0, 0.0]), 1.0).tolist() == [0, 1, 1, 1]
    surprises = np.random.default_rng(1).exponential(size=100)
    counts = np.bincount(target_rows(record_of(surprises), 0.5), minlength=100)
    assert np.cumsum(counts) == pytest.approx(
        np.cumsum(0.5 + 0.5 * surprises / surprises.mean()), abs=0.51
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_game_has_as_many_rows_as_targets_whatever_surprised(share):
    generator = np.random.default_rng(3)
    for plies in (1, 2, 7, 41):
        record = record_of(generator.exponential(size=plies) * 1e-3, generator.random(plies) < 0.7)
        rows = target_rows(record, share)
        assert (
            len(rows) == record.is_target.sum()
            and record.is_target[rows].all()
            and (np.diff(rows) >= 0).all()
        )


@pytest.mark.parametrize("surprises", [[0.0, 0.0, 0.0], None])
def test_each_ply_counts_once_where_nothing_surprised_or_nothing_is_known(surprises):
    record = record_of([0.0, 0.0, 0.0])._replace(
        surprises=None if surprises is None else np.array(surprises, np.float32)
    )
    assert target_rows(record, 0.5).tolist() == [0, 1, 2]


def test_the_replay_takes_rows_by_surprise():
    game = make_game("connect_four")
    settings = ReplaySettings(window_start=10, window_max=10, surprise_fraction=1.0)
    replay = Replay(game, settings, np.random.default_rng(0))
    record = record_of([0.0, 1.0, 0.0])._replace(
        root_values=np.array([0.25, 0.5, 0.75], np.float32)
    )
    assert replay.add(record) == 3
    assert set(replay.sample(50).root_values.tolist()) == {0.5}


def test_the_divergence_is_that_of_the_definition_and_proven_actions_count_nothing():
    targets, priors = (
        np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]], np.float32),
        np.array([[0.25, 0.25, 0.5], [0.0, 0.8, 0.2]], np.float32),
    )
    assert kl_divergence(targets, priors) == pytest.approx([np.log(2.0), 0.0])


@pytest.mark.parametrize("known", [True, False])
def test_stored_games_keep_their_surprises_and_older_games_lack_them(tmp_path, known):
    (tmp_path / "games").mkdir()
    folder = RunFolder(tmp_path)
    records = [record_of([0.1, 0.2]), record_of([0.3])]
    folder.save_games(
        1, records if known else [record._replace(surprises=None) for record in records]
    )
    first, second = folder.load_games(1, 10)
    assert len(first.actions) == 2 and len(second.actions) == 1
    assert second.surprises is None if not known else second.surprises == pytest.approx([0.3])
