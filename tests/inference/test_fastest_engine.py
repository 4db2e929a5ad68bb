"""The engine of a player: what is named is taken, "auto" is measured once and remembered."""

import pytest
import torch
from network_samples import SMALL, small_network

from alphazero.inference import fastest_engine as module
from alphazero.inference import measurements
from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.engine import REFERENCE, EngineChoice
from alphazero.inference.engines.registry import make_engine
from alphazero.inference.fastest_engine import PlayerNetwork, fastest_engine
from alphazero.network.interface import NetworkSettings
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings, engine_of
from alphazero.players.registry import make_player
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator

GAME = make_game("tic_tac_toe")
INT8, FLOAT32 = EngineChoice("openvino", "int8"), EngineChoice("openvino", "float32")
AUTO = EngineChoice("auto", "auto")
CPU = torch.device("cpu")


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Replace the machine: its engines, their speeds, and the cache; return the measurements."""
    measured = []

    def measure(choices, *_):
        measured.append(list(choices))
        speeds = {REFERENCE: [900.0, 100.0], FLOAT32: [500.0, 200.0], INT8: [400.0, 800.0]}
        return {choice: speeds[choice] for choice in choices}

    monkeypatch.setattr(module, "candidates", lambda *_: [REFERENCE, FLOAT32, INT8])
    monkeypatch.setattr(module, "measure_batch_sizes", measure)
    monkeypatch.setattr(measurements, "cache_directory", lambda: tmp_path / "kernels")
    return measured


def chosen(wanted=AUTO, num_threads=2, **shape):
    settings = NetworkSettings(**(SMALL | shape))
    sample = sample_positions(GAME, 8, child_generator(0, "sample"))
    network = small_network(GAME)
    return fastest_engine(PlayerNetwork(GAME, network, settings, sample, CPU, num_threads), wanted)


def test_auto_is_the_best_for_single_positions_and_batches_together(machine):
    assert chosen() == INT8


def test_it_is_measured_once_for_each_shape_and_number_of_threads(machine, capsys):
    assert {chosen(), chosen()} == {INT8}
    assert len(machine) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1  # a pause is announced
    chosen(num_threads=1)
    chosen(channels=16)
    assert len(machine) == 3


@pytest.mark.parametrize("text", ["", "[]", "{", '{"fastest": ["tensorrt", "int4"]}'])
def test_a_damaged_measurement_is_made_again(machine, tmp_path, text):
    chosen()
    (path,) = tmp_path.glob("engine-*.json")
    path.write_text(text)
    assert chosen() == INT8
    assert len(machine) == 2


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (("torch", "auto"), ("torch", "float32")),
        (("openvino", "auto"), ("openvino", "float32")),
        (("openvino", "bfloat16"), ("openvino", "bfloat16")),
    ],
)
def test_an_engine_that_is_named_is_taken_unmeasured(machine, wanted, expected):
    assert chosen(EngineChoice(*wanted)) == EngineChoice(*expected)
    assert not machine


def test_without_another_engine_torch_plays_unmeasured(machine, monkeypatch):
    bfloat16 = EngineChoice("torch", "bfloat16")
    monkeypatch.setattr(module, "candidates", lambda *_: [REFERENCE, bfloat16])
    assert chosen() == REFERENCE
    assert not machine


def test_an_unknown_engine_is_refused():
    with pytest.raises(ConfigError) as refused:
        make_engine(EngineChoice("tensorrt", "float32"), CPU, 1)
    assert refused.value.value == "tensorrt"


def test_a_player_says_what_runs_its_network():
    player = make_player("best", GAME, PlayerSettings(num_simulations=2))
    assert engine_of(player) == engine_of(player.limited(1)) == str(REFERENCE)
    assert player.name == "best"
    assert engine_of(make_player("random", GAME)) == ""
