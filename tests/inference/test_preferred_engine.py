"""The engine of a player: what is named is taken, "auto" takes OpenVINO before torch."""

import pytest
import torch

from alphazero.inference.engines import selection
from alphazero.inference.engines.engine import REFERENCE, EngineChoice
from alphazero.inference.engines.registry import make_engine
from alphazero.inference.engines.selection import preferred_engine
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings, engine_of
from alphazero.players.registry import make_player
from alphazero.runtime.errors import ConfigError

CPU = torch.device("cpu")
TORCH = ["float32", "bfloat16"]


@pytest.mark.parametrize(
    ("openvino", "wanted", "expected"),
    [
        (["float32", "bfloat16", "int8"], ("auto", "auto"), ("openvino", "int8")),
        (["float32", "bfloat16"], ("auto", "auto"), ("openvino", "bfloat16")),
        (["float32", "int8"], ("auto", "float32"), ("openvino", "float32")),
        (["float32", "int8"], ("auto", "bfloat16"), ("torch", "bfloat16")),
        ([], ("auto", "auto"), ("torch", "float32")),
        (["float32", "int8"], ("torch", "auto"), ("torch", "float32")),
        (["float32", "int8"], ("openvino", "auto"), ("openvino", "float32")),
        ([], ("openvino", "bfloat16"), ("openvino", "bfloat16")),  # `make_engine` refuses it
    ],
)
def test_the_choice_follows_the_settings_and_the_machine(openvino, wanted, expected, monkeypatch):
    machine = {"torch": TORCH, "openvino": openvino}
    monkeypatch.setattr(selection, "precisions", lambda engine, _: machine[engine])
    assert preferred_engine(EngineChoice(*wanted), CPU) == EngineChoice(*expected)


def test_an_unknown_engine_is_refused():
    with pytest.raises(ConfigError) as refused:
        make_engine(EngineChoice("tensorrt", "float32"), CPU, 1)
    assert refused.value.value == "tensorrt"


def test_a_player_says_what_runs_its_network():
    player = make_player("best", make_game("tic_tac_toe"), PlayerSettings(num_simulations=2))
    assert engine_of(player) == engine_of(player.limited(1)) == str(REFERENCE)
    assert player.name == "best"
    assert engine_of(make_player("random", make_game("tic_tac_toe"))) == ""
