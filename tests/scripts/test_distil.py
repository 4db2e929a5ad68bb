"""A small network learns the answers of a large one."""

import distil
import numpy as np
import pytest

from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player

GAME = make_game("tic_tac_toe")


@pytest.fixture(scope="module")
def answers():
    evaluator = make_player("best", GAME, PlayerSettings()).evaluator
    return distil.ask(GAME, evaluator, 600)


def test_a_batch_turns_cells_and_moves_alike(answers):
    rows = np.arange(200)
    first = distil.batch_of(GAME, answers, rows, 0)
    images = set()
    for symmetry in range(len(GAME.cell_symmetries)):
        batch = distil.batch_of(GAME, answers, rows, symmetry)
        images.add(batch.planes.tobytes())
        is_empty = batch.planes[:, :2].sum(axis=1).reshape(200, -1) == 0
        assert np.array_equal(batch.legal_action_mask, is_empty)
        cells = GAME.action_symmetries[symmetry]
        np.testing.assert_array_equal(batch.action_weights[:, cells], first.action_weights)
        np.testing.assert_array_equal(batch.root_values, first.root_values)
    assert len(images) == 8


def test_the_student_is_a_network_that_plays(tmp_path, capsys):
    path = tmp_path / "student.safetensors"
    settings = ["num_positions=600", "learner.batch_size=32"]
    assert distil.main(["tic_tac_toe", str(path), *settings, "num_steps=40"]) == 0
    kept = path.with_suffix(".npz")
    changed, first = kept.stat().st_mtime_ns, path.read_bytes()
    student = make_player(str(path), GAME, PlayerSettings(with_search=False))
    assert student.choose(GAME.initial_states(1)).action_weights[0].sum() == pytest.approx(1)
    assert distil.main(["tic_tac_toe", str(path), *settings, "num_steps=20"]) == 0
    assert kept.stat().st_mtime_ns == changed and path.read_bytes() != first
    assert distil.main(["no_game", str(path)]) == 2
