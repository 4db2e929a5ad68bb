"""The Python API, `import alphazero as az`: it does what its docstrings say, and loads quickly."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import alphazero as az

TINY = ("experiment=dummy_run", "run.num_iterations=2")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    reports = list(az.train(*TINY, f"run.root={root}", "run.name=tiny"))
    return root, reports


def test_every_public_name_exists_and_is_documented():
    for name in az.__all__:
        assert inspect.getdoc(getattr(az, name)), name
    assert set(az.__all__) <= set(dir(az))


def test_the_api_page_shows_every_public_name():
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    shown = re.findall(r"^::: alphazero\.(?:\w+\.)*(\w+)$", page, re.MULTILINE)
    assert set(az.__all__) <= set(shown)


def test_importing_loads_nothing_heavy():
    code = "import sys, alphazero; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {"torch", "numpy", "numba", "hydra", "omegaconf", "rich"} & loaded


def test_a_game_and_a_player_by_name():
    game = az.make_game("tic_tac_toe")
    player = az.load_player("best", game, num_simulations=50)
    analysis = player.analyse(game.initial_states()[0])
    assert analysis.action == 4 and analysis.num_simulations <= 50
    assert analysis.action_weights.shape == (game.num_actions,)
    assert analysis.action_weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("spec", "settings", "key", "value"),
    [
        ("no_such_player", {}, None, "no_such_player"),
        ("uct", {"uct_c": -1.0}, "uct_c", -1.0),
        ("uct", {"num_simulations": "many"}, "num_simulations", "many"),
        ("uct", {"no_such_setting": 3}, "no_such_setting", 3),
    ],
)
def test_an_impossible_player_is_refused(spec, settings, key, value):
    with pytest.raises(az.ConfigError) as refused:
        az.load_player(spec, "tic_tac_toe", **settings)
    assert (refused.value.key, refused.value.value) == (key, value)


def test_a_match_between_specifications():
    report = az.play_match("tic_tac_toe", "uct:200", "random", num_games=8, opening_plies=1, seed=1)
    assert isinstance(report, az.MatchReport)
    assert report.wins + report.draws + report.losses == 8 and report.score > 0.5
    made = [az.load_player(spec, "tic_tac_toe") for spec in ("uct:200", "random")]
    again = az.play_match("tic_tac_toe", *made, num_games=8, opening_plies=1, seed=1)
    assert again.games == report.games
    for drawn in (True, False):
        found = az.play_match("tic_tac_toe", *made, num_games=2, drawn_openings=drawn)
        assert found.drawn_openings is drawn


def test_a_player_is_proven():
    proof = az.prove("tic_tac_toe", az.load_player("solver", "tic_tac_toe"))
    assert proof.num_not_final == proof.num_accurate == 4520


def test_training_yields_a_report_for_each_stored_iteration(run):
    root, reports = run
    assert [report.iteration for report in reports] == [1, 2]
    assert all(np.isfinite(report.learner.loss) for report in reports)


def test_a_program_may_change_its_folder_while_it_trains(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in az.train(*TINY, "run.name=a"):
        monkeypatch.chdir(tmp_path.parent)
    assert len(az.load_run(tmp_path / "checkpoints" / "tic_tac_toe" / "a").metrics) == 2


def test_a_stored_run_tells_what_its_training_reported(run):
    root, reports = run
    stored = az.load_run("latest", root=root)
    assert stored.path.name == "tiny"
    assert [row["learner.loss"] for row in stored.metrics] == [r.learner.loss for r in reports]
    assert stored.settings.run.num_iterations == 2
    assert [network.stem for network in stored.networks] == ["000001", "000002"]
    assert any(stored.path.glob("events.out.tfevents*"))
    json.dumps(stored.metrics)


def test_a_trained_network_is_a_player(run):
    root, _ = run
    stored = az.load_run(root / "tic_tac_toe" / "tiny")
    game = az.make_game(stored.settings.game.name)
    player = az.load_player(str(stored.networks[-1]), game, num_simulations=8)
    assert 0 <= player.analyse(game.initial_states()[0]).action < game.num_actions


def test_settings_made_by_hand_are_checked_before_anything_is_stored(tmp_path):
    settings = az.make_settings(*TINY, f"run.root={tmp_path}")
    settings.learner.batch_size = 0
    with pytest.raises(az.ConfigError) as refused:
        next(az.train(settings=settings))
    assert (refused.value.key, refused.value.value) == ("learner.batch_size", 0)
    assert not list(tmp_path.iterdir())
