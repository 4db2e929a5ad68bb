"""The script that prints where a run's time went, on metrics of an earlier and of a new version."""

import shutil
from pathlib import Path

import pytest
import time_breakdown

TESTS = Path(__file__).parents[1]


def test_the_parts_add_up_to_the_whole_run():
    row = {
        "selfplay_s": 10.0,
        "selfplay.evaluator_fraction": 0.8,
        "selfplay.network_fraction": 0.5,
        "learner_s": 5.0,
        "sampling_s": 1.0,
        "engine.seconds": 0.5,
        "measure_s": 2.0,
        "store_s": 0.25,
    }
    parts = time_breakdown.time_breakdown([row | {"elapsed_s": 17.0}, row | {"elapsed_s": 35.0}])
    assert list(parts.values()) == pytest.approx([10, 6, 4, 8, 2, 1, 4, 4, 0.5])
    assert sum(parts.values()) == pytest.approx(35 + 2 * (2.0 + 0.25))
    table = time_breakdown.breakdown_table(parts, "a run")
    assert list(table.columns[2].cells)[-1] == f"{18 / 39.5:.1%}"


@pytest.mark.parametrize("metrics", ["", '{"iteration": 1, "selfplay_s": 2.0}\n'])
def test_metrics_that_lack_the_times_are_refused_in_one_line(tmp_path, capsys, metrics):
    shutil.copy(TESTS / "stored_run" / "state.safetensors", tmp_path)
    (tmp_path / "metrics.jsonl").write_text(metrics)
    assert time_breakdown.main([str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
