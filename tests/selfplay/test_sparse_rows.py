"""Sparse rows behave as a dense array; games in progress and replay grow with what is played."""

import numpy as np
import pytest
from run_samples import assert_same, make_trainer, reports

from alphazero.network.weights import network_arrays
from alphazero.replay import buffer
from alphazero.selfplay import games_in_progress
from alphazero.selfplay.sparse_rows import SparseRows


@pytest.mark.parametrize("seed", range(5))
def test_sparse_rows_are_the_dense_array_under_random_operations(seed):
    rng = np.random.default_rng(seed)
    found, expected = SparseRows((5, 6), 300), np.zeros((5, 6, 300), np.float32)
    for _ in range(30):
        num, num_plies = rng.integers(0, 5), rng.integers(0, expected.shape[1] + 1)
        rows, plies = rng.permutation(5)[:num], rng.integers(expected.shape[1], size=num)
        new = rng.random((num, 300), np.float32) * (rng.random((num, 1)) ** 4 > rng.random(300))
        found[rows, plies] = expected[rows, plies] = new
        new = np.where(rng.random((num, num_plies, 300)) < 0.01, np.float32(rng.normal()), 0)
        new = new.astype(np.float32)
        found[rows, :num_plies] = expected[rows, :num_plies] = new
        if rng.random() < 0.2:
            expected = np.pad(expected, [(0, 0), (0, 2), (0, 0)])
            found = found.lengthened(expected.shape[1], axis=1)
        for places in ((rows, plies), (2, slice(num_plies)), slice(None), rows):
            assert found[places].dtype == np.float32
            assert np.array_equal(found[places], expected[places])
    narrow = SparseRows((4,), 300)
    narrow[:2] = np.eye(2, 300, 7, np.float32) + np.eye(2, 300, 2, np.float32)
    assert narrow._values.shape == narrow._columns.shape == (4, 2)


@pytest.mark.slow
def test_room_that_grows_changes_nothing_of_a_run(tmp_path, monkeypatch):
    words = "run.num_iterations=3", "replay.window_start=300", "replay.window_max=300"
    words += ("replay.symmetries=all",)
    expected = make_trainer(tmp_path / "a", *words)
    reports(expected)
    monkeypatch.setattr(games_in_progress, "_FIRST_PLIES", 1)
    monkeypatch.setattr(buffer, "_FIRST_SAMPLES", 1)
    found = make_trainer(tmp_path / "b", *words)
    reports(found)
    assert found.board.replay.num_added > 300 == len(found.board.replay._stored.outcomes)
    assert_same(network_arrays(found.learner.network), network_arrays(expected.learner.network))
