"""`alphazero ship`: the network, the facts of its run, the card, and the words that make such a run again."""

import dataclasses
import io
import json

import pytest
from network_samples import SMALL, small_network
from rich.console import Console

from alphazero.cli.ship import main, recipe
from alphazero.evaluation.model_card import PLACE_KEYS, duration_text, flat_settings, summary
from alphazero.games.registry import make_game
from alphazero.network.weights import load_network, network_arrays, network_info, save_network
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.settings import rows
from alphazero.storage.run_folder import RunFolder
from alphazero.training.compose import compose

STRENGTH = dict(
    opponent="uct:500",
    num_simulations=64,
    score=0.875,
    score_low=0.7,
    score_high=0.95,
    wins=17,
    draws=1,
    losses=2,
    num_distinct=19,
)
EXACT = dict(
    num_positions=1000,
    num_simulations=64,
    raw_accuracy=0.912,
    raw_optimal=0.8,
    accuracy=0.987,
    optimal=0.9,
    value_error=0.1,
    result_accuracy=0.9,
)
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
    """The folder of a run of three iterations, as training leaves it."""
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
    folder.metrics.write_text(
        "".join(json.dumps(line) + "\n" for line in lines) + '{"iteration": 4, "selfpl'
    )  # torn off
    for number in (1, 2, 3):
        _network(
            folder.network(number),
            info={"run": "mine", "iteration": number, "elapsed_s": 30.0 * number},
        )
    folder.state.touch()
    return folder


def _ship(tmp_path, *words) -> tuple[str, str]:
    """Return what was printed, and the card."""
    console = Console(file=io.StringIO(), width=100, highlight=False)
    assert main([f"into={tmp_path / 'best'}", "replace=true", *words], console) == 0
    return console.file.getvalue(), (tmp_path / "best" / "tic_tac_toe.md").read_text()


def test_the_newest_network_of_a_run_is_copied_with_the_facts_of_its_run(run, tmp_path):
    printed, card = _ship(
        tmp_path, f"run={run.path}", "hardware=two cores: fast", "measured=[line one, line two]"
    )
    source, shipped = (
        load_network(run.network(3)),
        load_network(tmp_path / "best" / "tic_tac_toe.safetensors"),
    )
    assert (shipped.game, shipped.settings) == (source.game, source.settings)
    assert shipped.arrays.keys() == source.arrays.keys()
    assert all((shipped.arrays[name] == array).all() for name, array in source.arrays.items())
    info = shipped.info
    assert (info["run"], info["iteration"], info["elapsed_s"], info["measure_s"]) == (
        "mine",
        3,
        90.0,
        7.5,
    )
    assert (info["num_games"], info["num_positions"]) == (30, 210)
    assert (info["strength"], info["exact"], info["proof"]) == (STRENGTH, EXACT, PROOF)
    assert info["settings"]["seed"] == 5 and "run.root" not in info["settings"]
    assert info["recipe"] == ["game=tic_tac_toe", "seed=5"]
    assert info["versions"] == json.loads((run.path / "versions.json").read_text())
    for fact in (
        "| made by | run mine, iteration 3 |",
        "30 games of self-play, 210 positions",
        "| wall time | 1 min 30 s of training, and 8 s of measuring its strength |",
        "| hardware | two cores: fast |",
        "| engine in self-play | torch bfloat16 |",
        "    alphazero train game=tic_tac_toe seed=5\n",
        "in 4,519 of 4,520 that are not final; 1 games lost",
        "1,000 positions with exact scores that ship with the game: 98.7% of its moves keep the exact result with 64 simulations (90.0% have the best score), "
        "91.2% without search (80.0%)",
        "87.5% against uct:500, with 64 simulations for a move: 17 won, 1 drawn, 2 lost; 95 % interval 70.0% to 95.0%; 19 different games.",
        "* line one\n* line two\n",
        "alphazero prove game=tic_tac_toe player=best num_simulations=100",
    ):
        assert fact in card
    assert "somewhere" not in card + str(info)
    assert printed.startswith(
        f"{run.network(3)} is copied to {tmp_path / 'best' / 'tic_tac_toe.safetensors'} ("
    )


def test_an_earlier_network_has_the_figures_of_its_own_iteration_and_no_others(run, tmp_path):
    _, card = _ship(tmp_path, f"run={run.network(2)}")
    info = network_info(tmp_path / "best" / "tic_tac_toe.safetensors")
    assert (info["iteration"], info["num_games"], info["elapsed_s"]) == (2, 20, 60.0)
    assert not {"strength", "exact", "proof"} & set(info)
    assert "Not measured." in card and "| hardware | not noted |" in card
    _, card = _ship(tmp_path, f"run={run.network(1)}")
    assert "50.0% against uct:500" in card
    run.metrics.write_text(
        run.metrics.read_text().splitlines()[0] + "\n"
    )  # the lines of the other two are lost
    assert "Not measured." in _ship(tmp_path, f"run={run.network(2)}")[1]


def test_latest_is_the_run_whose_state_was_written_last_and_the_one_before_is_named(run, tmp_path):
    root = f"root={run.path.parents[1]}"
    assert "the place of another" not in _ship(tmp_path, root)[0]
    assert (
        "took the place of another: 1 min 30 s of training, the best possible result kept in 4,519 of 4,520 positions."
        in _ship(tmp_path, root)[0]
    )


