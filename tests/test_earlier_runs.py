"""A run stored by an earlier version loads, resumes and is read under today's names.

`earlier_run/` was written by commit a6e93e3: one iteration of tic-tac-toe with games under way. Its
metrics hold one line more, of the second iteration, which that commit made when it resumed the run.
"""

import math
import shutil
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from alphazero.cli import main
from alphazero.games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.network import NetworkPlayer
from alphazero.runtime.settings import from_stored, rows
from alphazero.runtime.stored_names import RENAMED_SETTINGS, RETIRED_SETTINGS
from alphazero.storage.checkpoint import load_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.health import HealthMonitor
from alphazero.training.settings import TrainSettings

EARLIER = Path(__file__).parent / "earlier_run"
KEYS = {key for key, *_ in rows(TrainSettings())}


@pytest.fixture
def folder(tmp_path):
    return RunFolder(shutil.copytree(EARLIER, tmp_path / "run"))


def test_stored_settings_load_under_todays_names(folder):
    stored = folder.read_config()
    settings = from_stored(TrainSettings, stored, folder.config)
    assert settings.learner.replay_ratio == stored["learner"]["reuse"] == 2
    assert settings.selfplay.full_search_fraction == stored["selfplay"]["full_search_share"] == 0.5
    assert settings.network.channels == stored["network"]["channels"] == 4


def test_a_key_is_current_renamed_or_retired_and_only_one_of_them():
    assert KEYS.isdisjoint(RENAMED_SETTINGS) and KEYS.isdisjoint(RETIRED_SETTINGS)
    assert KEYS.issuperset(RENAMED_SETTINGS.values())


def test_the_stored_run_has_every_retired_setting_at_its_neutral_value(folder):
    stored = OmegaConf.create(folder.read_config())
    found = {key: OmegaConf.select(stored, key) for key in RETIRED_SETTINGS}
    assert found == RETIRED_SETTINGS


def test_a_run_of_an_earlier_version_goes_on_as_it_would_have_there(folder):
    expected = folder.read_metrics()[1]
    words = [f"resume={folder.path}", "run.num_iterations=2", "evaluation.prove=false"]
    assert main(["train", *words]) == 0
    first, second = folder.read_metrics()
    assert (first["iteration"], second["iteration"]) == (1, 2)
    for name in ("num_games", "num_positions", "num_samples"):
        assert second[f"selfplay.{name}"] == expected[f"selfplay.{name}"]
    assert second["window"] == expected["window"] == 54
    for name in ("learner.loss", "learner.gradient_norm", "held_out.loss"):
        assert second[name] == pytest.approx(expected[name], rel=1e-3)


def test_a_resumed_run_keeps_every_figure_that_its_alarms_read(folder):
    monitor = HealthMonitor(TrainSettings())
    monitor.load_state_dict(load_state(folder.state)["health"])
    past = monitor.state_dict()["past"]
    unknown = {name for name, values in past.items() if not all(map(math.isfinite, values))}
    assert len(past["iteration"]) == 1
    not_measured = {"pit_accepted", "pit_ties", "strength", "strength_games"}
    no_workers_yet = {"num_workers", "workers_lost", "stale_fraction"}
    assert unknown == not_measured | no_workers_yet  # in that run


def test_a_network_of_an_earlier_version_plays(folder):
    game = make_game("tic_tac_toe")
    player = NetworkPlayer(game, folder.path, PlayerSettings(num_simulations=4, device="cpu"))
    assert player.choose(game.initial_states(2)).actions.shape == (2,)
