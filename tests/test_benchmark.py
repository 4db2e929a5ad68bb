"""The scripts that measure: what they report, not how fast anything is."""

import importlib.util
import json
from pathlib import Path

import pytest

from alphazero.games.registry import make_game


def load(name):
    """Import a script."""
    spec = importlib.util.spec_from_file_location(
        name, Path(__file__).parents[1] / "scripts" / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


benchmark = load("benchmark")


# --- benchmark.py -----------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(benchmark, "UCT_SIMULATIONS", {"tic_tac_toe": 200})
    monkeypatch.setattr(benchmark, "PLAYOUTS", {"tic_tac_toe": 50, "connect_four": 50})


def test_the_figures_are_shown_and_written_with_their_units(short, tmp_path, capsys):
    path = tmp_path / "figures.json"
    assert benchmark.main(["--only", "uct,playouts", "--repeats", "1", "--json", str(path)]) == 0
    report = json.loads(path.read_text())
    assert set(report) == {"machine", "uct", "playouts"}
    assert {"processor", "python", "numba", "open_spiel"} <= set(report["machine"])
    assert [row["name"] for row in report["playouts"]] == ["tic_tac_toe", "connect_four"]
    figures = report["uct"][0]["figures"]
    assert figures["simulations"] == 200 and figures["simulations_per_s"] > 0
    if benchmark.has_open_spiel():
        assert figures["ratio"] == pytest.approx(
            figures["simulations_per_s"] / figures["open_spiel_simulations_per_s"]
        )
    assert "playouts/s" in capsys.readouterr().out


def test_only_the_parts_asked_for_are_measured(short, tmp_path, capsys):
    path = tmp_path / "figures.json"
    benchmark.main(["--only", "playouts", "--repeats", "1", "--json", str(path)])
    assert set(json.loads(path.read_text())) == {"machine", "playouts"}


def test_without_open_spiel_the_rest_is_measured(short, monkeypatch):
    monkeypatch.setattr(benchmark, "has_open_spiel", lambda: False)
    (row,) = benchmark.uct_rows(benchmark.Settings(repeats=1))
    assert set(row.figures) == {"simulations", "simulations_per_s", "by_position_simulations_per_s"}


def test_solvers_are_measured_on_positions_of_the_stage_that_the_row_names(monkeypatch):
    monkeypatch.setattr(benchmark, "SOLVER_PLIES", (30,))
    monkeypatch.setattr(benchmark, "SOLVER_EMPTIES", {"othello:4": (5,)})
    monkeypatch.setattr(benchmark, "SOLVER_POSITIONS", 3)
    rows = benchmark.solver_rows(benchmark.Settings(repeats=1))
    assert [row.name for row in rows] == ["connect_four, ply 30", "othello:4, 5 empty"]
    for row in rows:
        assert 0 < row.figures["median_ms"] <= row.figures["slowest_ms"]
        assert row.figures["nodes"] > 0 and row.figures["nodes_per_s"] > 0
    for name, empties in (("connect_four", 12), ("othello:4", 5)):
        game, states = make_game(name), benchmark.positions_with(name, empties)
        assert len(states) == 3 and not game.over(states).any()
        assert [int((game.cells(state) == 0).sum()) for state in states] == [empties] * 3


def test_measurements_take_turns_and_the_first_of_each_does_not_count():
    calls = []

    def run(name, numbers):
        return lambda seed: calls.append((name, seed)) or numbers[seed]

    medians = benchmark.in_turn(
        {"a": run("a", [1000, 3, 1, 2]), "b": run("b", [0, 5, 6, 70])}, repeats=3
    )
    assert medians == {"a": 2, "b": 6}
    assert calls == [(name, seed) for seed in range(4) for name in "ab"]


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(benchmark, "SELFPLAY_GAMES", {"tic_tac_toe": (1, 8)})
    for name, value in {
        "SELFPLAY_BATCH": 6,
        "SELFPLAY_SIMULATIONS": 5,
        "SELFPLAY_S": 0.1,
        "ALONE_S": 0.02,
        "MEMORY_GAMES": 24,
    }.items():
        monkeypatch.setattr(benchmark, name, value)
    monkeypatch.setattr(benchmark, "LEARNER_NETWORKS", {"tiny": 8})
    monkeypatch.setattr(benchmark, "thread_counts", lambda: [1, 2])
    monkeypatch.setattr(
        benchmark, "apart", lambda num_cores, function, *arguments: function(*arguments)
    )


def test_self_play_is_measured_beside_its_engine_with_ratios_of_what_was_measured(tiny):
    one, two = benchmark.selfplay_rows(benchmark.Settings(repeats=1))
    assert (one.name, two.name) == ("tic_tac_toe 1x8, 1 core", "tic_tac_toe 1x8, 2 cores")
    for figures in (one.figures, two.figures):
        simulations = figures["simulations_per_s"]
        assert figures["ratio_to_engine_alone"] == pytest.approx(
            simulations / figures["engine_alone_evaluations_per_s"]
        )
        assert figures["ratio_to_torch_eager_float32"] == pytest.approx(
            simulations / figures["torch_eager_float32_evaluations_per_s"]
        )
        assert figures["gain_of_the_cache"] == pytest.approx(
            figures["with_cache_simulations_per_s"] / simulations
        )
        assert (
            0 < figures["with_cache_hit_rate"] < 1
            and 0 < figures["evaluator_fraction"] < 1
            and 1 <= figures["mean_batch"] <= 6
        )


def test_the_search_and_the_learner_are_measured_on_each_number_of_cores(tiny):
    rows = benchmark.search_rows(benchmark.Settings(repeats=1)) + benchmark.learner_rows(
        benchmark.Settings(repeats=1)
    )
    assert [row.name for row in rows] == [
        "tic_tac_toe, 1 core",
        "tic_tac_toe, 2 cores",
        "tiny, 8 rows, 1 core",
        "tiny, 8 rows, 2 cores",
    ]
    assert all(row.figures["simulations_per_s"] > 0 for row in rows[:2])
    assert all(
        row.figures["ratio"]
        == pytest.approx(row.figures["rows_per_s"] / row.figures["arithmetic_alone_rows_per_s"])
        for row in rows[2:]
    )


def test_memory_is_told_after_each_quarter_and_its_peak_is_no_smaller(tiny):
    figures = benchmark.memory_rows(benchmark.Settings(repeats=1))[0].figures
    assert list(figures) == [*(f"after_{games}_games_mb" for games in (6, 12, 18, 24)), "peak_mb"]
    assert 50 < figures["after_24_games_mb"] <= 1.1 * figures["peak_mb"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "uct,speed"], "there is no part 'speed'"),
        (["--repeats", "0"], "from 1 on"),
        (["--json", "no/such/x"], "there is no folder"),
    ],
)
def test_the_benchmark_refuses_bad_words_in_a_sentence(words, sentence, capsys):
    with pytest.raises(SystemExit, match="2"):
        benchmark.main(words)
    assert sentence in capsys.readouterr().err
