"""The networks that ship: found by their game, each with a card made from its own facts."""

from pathlib import Path

import numpy as np
import pytest
from model_card import card_text

from alphazero.cli import rate
from alphazero.cli.rate_players import player_name
from alphazero.network.weights import load_network, network_info, save_network
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.storage import pretrained as shipped_networks
from alphazero.storage.pretrained import is_shipped, shipped_folder, shipped_network
from alphazero.storage.run_folder import folder_name

SHIPPED = sorted(shipped_folder().glob("*.safetensors"))
MOST_BYTES = 3_000_000  # more would slow down a clone


def _save(path: Path, game: str, kind: str = "resnet") -> Path:
    save_network(path, {"w": np.zeros(1, np.float32)}, game, {"kind": kind}, {})
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped_networks, "shipped_folder", lambda: tmp_path)
    return tmp_path


def test_a_network_is_found_by_the_name_of_its_game(folder):
    path = _save(folder / "othello_6.safetensors", "othello:6")
    other = _save(folder / "othello.safetensors", "othello")
    assert shipped_network("othello:6") == path
    assert shipped_network("othello") == other
    assert shipped_network("connect_four") is None
    assert is_shipped(path)
    assert not is_shipped(folder / "othello_6" / "networks" / "000001.safetensors")


@pytest.mark.parametrize(
    "game, others, strangers",
    (
        ("othello", ("othello:6", "othello:4"), ("connect_four", "othello:10")),
        ("othello:10", ("othello:6", "othello:16"), ()),
        ("connect_four", ("connect_x:5x5x4", "connect_x"), ("connect_x:5x5x3", "connect_x:7x7x4")),
        ("gomoku", ("gomoku:9x9", "gomoku:19x19"), ("gomoku:3x3x3", "connect_x:9x9x5")),
    ),
)
def test_a_network_ships_for_all_sizes_of_the_board(folder, game, others, strangers):
    _save(folder / "a.safetensors", game)  # of another kind, which plays one size
    path = _save(folder / f"{folder_name(game)}.safetensors", game, "windows")
    assert [shipped_network(name) for name in others] == [path] * len(others)
    assert not any(map(shipped_network, strangers))


def test_a_file_whose_network_plays_another_game_is_not_trusted(folder):
    _save(folder / "connect_four.safetensors", "othello:6")
    assert shipped_network("connect_four") is None
    _save(folder / "othello_6.safetensors", "othello:6")
    # A user's game whose file has the same name:
    assert shipped_network("mine/othello_6.py") is None


# --- the shipped files ----------------------------------------------------------------------------


def test_the_games_named_in_the_readme_have_a_network():
    assert {"tic_tac_toe", "connect_four", "othello"} <= {
        load_network(path).game for path in SHIPPED
    }
    assert shipped_network("othello:6") == shipped_network("othello")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_card_is_generated_from_the_facts_in_the_network(path, request):
    """The option --regenerate-cards rewrites the cards instead."""
    card = path.with_suffix(".md")
    text = card_text(load_network(path), path.stat().st_size)
    if request.config.getoption("--regenerate-cards"):
        card.write_text(text)
    assert card.read_text() == text


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_network_is_found_and_has_its_facts(path):
    network = load_network(path)
    assert path.stem == folder_name(network.game)
    assert shipped_network(network.game) == path
    assert path.stat().st_size < MOST_BYTES
    assert {"run", "iteration", "elapsed_s", "settings", "recipe", "versions", "hardware"} <= set(
        network.info
    )
    assert {"strength", "exact", "proof"} & set(network.info), "nothing says how strong it is"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_network_plays_and_is_called_best(path):
    game = make_game(load_network(path).game)
    player = make_player("best", game, PlayerSettings(num_simulations=16, device="cpu"))
    choice = player.choose(game.initial_states(2))
    assert player.name == "best"
    assert game.legal_action_mask(game.initial_states(2))[np.arange(2), choice.actions].all()


def test_a_rating_names_the_network_that_ships_now():
    info = network_info(shipped_network("tic_tac_toe"))
    expected = f"best ({info['run']}/{info['iteration']:06d}),num_simulations=64"
    settings = rate.Settings().of_networks()
    name = player_name("best,num_simulations=64", make_game("tic_tac_toe"), settings)
    assert name == expected
