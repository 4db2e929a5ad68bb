"""Files of earlier versions: removed settings are dropped, and refused on the command line."""

import dataclasses

import numpy as np
import pytest
from network_samples import SMALL, small_network
from omegaconf import OmegaConf

from alphazero.cli import train
from alphazero.games.registry import make_game
from alphazero.network.interface import NetworkSettings
from alphazero.network.weights import load_network, network_arrays, save_network
from alphazero.players.base import PlayerSettings
from alphazero.players.network import NetworkPlayer
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import from_stored, rows
from alphazero.runtime.stored_names import (
    RENAMED_METRICS,
    RENAMED_SETTINGS,
    RETIRED_SETTINGS,
    SHAPES_OF_STORED_NETWORKS,
    SHAPES_OF_STORED_RUNS,
    check_stored_settings,
    current_metrics,
    current_overrides,
)
from alphazero.training.compose import compose
from alphazero.training.settings import TrainSettings


def other_value(neutral):
    """Return a value with which a removed setting had an effect."""
    return {bool: True, int: 4, float: 0.5, str: "other"}[type(neutral)]


@pytest.mark.parametrize("key", RETIRED_SETTINGS)
def test_a_stored_config_that_names_a_removed_setting_still_loads(key):
    section, name = key.split(".")
    expected = TrainSettings()
    for value in (RETIRED_SETTINGS[key], other_value(RETIRED_SETTINGS[key])):
        stored = dataclasses.asdict(expected)
        stored[section][name] = value
        assert from_stored(TrainSettings, stored, "config.yaml") == expected
    assert current_overrides([f"{key}=1", "seed=3"]) == ["seed=3"]


@pytest.mark.parametrize("key", RETIRED_SETTINGS)
def test_a_removed_setting_is_refused_on_the_command_line(key):
    assert key not in {known for known, *_ in rows(TrainSettings())}
    with pytest.raises(ConfigError) as composed:
        compose([f"{key}=7"])
    with pytest.raises(ConfigError) as resumed:
        from_overrides(TrainSettings, [f"{key}=7"], "train resume=...")
    for error in (composed.value, resumed.value):
        assert (error.key, error.value) == (key, "7")
        assert "removed" in str(error)


def test_a_file_that_depends_on_a_removed_setting_is_refused():
    key = "replay.merge_positions"
    check_stored_settings({}, "a.file", "replay.", (key,))
    check_stored_settings({"merge_positions": False}, "a.file", "replay.", (key,))
    with pytest.raises(StoredFileError) as refused:
        check_stored_settings({"merge_positions": True}, "a.file", "replay.", (key,))
    assert refused.value.path.name == "a.file"
    assert f"{key}=true" in str(refused.value)


# --- networks and runs ----------------------------------------------------------------------------


def store_network(path, retired=None, weights=None):
    """Store a small network as an earlier version did; return its weights.

    Args:
        retired: settings that were removed since, without "network.".
        weights: weights that were removed since.
    """
    game = make_game("tic_tac_toe")
    arrays = network_arrays(small_network(game))
    settings = dataclasses.asdict(NetworkSettings(**SMALL)) | (retired or {})
    save_network(path, arrays | (weights or {}), game.name, settings, {"iteration": 3})
    return arrays


def test_a_stored_network_that_names_removed_settings_loads(tmp_path):
    path = tmp_path / "network.safetensors"
    retired = {
        key.removeprefix("network."): value
        for key, value in RETIRED_SETTINGS.items()
        if key.startswith("network.")
    }
    arrays = store_network(path, retired)
    stored = load_network(path)
    assert stored.settings == dataclasses.asdict(NetworkSettings(**SMALL))
    assert set(stored.arrays) == set(arrays)


def test_a_stored_network_with_removed_heads_plays_without_them(tmp_path):
    path = tmp_path / "network.safetensors"
    heads = {"reply_head": True, "margin_head": True}
    weights = {name: np.ones(9, np.float32) for name in ("reply.bias", "margin.bias")}
    arrays = store_network(path, heads, weights)
    stored = load_network(path)
    assert set(stored.arrays) == set(arrays)
    game = make_game("tic_tac_toe")
    player = NetworkPlayer(game, path, PlayerSettings(num_simulations=4, device="cpu"))
    assert player.choose(game.initial_states(2)).actions.shape == (2,)


@pytest.mark.parametrize("key", SHAPES_OF_STORED_NETWORKS)
def test_a_stored_network_that_depends_on_a_removed_setting_is_refused(tmp_path, key):
    path = tmp_path / "network.safetensors"
    store_network(path, {key.removeprefix("network."): other_value(RETIRED_SETTINGS[key])})
    with pytest.raises(StoredFileError) as refused:
        load_network(path)
    assert refused.value.path == path
    assert key in str(refused.value)


@pytest.mark.parametrize("key", SHAPES_OF_STORED_RUNS)
def test_a_run_whose_learner_depends_on_a_removed_setting_is_not_resumed(tmp_path, key):
    settings = dataclasses.asdict(TrainSettings())
    settings["network"][key.removeprefix("network.")] = other_value(RETIRED_SETTINGS[key])
    OmegaConf.save(OmegaConf.create(settings), tmp_path / "config.yaml")
    (tmp_path / "state.safetensors").touch()
    with pytest.raises(StoredFileError) as refused:
        train.main([f"resume={tmp_path}"])
    assert refused.value.path == tmp_path / "config.yaml"
    assert key in str(refused.value)


# --- the tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize("renamed", (RENAMED_SETTINGS, RENAMED_METRICS))
def test_an_old_name_leads_to_todays_name_in_one_step(renamed):
    assert not set(renamed.values()) & set(renamed)
    assert not set(renamed.values()) & set(RETIRED_SETTINGS)


@pytest.mark.parametrize("old_name", ("fresh.num_rows", "held_out.num_rows"))
def test_metrics_of_every_earlier_version_get_todays_names(old_name):
    assert current_metrics({old_name: 512, "iteration": 1}) == {
        "held_out.num_samples": 512,
        "iteration": 1,
    }
