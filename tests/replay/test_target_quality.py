"""The script that compares training targets with the solver: its tables on a run of tic-tac-toe."""

from pathlib import Path

import numpy as np
import pytest
import target_quality

from alphazero.own_games.registry import make_game
from alphazero.solvers.base import values_of
from alphazero.solvers.registry import make_solver
from alphazero.storage.run_folder import RunFolder

RUN = Path(__file__).parents[1] / "stored_run"


def test_samples_are_positions_that_were_trained_on_one_of_a_game():
    records = target_quality.stored_games(RunFolder(RUN), make_game("tic_tac_toe"))
    samples = target_quality.sample_positions(records, 20, 2, np.random.default_rng(0))
    assert 0 < len(samples.states) <= min(20, len(records)) and samples.plies.min() >= 2
    for state, ply, outcome, value in zip(*samples):
        assert any(
            len(record.actions) > ply
            and record.is_target[ply]
            and np.array_equal(record.states[ply], state)
            and (record.outcomes[ply], record.root_values[ply]) == (outcome, value)
            for record in records
        )
    targets = target_quality.value_targets(samples)
    np.testing.assert_array_equal(targets["result"], samples.outcomes)
    np.testing.assert_allclose(
        targets["half and half"], (samples.outcomes + samples.root_values) / 2
    )


def test_exact_targets_have_no_error_in_any_range_of_plies():
    records = target_quality.stored_games(RunFolder(RUN), make_game("tic_tac_toe"))
    samples = target_quality.sample_positions(records, 20, 0, np.random.default_rng(0))
    exact = values_of(make_solver(make_game("tic_tac_toe")).scores(samples.states).max(axis=1))
    table = target_quality.value_table({"exact": exact, "wrong": exact + 2.0}, exact, samples.plies)
    assert len(table.columns) > 3
    for column in table.columns[1:]:
        assert list(column.cells) == ["0.0000", "4.0000"]


@pytest.mark.parametrize(
    "words", [["--first-ply", "99"], ["--positions", "0"], ["--network", "nosuch.safetensors"]]
)
def test_what_cannot_be_measured_is_refused_in_one_line(capsys, words):
    assert target_quality.main([str(RUN), *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
