"""The benchmark reports what it promises; nothing here measures how fast anything is."""

import importlib
import json

import benchmark
import pytest
from benchmark_parts import (
    engines,
    learner,
    measuring,
    selfplay,
    uct,
)


@pytest.fixture
def short(monkeypatch):
    """Make the parts without a network short."""
    monkeypatch.setattr(uct, "NUM_SIMULATIONS", {"tic_tac_toe": 200})
    monkeypatch.setattr(uct, "NUM_PLAYOUTS", {"tic_tac_toe": 50, "connect_four": 50})


def test_figures_are_printed_and_written_with_their_units(short, tmp_path, capsys):
    path = tmp_path / "figures.json"
    assert benchmark.main(["--only", "uct,playouts", "--repeats", "1", "--json", str(path)]) == 0
    report = json.loads(path.read_text())
    assert set(report) == {"machine", "uct", "playouts"}
    assert {"processor", "python", "numba", "open_spiel"} <= set(report["machine"])
    assert [row["name"] for row in report["playouts"]] == ["tic_tac_toe", "connect_four"]
    figures = report["uct"][0]["figures"]
    assert figures["simulations"] == 200 and figures["simulations_per_s"] > 0
    if uct.has_open_spiel():
        expected = figures["simulations_per_s"] / figures["open_spiel_simulations_per_s"]
        assert figures["ratio"] == pytest.approx(expected)
    assert "playouts/s" in capsys.readouterr().out


def test_every_part_exists_and_is_listed_in_the_help(capsys):
    with pytest.raises(SystemExit, match="0"):
        benchmark.main(["--help"])
    help_text = capsys.readouterr().out
    for name, part in benchmark.PARTS.items():
        assert f"\n  {name} " in help_text
        module = importlib.import_module(f"benchmark_parts.{part.module}")
        assert callable(getattr(module, part.function))


def test_runs_take_turns_and_the_first_of_each_does_not_count():
    calls = []

    def run(name, numbers):
        return lambda seed: calls.append((name, seed)) or numbers[seed]

    runs = {"a": run("a", [1000, 3, 1, 2]), "b": run("b", [0, 5, 6, 70])}
    assert measuring.in_turn(runs, repeats=3) == {"a": 2, "b": 6}
    assert calls == [(name, seed) for seed in range(4) for name in "ab"]


@pytest.fixture
def tiny(monkeypatch):
    """Make the parts with a network short, in this process."""
    monkeypatch.setattr(selfplay, "NETWORKS", {"tic_tac_toe": "2x32"})
    small = {"BATCH": 6, "NUM_SIMULATIONS": 5, "RUN_S": 0.1, "NUM_MEMORY_GAMES": 24}
    for name, value in small.items():
        monkeypatch.setattr(selfplay, name, value)
    monkeypatch.setattr(engines, "RUN_S", 0.02)
    monkeypatch.setattr(learner, "NETWORKS", {"tiny": 8})
    monkeypatch.setattr(learner, "NUM_STEPS", {"tiny": 40})
    monkeypatch.setattr(learner, "NUM_GAMES", 64)
    monkeypatch.setattr(measuring, "core_counts", lambda: [1, 2])
    monkeypatch.setattr(
        measuring, "in_new_process", lambda num_cores, function, *arguments: function(*arguments)
    )


@pytest.mark.slow
def test_self_play_is_measured_beside_its_engine_with_their_ratios(tiny):
    measured = benchmark.measure("selfplay", repeats=1)
    names = [f"tic_tac_toe {name}" for name in ("2x32", "windows", "patterns")]
    cores = ("1 core", "2 cores")
    assert [row.name for row in measured] == [f"{name}, {one}" for name in names for one in cores]
    for row in measured:
        figures = row.figures
        is_looked_up = "2x32" not in row.name  # by a kernel that does many simulations in one call
        speed = figures["simulations_per_s"]
        for name in ("engine_alone", "torch_eager_float32"):
            expected = speed / figures[f"{name}_evaluations_per_s"]
            assert figures[f"ratio_to_{name}"] == pytest.approx(expected)
        expected = figures["with_cache_simulations_per_s"] / speed
        assert figures["gain_of_the_cache"] == pytest.approx(expected)
        assert 0 < figures["with_cache_hit_rate"] < 1 <= figures["mean_batch"]
        assert (figures["mean_batch"] > 6) == is_looked_up
        assert 0 < figures["network_fraction"] < figures["evaluator_fraction"] < 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--only", "uct,speed"], ("--only", "speed", "playouts")),
        (["--repeats", "0"], ("--repeats", "0", "1 or more")),
        (["--json", "no/such/x"], ("--json", "no/such")),
    ],
)
def test_bad_arguments_are_refused(words, named, capsys):
    with pytest.raises(SystemExit, match="2"):
        benchmark.main(words)
    message = capsys.readouterr().err
    assert all(part in message for part in named)
