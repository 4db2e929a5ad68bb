"""Files of earlier versions: removed settings are dropped, and a person who types one is told so."""

import dataclasses

import pytest

from alphazero.cli.train import compose
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.settings import from_overrides, from_stored, rows
from alphazero.runtime.stored_names import (
    RETIRED_SETTINGS,
    check_stored_settings,
    current_overrides,
)
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
