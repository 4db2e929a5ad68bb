"""Players make legal moves and repeat with the same seed; player specifications are read."""

import json
import os

import numpy as np
import pytest
from breakthrough_python import Breakthrough
from network_samples import SMALL, small_network

from alphazero.network.weights import network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import (
    is_path,
    make_player,
    network_path,
    read_spec,
)
from alphazero.players.uct import UctPlayer, uct_simulations
from alphazero.players.without_search import RandomPlayer
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.storage.pretrained import shipped_network

GAMES = ["tic_tac_toe", "connect_four", "othello:4"]


def _random_states(game, num: int, plies: int) -> np.ndarray:
    """Return unfinished positions after ``plies`` random moves, [<= num, K]."""
    generator, states = np.random.default_rng(3), game.initial_states(num)
    for _ in range(plies):
        mask = game.legal_action_mask(states)
        actions = np.where(mask, generator.random(mask.shape), -1).argmax(axis=1)
        transition = game.step(states, actions)
        states = transition.states[~transition.over]
    return states


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("spec", ["random", "uct:30"])
def test_choices_are_legal_weights_sum_to_one_and_states_stay(name, spec):
    game = make_game(name)
    states = _random_states(game, 20, 5)
    before = states.copy()
    choice = make_player(spec, game).choose(states)
    mask = game.legal_action_mask(states)
    assert choice.actions.dtype == np.int32
    assert choice.action_weights.dtype == np.float32
    assert mask[np.arange(len(states)), choice.actions].all()
    assert (choice.action_weights[~mask] == 0).all()
    np.testing.assert_allclose(choice.action_weights.sum(axis=1), 1.0, rtol=1e-5)
    assert np.all(np.isnan(choice.values) | (np.abs(choice.values) <= 1.0))
    np.testing.assert_array_equal(states, before)


NO_POSITIONS = [np.zeros(5), np.zeros(5, np.uint64), np.zeros((1, 2), np.uint64)]


@pytest.mark.parametrize("states", NO_POSITIONS, ids=lambda array: f"{array.dtype}{array.shape}")
@pytest.mark.parametrize(
    "spec, game",
    [
        ("random", "tic_tac_toe"),
        ("uct:5", "tic_tac_toe"),
        ("solver", "tic_tac_toe"),
        ("solver", "connect_x:4x4x3"),
        ("best", "tic_tac_toe"),
        ("best,with_search=false", "tic_tac_toe"),
        ("uct:5", Breakthrough),
        ("random", Breakthrough),
    ],
)
def test_an_array_that_is_no_position_is_refused(spec, game, states):
    player = make_player(spec, make_game(game))
    for ask in (lambda: player.analyse(states), lambda: player.choose(states[None])):
        with pytest.raises(ValueError) as refused:
            ask()
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("spec", ["random", "uct:50"])
def test_same_seed_gives_the_same_answers_and_another_seed_others(spec):
    game = make_game("connect_four")
    states = _random_states(game, 40, 6)

    def actions(seed):
        return make_player(spec, game, PlayerSettings(seed=seed)).choose(states).actions.tolist()

    assert actions(1) == actions(1)
    assert actions(1) != actions(2)


@pytest.mark.parametrize("spec", ["random", "uct:50"])
def test_limited_player_is_freshly_seeded(spec):
    game = make_game("connect_four")
    player = make_player(spec, game)
    state = game.initial_states()[0]
    first = player.limited(None, None).analyse(state)
    for _ in range(5):
        player.analyse(state)
    again = player.limited(None, None).analyse(state)
    assert first.action == again.action
    np.testing.assert_array_equal(first.action_weights, again.action_weights)


def test_limited_uct_player_takes_the_limits_in_place_of_its_own():
    game = make_game("tic_tac_toe")
    player = UctPlayer(game, PlayerSettings(num_simulations=40, time_limit_s=50.0))
    state = game.initial_states()[0]
    assert player.limited(17, None).analyse(state).num_simulations == 17
    assert player.limited(17, None).settings.time_limit_s is None
    assert player.limited(None, None).settings == player.settings
    assert player.limited(None, 0.01).analyse(state).num_simulations > 0


def test_random_player_is_uniform_over_legal_actions():
    game = make_game("connect_four")
    num = 7000
    actions = RandomPlayer(game, seed=0).choose(game.initial_states(num)).actions
    counts = np.bincount(actions, minlength=7)
    # Each count is binomial(7000, 1/7): mean 1000, standard deviation 29.3. Five of these leave
    # room for seven counts.
    assert np.all(np.abs(counts - 1000) < 5 * 29.3)


