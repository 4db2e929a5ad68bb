"""Stored names of game files are the user's game file however its path is spelled."""

import dataclasses

import numpy as np
import pytest
from game_samples import EXAMPLE, TWICE
from network_samples import SMALL, small_network

from alphazero.evaluation.exact.set_file import find_set
from alphazero.evaluation.ratings import RatingFile
from alphazero.network.weights import network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.network import load_network_player
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.storage import pretrained
from alphazero.training.settings import TrainSettings, check_resumable

STORED = "examples/snort.py"  # leads nowhere from the folder of the test
NETWORK = SMALL | {"kind": "tiny"}


@pytest.fixture(autouse=True)
def _another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def network(tmp_path):
    """The file of a network that was trained as ``game.name=examples/snort.py``."""
    path = tmp_path / "snort.safetensors"
    weights = network_arrays(small_network(make_game(EXAMPLE), trained=False, **NETWORK))
    save_network(path, weights, STORED, NETWORK, {})
    return path


def test_a_network_plays_for_its_game_file_alone(network):
    player = load_network_player(make_game(EXAMPLE), network, PlayerSettings(num_simulations=1))
    assert player.game.name == EXAMPLE
    with pytest.raises(ValueError, match="twice_game.py"):
        load_network_player(make_game(TWICE), network)


def test_a_shipped_network_is_found_for_its_game_file(network, tmp_path, monkeypatch):
    monkeypatch.setattr(pretrained, "shipped_folder", lambda: tmp_path)
    assert pretrained.shipped_network(EXAMPLE) == network
    assert pretrained.shipped_network("other.py") is None


def test_ratings_go_on_for_their_game_file(tmp_path):
    RatingFile(tmp_path / "ratings.json", STORED, 4).write()
    assert RatingFile.open(tmp_path / "ratings.json", EXAMPLE, 4).num_games == 0
    with pytest.raises(StoredFileError):
        RatingFile.open(tmp_path / "ratings.json", "other.py", 4)


def test_an_evaluation_set_is_of_its_game_file(tmp_path):
    game, path = make_game(EXAMPLE), tmp_path / "set.csv"
    scores = " ".join(f"{action}:{-(action != 12)}" for action in range(25))
    path.write_text(f"# game: {STORED}\nmoves,scores,source\n,{scores},random\n")
    assert np.array_equal(find_set(str(path), game).states, game.initial_states())
    path.write_text(path.read_text().replace(STORED, "examples/other.py"))
    with pytest.raises(StoredFileError):
        find_set(str(path), game)


def test_a_run_is_resumed_for_its_game_file():
    old, new = TrainSettings(), TrainSettings()
    old.game = dataclasses.replace(old.game, name=STORED)
    new.game = dataclasses.replace(new.game, name=EXAMPLE)
    check_resumable(old, new)
    new.game.name = "other.py"
    with pytest.raises(ConfigError) as error:
        check_resumable(old, new)
    assert (error.value.key, error.value.value) == ("game.name", "other.py")
