"""`scripts/ship_network.py`: the network, the facts and recipe of its run, and the card."""

import dataclasses
import json

import pytest
from model_card import RUN_FOLDER_KEYS
from network_samples import SMALL, small_network
from ship_network import Settings, main, recipe, ship

from alphazero.config.command_line import from_overrides
from alphazero.config.settings import rows
from alphazero.network.weights import load_network, network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.storage.run_folder import RunFolder
from alphazero.training.run_config import compose

STRENGTH = dict(opponent="uct:500", num_simulations=64, score=0.875, score_low=0.7, score_high=0.95)
STRENGTH |= dict(wins=17, draws=1, losses=2, num_distinct=19)
EXACT = dict(num_positions=1000, num_simulations=64, raw_accuracy=0.912, raw_optimal=0.8)
EXACT |= dict(accuracy=0.987, optimal=0.9, value_error=0.1, result_accuracy=0.9)
PROOF = dict(num_positions=4520, num_accurate=4519, num_losses=1)


def _network(path, game_name="tic_tac_toe", info=None):
    network = small_network(make_game(game_name))
    save_network(path, network_arrays(network), game_name, SMALL | {"kind": "resnet"}, info or {})


def _figures(**sections) -> dict:
    return {
        f"{section}.{key}": value
        for section, figures in sections.items()
        for key, value in figures.items()
    }


@pytest.fixture
def run(tmp_path):
    """Return the folder of a run of three iterations, as training leaves it."""
    folder = RunFolder.create(str(tmp_path / "checkpoints"), "tic_tac_toe", "mine")
    folder.write_config(
        dataclasses.asdict(compose(["game=tic_tac_toe", "seed=5", "run.root=/somewhere/else"]))
    )
    common = {
        "selfplay.num_games": 10,
        "selfplay.num_positions": 70,
        "measure_s": 2.5,
        "engine.name": "torch bfloat16",
    }
    measured = [
        _figures(strength=STRENGTH | {"score": 0.5}),
        {},
        _figures(strength=STRENGTH, exact=EXACT, proof=PROOF),
    ]
    lines = [
        {"iteration": number + 1, "elapsed_s": 30.0 * (number + 1)} | common | figures
        for number, figures in enumerate(measured)
    ]
    # The last line is incomplete, as after a crash.
    text = "".join(json.dumps(line) + "\n" for line in lines) + '{"iteration": 4, "selfpl'
    folder.metrics.write_text(text)
    for number in (1, 2, 3):
        _network(
            folder.network(number),
            info={"run": "mine", "iteration": number, "elapsed_s": 30.0 * number},
        )
    folder.state.touch()
    return folder


@pytest.fixture
def shipped(tmp_path, capsys):
    """Return a function that ships a network and returns the output and the card."""

    def run_script(*words) -> tuple[str, str]:
        assert main([f"into={tmp_path / 'best'}", "replace=true", *words]) == 0
        return capsys.readouterr().out, (tmp_path / "best" / "tic_tac_toe.md").read_text()

    return run_script


def _shipped(*words):
    ship(from_overrides(Settings, list(words), "ship_network.py"))


def _table(card: str) -> dict[str, str]:
    """Return the rows of the table of a card."""
    lines = [line for line in card.splitlines() if line.startswith("| ")]
    return {cells[1].strip(): cells[2].strip() for cells in (line.split("|") for line in lines)}


