"""The scripts that say how many workers a run can use: the model's laws, and a small simulation."""

import importlib
import json
import math
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture
def model(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("worker_model")


def predict(model, number=10, cores=2, **changed):
    sizes = model.Sizes(network_bytes=10**6, game_bytes=1000.0, plies=20.0)
    return model.predict(model.Settings(**changed), sizes, number, cores)


def test_the_speed_is_the_least_of_the_limits(model):
    few, many = predict(model, 1), predict(model, 10_000)
    assert few.games_per_s == few.offered == 20.0 and few.limit == "workers"
    assert many.games_per_s == many.learner < many.dispatcher and many.limit == "learner"
    endless = predict(model, 10_000, samples_per_s=0.0)
    assert endless.learner == math.inf and endless.limit == "dispatcher"
    assert predict(model, 10_000, network_gbit_s=0.001).limit == "network"


def test_learning_and_taking_games_add_up(model):
    point = predict(model, 100, samples_per_s=4000.0, replay_ratio=2.0)
    assert 1 / point.learner == pytest.approx(1 / point.dispatcher + 20 * 2 / 4000)


def test_units_last_a_quarter_of_an_iteration_at_most_and_so_games_are_fresh(model):
    for number in (1, 10, 1000):
        for cores in (2, 16):
            point = predict(model, number, cores)
            asked = 2 * number * point.unit_games
            assert asked <= point.games_per_iteration / 2
            assert point.staleness <= 0.25 + 1e-9
    assert predict(model, 1, games_per_iteration=10**6, unit_s=3.0).unit_games == 60


@pytest.mark.parametrize("paced", (False, True))
def test_simulated_workers_are_served(model, tmp_path, paced):
    simulation = importlib.import_module("simulate_workers")
    path = tmp_path / "figures.json"
    words = ["workers=[3]", "unit_games=2", "seconds=0.2", "rounds=1", "games_per_s=1000"]
    simulation.main([*words, f"paced={paced}", f"json={path}"])
    (row,) = json.loads(path.read_text())
    assert row["workers"] == 3 and row["unit_games"] == pytest.approx(2, rel=0.1)
    assert row["games_per_s"] > 0 and len(row["memory_mb"]) == 4
    if paced:
        assert row["taken_games_per_s"] < 3100


@pytest.mark.parametrize(
    "script, words, status, named",
    [
        ("worker_speed", ["--help"], 0, "unit_s=5"),
        ("worker_speed", ["kinds=foo"], 2, "foo"),
        ("worker_model", ["workers=[0]x"], 2, "workers"),
        ("worker_chaos", ["compare=one"], 2, "compare=one"),
        ("worker_chaos", ["compare=nowhere,nowhere"], 2, "'nowhere'"),
        ("simulate_workers", ["against=nowhere"], 2, "nowhere"),
        ("match_speed", ["a=foo"], 2, "foo"),
    ],
)
def test_scripts_have_help_and_refuse_wrong_settings(
    script, words, status, named, monkeypatch, capsys
):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    assert importlib.import_module(script).main(words) == status
    printed = capsys.readouterr()
    assert named in (printed.err if status else printed.out)