def test_another_network_stays_until_it_is_to_be_replaced(run, tmp_path, monkeypatch):
    into = f"into={tmp_path / 'best'}"
    monkeypatch.setattr("alphazero.cli.ship.shipped_folder", lambda: tmp_path / "best")
    console = Console(file=io.StringIO(), width=100)
    assert main([into, f"run={run.network(3)}"], console) == 0
    assert console.file.getvalue().startswith(f"{run.network(3)} is now the best of tic_tac_toe: ")
    before = (tmp_path / "best" / "tic_tac_toe.safetensors").read_bytes()
    with pytest.raises(
        ConfigError,
        match=r"tic_tac_toe.safetensors holds another network of tic_tac_toe: 1 min 30 s .*replace=true puts this one",
    ):
        main([into, f"run={run.network(1)}"], Console(file=io.StringIO()))
    assert (tmp_path / "best" / "tic_tac_toe.safetensors").read_bytes() == before
    assert (
        main(
            [into, f"run={tmp_path / 'best' / 'tic_tac_toe.safetensors'}"],
            Console(file=io.StringIO()),
        )
        == 0
    )  # its card anew


def test_a_run_of_an_older_version_is_described_as_far_as_it_goes(run, tmp_path):
    run.config.write_text(
        "game: {name: tic_tac_toe}\nlearner: {batch_size: 64, gone_since: 3}\nseed: 2\n"
    )
    run.metrics.write_text(
        '{"iteration": 3, "selfplay.num_games": 9, "selfplay.num_positions": 80, "elapsed_s": 61.0}\n'
    )
    (run.path / "versions.json").unlink()
    _, card = _ship(tmp_path, f"run={run.path}")
    info = network_info(tmp_path / "best" / "tic_tac_toe.safetensors")
    assert {"seed=2", "learner.batch_size=64", "game=tic_tac_toe"} <= set(info["recipe"])
    assert not [word for word in info["recipe"] if "gone_since" in word]
    assert "| wall time | 1 min 1 s of training |" in card
    assert "| versions |" not in card
    compose(info["recipe"])  # it is accepted


def test_a_network_without_its_run_and_one_that_ships_already_can_be_shipped(run, tmp_path):
    _network(tmp_path / "alone.safetensors")
    _, card = _ship(tmp_path, f"run={tmp_path / 'alone.safetensors'}")
    assert "did not say how it was made" in card
    _ship(tmp_path, f"run={run.path}", "hardware=one")
    before = network_info(tmp_path / "best" / "tic_tac_toe.safetensors")
    _, card = _ship(
        tmp_path, f"run={tmp_path / 'best' / 'tic_tac_toe.safetensors'}", "measured=[more]"
    )
    assert network_info(tmp_path / "best" / "tic_tac_toe.safetensors") == before | {
        "measured": ["more"]
    }
    assert "| hardware | one |" in card and "* more\n" in card


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run=nowhere"], "there is no file or directory 'nowhere'"),
        (["root=nowhere"], "run=latest found no run under 'nowhere'"),
        (["run={tmp}/unfit.safetensors"], "these weights do not fit"),
        (
            ["run={tmp}/good.safetensors", "into={tmp}/good.safetensors"],
            "the network cannot be written to",
        ),
        (["network=x"], "'alphazero ship' has no setting 'network'"),
    ],
)
def test_what_cannot_be_shipped_gets_one_sentence(words, message, tmp_path):
    _network(tmp_path / "good.safetensors")
    stored = load_network(tmp_path / "good.safetensors")
    save_network(tmp_path / "unfit.safetensors", stored.arrays, "connect_four", stored.settings, {})
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the message is looked at below)
        main([word.format(tmp=tmp_path) for word in words])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


# --- the words that make a run again ----------------------------------------------------------------------------------------------------


def _settings(words) -> dict:
    return {key: value for key, value, *_ in rows(compose(list(words))) if key not in PLACE_KEYS}


@pytest.mark.parametrize(
    "words",
    [
        ["game=tic_tac_toe"],
        ["experiment=connect_four_5min", "seed=3"],
        ["experiment=notebook_tic_tac_toe"],
        [
            "game=othello_6x6",
            "network=tiny",
            "learner=sgd",
            "learner.step_at=[0.3,0.6]",
            "pit=on",
            "device=cpu",
        ],
        [
            "game=connect_x",
            "game.name=connect_x:4x4x3",
            "evaluator.engine=torch",
            "selfplay.num_parallel_games=7",
        ],
    ],
)
def test_a_recipe_makes_the_same_settings(words):
    wanted = _settings(words)
    made = _settings(recipe(wanted, wanted["game.name"]))
    left_open = {
        "evaluator.engine": "auto",
        "selfplay.num_parallel_games": 0,
    }  # the last words could be measured ones
    assert {key: value for key, value in made.items() if value != left_open.get(key)} == {
        key: value for key, value in wanted.items() if made[key] != left_open.get(key)
    }


def test_a_recipe_is_the_ready_one_where_that_says_it_all():
    wanted = _settings(["experiment=connect_four_5min", "seed=3"])
    # As a run stores them: what was left open has been measured.
    wanted |= {
        "evaluator.engine": "openvino",
        "evaluator.precision": "int8",
        "learner.precision": "bfloat16",
        "selfplay.num_parallel_games": 256,
    }
    assert recipe(wanted, "connect_four") == ["experiment=connect_four_5min", "seed=3"]


def test_settings_become_flat_and_times_become_words():
    assert flat_settings({"a": {"b": 1, "c": {"d": [2]}}, "e": ""}) == {
        "a.b": 1,
        "a.c.d": [2],
        "e": "",
    }
    assert [duration_text(seconds) for seconds in (0.4, 59.6, 592, 7260)] == [
        "0 s",
        "1 min 0 s",
        "9 min 52 s",
        "2 h 1 min",
    ]
    assert summary({}) == ""
    assert (
        summary({"elapsed_s": 61, "exact": EXACT, "strength": STRENGTH})
        == "1 min 1 s of training, 98.7% of its moves keep the exact result"
    )
