"""What replaces "auto": the engine of players and runs, and the other settings of runs."""

import pytest
import torch

from alphazero.inference.engines import registry
from alphazero.inference.engines.registry import (
    REFERENCE,
    EngineChoice,
    make_engine,
    preferred_engine,
)
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings, engine_of
from alphazero.players.registry import make_player
from alphazero.runtime.errors import ConfigError
from alphazero.training import settings as training_settings
from alphazero.training.settings import TrainSettings, fill_in_auto

CPU = torch.device("cpu")
TORCH = ["float32", "bfloat16"]


@pytest.mark.parametrize(
    ("torch_has", "openvino_has", "wanted", "expected"),
    [
        (TORCH, ["float32", "bfloat16", "int8"], ("auto", "auto"), ("openvino", "int8")),
        (TORCH, ["float32", "bfloat16"], ("auto", "auto"), ("openvino", "bfloat16")),
        (TORCH, ["float32", "int8"], ("auto", "float32"), ("openvino", "float32")),
        (TORCH, ["float32", "int8"], ("auto", "bfloat16"), ("torch", "bfloat16")),
        (TORCH, [], ("auto", "auto"), ("torch", "bfloat16")),  # also a GPU
        (["float32"], [], ("auto", "auto"), ("torch", "float32")),
        (["float32"], ["float32", "int8"], ("torch", "auto"), ("torch", "float32")),
        (["float32"], [], ("torch", "bfloat16"), ("torch", "bfloat16")),  # slow, but it runs
        (TORCH, ["float32", "int8"], ("openvino", "auto"), ("openvino", "int8")),
        (TORCH, [], ("openvino", "bfloat16"), ("openvino", "bfloat16")),  # `make_engine` refuses it
        (TORCH, [], ("auto", "int8"), ("torch", "int8")),  # likewise
    ],
)
def test_the_choice_follows_the_settings_and_the_machine(
    torch_has, openvino_has, wanted, expected, monkeypatch
):
    machine = {"torch": torch_has, "openvino": openvino_has}
    monkeypatch.setattr(registry, "precisions", lambda engine, _: machine[engine])
    assert preferred_engine(EngineChoice(*wanted), CPU) == EngineChoice(*expected)


@pytest.mark.parametrize(
    ("device", "has_hardware", "num_games", "expected"),
    [
        ("cpu", False, 5, ("float32", 64)),
        ("cpu", True, 300, ("bfloat16", 256)),
        ("cpu", True, 9999, ("bfloat16", 512)),
        ("cuda", True, 300, ("bfloat16", 512)),
        ("cuda", False, 9999, ("float32", 4096)),
    ],
)
def test_a_run_fills_in_what_is_left_to_auto(
    device, has_hardware, num_games, expected, monkeypatch
):
    monkeypatch.setattr(training_settings, "has_bfloat16", lambda _: has_hardware)
    monkeypatch.setattr(training_settings, "preferred_engine", lambda *_: REFERENCE)
    settings = TrainSettings()
    settings.selfplay.games_per_iteration = num_games
    fill_in_auto(settings, torch.device(device))
    assert (settings.learner.precision, settings.selfplay.num_parallel_games) == expected
    assert (settings.evaluator.engine, settings.evaluator.precision) == REFERENCE
    settings.learner.precision, settings.selfplay.num_parallel_games = "float32", 7
    fill_in_auto(settings, torch.device(device))
    assert (settings.learner.precision, settings.selfplay.num_parallel_games) == ("float32", 7)


def test_an_unknown_engine_is_refused():
    with pytest.raises(ConfigError) as refused:
        make_engine(EngineChoice("tensorrt", "float32"), CPU, 1)
    assert refused.value.value == "tensorrt"


def test_a_player_says_what_runs_its_network():
    player = make_player("best", make_game("tic_tac_toe"), PlayerSettings(num_simulations=2))
    assert engine_of(player) == engine_of(player.limited(1)) == str(REFERENCE)
    assert player.name == "best"
    assert engine_of(make_player("random", make_game("tic_tac_toe"))) == ""
