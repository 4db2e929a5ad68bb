"""A game, a network and a player in a package outside the repository: every command takes them."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from own_package import write_package

import alphazero as az
from alphazero.cli import main
from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.registry import REFERENCE, EngineChoice
from alphazero.inference.network_evaluator import EvaluatorSettings, NetworkEvaluator
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import make_network
from alphazero.network.weights import load_network, network_arrays, save_network
from alphazero.own_games.registry import game_names, make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import make_player
from alphazero.runtime.errors import ConfigError

GAME, NETWORK, PLAYER = (
    "heap_package.rules:Heap",
    "heap_package.network:HeapNet",
    "heap_package.player:Taker",
)
QUICK = (
    "experiment=dummy_run evaluator.engine=torch evaluator.precision=float32 device=cpu "
    "learner.precision=float32 run.num_threads=1 evaluation.every=0 evaluation.num_games=2 "
    "evaluation.final_num_games=2 evaluation.opening_plies=2 pit.num_games=2 "
    "learner.ema_half_life_steps=4 run.num_iterations=2"
).split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_package(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(autouse=True)
def package(folder, monkeypatch):
    """Make the package importable, in this test alone, and work in its folder."""
    torch.set_num_threads(1)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(folder)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "heap_package"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def run_path(folder):
    """Train a tiny run with the names of modules; return its folder."""
    sys.path.insert(0, str(folder))
    try:
        words = [f"game={GAME}", f"network={NETWORK}", "network.options={units: 6}", *QUICK]
        assert main(["train", *words, f"run.root={folder}/runs", "run.name=first"]) == 0
    finally:
        sys.path.remove(str(folder))
    return folder / "runs" / "heap_package.rules_Heap" / "first"


def run(capsys, *words):
    """Return (exit status, standard output, standard error) of a command."""
    status = main(list(words))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def network_settings(name, **options):
    return NetworkSettings(kind=f"heap_package.network:{name}", options=options or None)


# --- the whole way --------------------------------------------------------------------------------


def test_a_network_is_stored_with_its_name_and_options(run_path):
    file = load_network(run_path / "networks" / "000002.safetensors")
    assert file.game == GAME
    assert file.settings["kind"] == NETWORK and file.settings["options"] == {"units": 6}
    assert file.arrays["trunk.1.weight"].shape == (6, 8)


@pytest.mark.slow
def test_a_run_resumes_only_if_the_user_names_game_and_network(run_path, capsys):
    resume = ["train", f"resume={run_path}", "run.num_iterations=3"]
    for named in ([], [f"game={GAME}"], [f"network={NETWORK}"]):
        status, _, error = run(capsys, *resume, *named)
        assert status == 2 and "by itself" in error
    status, output, _ = run(capsys, *resume, f"game={GAME}", f"network={NETWORK}")
    assert status == 0 and (run_path / "networks" / "000003.safetensors").is_file()
    assert f"network_kind={NETWORK}" in output  # in the command that plays against it
    status, output, _ = run(capsys, *resume, f"game={GAME}", f"network.kind={NETWORK}")
    assert status == 0 and f"resume={run_path} game={GAME} network={NETWORK}" in output


def test_a_stored_network_plays_where_the_user_names_its_class(run_path, capsys):
    match = ["match", f"game={GAME}", f"a={run_path}", f"b={PLAYER}", "num_games=4"]
    match += ["num_simulations=8", "opening_plies=1", "endgame=off", "engine=torch"]
    status, _, error = run(capsys, *match)
    assert status == 2 and f"network_kind={NETWORK}" in error.replace("\n", "")
    for named in (match + [f"network_kind={NETWORK}"], [*match]):
        if named == match:
            named[2] += f",network_kind={NETWORK}"  # of one player alone
        status, output, _ = run(capsys, *named)
        assert status == 0 and "taker" in output


def test_the_page_plays_with_the_users_network_and_player(run_path):
    web = pytest.importorskip("alphazero.web.backend")
    backend = web.Backend(str(run_path.parents[1]), [GAME], NETWORK, ("taker",))
    game = backend.catalogue.game(GAME)
    players = {one.kind: one.id for one in backend.catalogue.players(game)}
    for kind, num_simulations in (("own", None), ("network", 8)):
        asked = {"id": players[kind], "num_simulations": num_simulations}
        request = {"game": GAME, "moves": [0], "player": asked}
        emitted = []
        backend.move(request)(emitted.append)
        assert emitted[-1]["type"] == "move" and emitted[-1]["action"] in (0, 1)
        if kind == "own":
            assert emitted[-1]["action"] == 1


# --- names ----------------------------------------------------------------------------------------


def test_entry_points_are_listed_and_loaded_only_by_name(capsys):
    assert {"heap", "broken_heap"} <= set(game_names())
    with pytest.raises(ConfigError) as error:
        make_game("heaps")
    assert "heap" in error.value.allowed
    assert "heap_package" not in sys.modules
    assert make_game("heap").name == "heap" and "heap_package.network" not in sys.modules
    with pytest.raises(ConfigError) as error:
        make_player("takr", make_game("heap"))
    assert "taker" in error.value.allowed
    status, _, text = run(capsys, "train", "network.kind=heap_nets", *QUICK)
    assert status == 2 and "heap_net" in text and "resnet" in text


def test_an_error_in_a_users_module_names_file_and_line(folder):
    (folder / "faulty.py").write_text("x = 1\ny = x / 0\n")
    with pytest.raises(ConfigError) as error:
        make_game("faulty:Game")
    assert "faulty.py, line 2" in str(error.value)


# --- networks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("Narrow", "Viewing", "Tuple", "Missing"))
def test_a_network_with_wrong_outputs_is_refused_before_a_run(name, folder, capsys):
    with pytest.raises(ConfigError) as error:
        make_network(SimpleNamespace(planes_shape=(8, 2, 2), num_actions=2), network_settings(name))
    assert error.value.key == "network.kind"
    if name != "Viewing":  # which suits a vector
        words = [f"game={GAME}", f"network=heap_package.network:{name}", *QUICK]
        status, _, text = run(capsys, "train", *words, f"run.root={folder}/refused")
        assert status == 2 and text.startswith("error: network.kind=")
        assert not list((folder / "refused").rglob("*.yaml"))


def test_options_reach_the_constructor_and_wrong_ones_are_refused():
    game = make_game(GAME)
    network = make_network(game, network_settings("HeapNet", units=5))
    assert network.policy.in_features == 5
    with pytest.raises(ConfigError):
        make_network(game, network_settings("HeapNet", width=5))
    with pytest.raises(ConfigError) as error:
        az.make_settings("game=tic_tac_toe", "network=tiny", "network.options={units: 3}")
    assert error.value.key == "network.options"


def evaluator_of(network, game, choice=REFERENCE):
    sample = sample_positions(game, 16, np.random.default_rng(0))
    return NetworkEvaluator(network, sample, game, choice, EvaluatorSettings(cache_mb=0))


def test_an_engine_that_cannot_run_a_network_is_replaced_by_torch(tmp_path):
    pytest.importorskip("openvino")
    game, settings = make_game(GAME), network_settings("Unknown")
    network, path = make_network(game, settings), tmp_path / "net.safetensors"
    report = evaluator_of(network.eval(), game, EngineChoice("openvino", "float32")).report
    assert report.name == str(REFERENCE) and "cannot run this network" in report.refused
    save_network(path, network_arrays(network), GAME, vars(settings), {})
    player_settings = PlayerSettings(network_kind=settings.kind, engine="openvino")
    assert make_player(str(path), game, player_settings).engine == str(REFERENCE)