def test_the_newest_network_of_a_run_is_copied_with_the_facts_and_the_card(run, tmp_path, shipped):
    printed, card = shipped(
        f"run={run.path}", "hardware=two cores: fast", "measured=[line one, line two]"
    )
    path = tmp_path / "best" / "tic_tac_toe.safetensors"
    source, shipped = load_network(run.network(3)), load_network(path)
    assert (shipped.game, shipped.settings) == (source.game, source.settings)
    assert shipped.arrays.keys() == source.arrays.keys()
    assert all((shipped.arrays[name] == array).all() for name, array in source.arrays.items())
    info = shipped.info
    assert (info["run"], info["iteration"]) == ("mine", 3)
    assert (info["elapsed_s"], info["measure_s"]) == (90.0, 7.5)
    assert (info["num_games"], info["num_positions"]) == (30, 210)
    assert (info["strength"], info["exact"], info["proof"]) == (STRENGTH, EXACT, PROOF)
    assert (info["hardware"], info["measured"]) == ("two cores: fast", ["line one", "line two"])
    assert info["settings"]["seed"] == 5 and "run.root" not in info["settings"]
    assert info["recipe"] == ["game=tic_tac_toe", "seed=5"]
    assert info["versions"] == json.loads((run.path / "versions.json").read_text())
    assert "somewhere" not in str(info)
    assert str(run.network(3)) in printed and str(path) in printed
    table = _table(card)
    assert table["game"] == "tic_tac_toe" and table["hardware"] == "two cores: fast"
    values = list(table.values())
    for facts in (("mine", "3"), ("30", "210"), ("1 min 30 s", "8 s"), ("torch bfloat16",)):
        assert any(all(fact in value for fact in facts) for value in values), facts
    items = [" ".join(item.split()) for item in card.split("\n* ")]
    for facts in (
        ("4,519", "4,520", "1 games lost"),
        ("1,000", "64", "98.7%", "90.0%", "91.2%", "80.0%"),
        ("uct:500", "64", "87.5%", "70.0%", "95.0%", "17", "1 drawn", "2 lost", "19"),
        ("line one",),
        ("line two",),
    ):
        assert any(all(fact in item for fact in facts) for item in items), facts
    for command in (
        "    alphazero train game=tic_tac_toe seed=5\n",
        "    alphazero prove game=tic_tac_toe player=best num_simulations=100\n",
    ):
        assert command in card
    assert "somewhere" not in card


def test_another_network_is_replaced_only_on_request(run, tmp_path):
    into = f"into={tmp_path / 'best'}"
    path = tmp_path / "best" / "tic_tac_toe.safetensors"
    _shipped(into, f"run={run.network(3)}")
    before = path.read_bytes()
    with pytest.raises(ConfigError) as error:
        _shipped(into, f"run={run.network(1)}")
    assert error.value.key == "replace" and str(path) in str(error.value)
    assert path.read_bytes() == before
    # Rewrites its card.
    _shipped(into, f"run={path}")


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["run={tmp}/unfit.safetensors"], "unfit.safetensors"),
        (["run={tmp}/good.safetensors", "into={tmp}/good.safetensors"], "good.safetensors"),
    ],
)
def test_what_cannot_be_shipped_is_an_error_that_names_it(words, value, tmp_path):
    _network(tmp_path / "good.safetensors")
    stored = load_network(tmp_path / "good.safetensors")
    save_network(tmp_path / "unfit.safetensors", stored.arrays, "connect_four", stored.settings, {})
    with pytest.raises((ValueError, OSError)) as error:
        _shipped(*(word.format(tmp=tmp_path) for word in words))
    assert value in str(error.value)
    assert "\n" not in str(error.value)


# --- recipes ------------------------------------------------------------------------------------


def _settings(words) -> dict:
    return {
        key: value for key, value, *_ in rows(compose(list(words))) if key not in RUN_FOLDER_KEYS
    }


@pytest.mark.slow
def test_a_recipe_is_an_experiment_if_one_has_the_same_settings():
    preset = "experiment=ablation/base"  # it leaves the number of parallel games open
    wanted = _settings([preset, "seed=3"])
    # As a run stores them: settings that were left open have been measured.
    wanted |= {
        "evaluator.engine": "openvino",
        "evaluator.precision": "int8",
        "learner.precision": "bfloat16",
        "selfplay.num_parallel_games": 256,
    }
    assert recipe(wanted, "connect_four") == [preset, "seed=3"]