def test_random_player_estimates_nothing():
    game = make_game("tic_tac_toe")
    analysis = RandomPlayer(game).analyse(game.initial_states()[0])
    assert np.isnan(analysis.value)
    assert analysis.num_simulations == 0
    assert analysis.principal_variation == [analysis.action]


def test_uct_player_takes_a_win_and_its_analysis_says_so():
    game = make_game("connect_x:4x3x3")
    state = game.play_moves([0, 1, 2, 0, 2, 1, 1, 1])
    analysis = UctPlayer(game, PlayerSettings(num_simulations=500)).analyse(state)
    assert analysis.action == 2
    assert analysis.principal_variation[0] == 2
    assert analysis.value > 0.8
    assert analysis.values[2] == 1.0
    assert analysis.visits.sum() == analysis.num_simulations == 500
    assert analysis.action_weights.argmax() == 2


def test_uct_player_reports_progress():
    game = make_game("connect_four")
    calls = []
    UctPlayer(game, PlayerSettings(num_simulations=3000)).analyse(
        game.initial_states()[0], lambda done, total: calls.append((done, total))
    )
    assert calls
    assert all(0 <= done <= total == 3000 for done, total in calls)


@pytest.mark.parametrize("spec", ["uct", "best"])
def test_a_search_with_a_time_limit_reports_no_total(spec):
    game, calls = make_game("tic_tac_toe"), []
    player = make_player(spec, game, PlayerSettings(time_limit_s=0.05))
    player.analyse(game.initial_states()[0], lambda *progress: calls.append(progress))
    assert calls and all(done >= 0 and total is None for done, total in calls)


# --- player specifications ------------------------------------------------------------------------


def test_spec_settings_replace_those_of_the_command():
    command = PlayerSettings(num_simulations=7, uct_c=0.5, seed=9)
    kind, settings = read_spec("uct", command)
    assert (kind, settings) == ("uct", command)
    kind, settings = read_spec("uct:300,rollout=weighted", command)
    assert (kind, settings.num_simulations, settings.rollout) == ("uct", 300, "weighted")
    assert (settings.uct_c, settings.seed) == (0.5, 9)
    kind, settings = read_spec("a,b/x=1.safetensors,with_search=false", command)
    assert (kind, settings.with_search) == ("a,b/x=1.safetensors", False)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("random", "random"),
        ("human", "human"),
        ("network:runs/a:b", "runs/a:b"),
        ("gtp:engine --level=3 a,b", "gtp:engine --level=3 a,b"),
        ("C:\\runs\\x.safetensors", "C:\\runs\\x.safetensors"),
    ],
)
def test_a_specification_without_settings_keeps_those_of_the_command(spec, kind):
    command = PlayerSettings(time_limit_s=3.0, seed=9)
    assert read_spec(spec, command) == (kind, command)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("uct", False), ("human", False), ("network", False), ("gtp:a/b", False), ("runs/a", True)],
)
def test_a_kind_is_a_path_or_a_name(kind, expected):
    assert is_path(kind) is expected


def test_a_limit_in_a_spec_replaces_both_limits_of_the_command():
    command = PlayerSettings(num_simulations=7, time_limit_s=3.0)
    assert read_spec("uct:50", command)[1].time_limit_s is None
    own = read_spec("uct,time_limit_s=2", command)[1]
    assert (own.num_simulations, own.time_limit_s) == (None, 2.0)
    both = read_spec("uct:50,time_limit_s=2", command)[1]
    assert (both.num_simulations, both.time_limit_s) == (50, 2.0)


def test_uct_makes_a_thousand_simulations_unless_a_limit_is_given():
    assert uct_simulations(PlayerSettings()) == 1000
    assert uct_simulations(PlayerSettings(time_limit_s=1.0)) is None
    assert uct_simulations(PlayerSettings(time_limit_s=1.0, num_simulations=5)) == 5


@pytest.mark.parametrize("spec", ["stockfish", "", "human"])
def test_an_unknown_player_is_refused_with_the_known_ones(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as refused:
        make_player(spec, make_game("connect_four"))
    assert refused.value.value == spec
    assert {"random", "uct", "solver", "best", "network"} <= set(refused.value.allowed)
    assert "human" not in refused.value.allowed


@pytest.mark.parametrize(
    ("spec", "key", "value"),
    [
        ("uct:", "num_simulations", ""),
        ("uct:many", "num_simulations", "many"),
        ("uct:0", "num_simulations", 0),
        ("uct:999999999", "num_simulations", 999_999_999),
        ("uct,uct_k=1", "uct_k", "1"),
        ("uct,uct_c=big", "uct_c", "big"),
        ("uct,time_limit_s=0", "time_limit_s", 0.0),
        ("random:5", None, "random:5"),
        ("checkpoints/nowhere.safetensors", None, "checkpoints/nowhere.safetensors"),
    ],
)
def test_an_impossible_specification_is_refused(spec, key, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as refused:
        make_player(spec, make_game("connect_four"))
    assert (refused.value.key, refused.value.value) == (key, value)
    assert str(value) in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("spec", ["best", "network", "latest"])
def test_a_game_without_a_network_is_named(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as refused:
        make_player(spec, make_game("connect_x:4x3x3"))
    assert refused.value.value == spec


def test_network_is_the_shipped_one_until_one_is_trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shipped = shipped_network("tic_tac_toe")
    assert network_path("network", "tic_tac_toe") == network_path("best", "tic_tac_toe") == shipped
    own = tmp_path / "checkpoints/tic_tac_toe/run/networks/000001.safetensors"
    own.parent.mkdir(parents=True)
    own.touch()
    assert network_path("network", "tic_tac_toe").resolve() == own
    assert network_path("latest", "tic_tac_toe").resolve() == own
    assert network_path("best", "tic_tac_toe") == shipped


@pytest.mark.parametrize("kind", ["random", "human", "gtp:/usr/games/engine --level 3", "unknown"])
def test_only_a_networks_name_or_path_leads_to_a_network(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "random").mkdir()
    assert network_path(kind, "othello") is None


def test_network_spec_finds_the_newest_network_of_the_game(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = tmp_path / "checkpoints/othello_6"
    for age, name in enumerate(("a/networks/000002", "a/networks/000001", "b/networks/000009")):
        path = runs / f"{name}.safetensors"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (age, age))  # as a copy changes it
    for finished_at, name in enumerate("ba"):
        row = {"iteration": 9, "elapsed_s": 1.0, "finished_at": finished_at}
        (runs / name / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    newest = network_path("network", "othello:6")
    assert newest.resolve() == (runs / "a/networks/000002.safetensors").resolve()
    assert network_path("checkpoints/othello_6/b", "othello:6").resolve() == (runs / "b").resolve()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"num_simulations": 500, "uct_c": 0.7},
        {"time_limit_s": 2.0},
        {"num_simulations": 5, "rollout": "weighted"},
    ],
)
def test_the_name_of_a_uct_player_is_a_specification_of_it(settings):
    player = UctPlayer(make_game("othello:4"), PlayerSettings(**settings))
    kind, read = read_spec(player.name)
    assert kind == "uct"
    assert UctPlayer(player.game, read).name == player.name
    assert uct_simulations(read) == uct_simulations(player.settings)


@pytest.mark.parametrize(
    "trained, also, game, warns",
    (
        ("othello", [], "othello:6", False),
        ("othello", [], "othello:10", True),
        ("othello", ["othello:10"], "othello:12", False),
        ("othello", ["antigravity:GAME", 5], "othello:10", True),  # a forged file: nothing is run
        ("gomoku:5x9", [], "gomoku:9x9", True),
        ("gomoku:9x9", [], "gomoku:5x19", False),
        ("connect_four", [], "connect_x:7x7x4", True),
    ),
)
def test_a_network_of_windows_warns_of_boards_that_it_has_not_seen(
    trained, also, game, warns, tmp_path, capsys
):
    network = small_network(make_game(trained), kind="windows")
    path, settings = tmp_path / "network", dict(SMALL, kind="windows")
    save_network(path, network_arrays(network), trained, settings, {"also": also})
    make_player(str(path), make_game(game), PlayerSettings(num_simulations=8))
    assert ("smaller boards" in capsys.readouterr().err) == warns


def test_a_network_of_windows_plays_other_boards_of_its_game(tmp_path):
    trained = make_game("othello:4")
    for kind in ("windows", "resnet"):
        network = small_network(trained, kind=kind)
        settings = dict(SMALL, kind=kind)
        save_network(tmp_path / kind, network_arrays(network), trained.name, settings, {})
    settings = PlayerSettings(num_simulations=8)
    for name in ("othello:4", "othello:6"):
        game = make_game(name)
        player = make_player(str(tmp_path / "windows"), game, settings)
        assert player.analyse(game.initial_states(1)[0]).visits.shape == (game.num_actions,)
    for path, name in (("windows", "gomoku:4x4x3"), ("resnet", "othello:6")):
        with pytest.raises(StoredFileError, match=name):
            make_player(str(tmp_path / path), make_game(name), settings)
