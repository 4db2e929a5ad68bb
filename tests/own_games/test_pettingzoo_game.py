"""PettingZoo's environments as games: compared with our compiled games and with themselves."""

import importlib
import os
import pickle
import random

import numpy as np
import pytest

from alphazero.own_games.registry import make_game
from alphazero.players.base import PlayerSettings
from alphazero.players.python_uct import uct_player
from alphazero.runtime.errors import ConfigError, MissingPackage

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
pytest.importorskip("pygame", reason="pygame, which PettingZoo draws with, is not installed")

TWINS = [("connect_four_v3", "connect_four"), ("tictactoe_v3", "tic_tac_toe")]


@pytest.fixture(params=TWINS, ids=[name for name, _ in TWINS])
def twins(request):
    """A PettingZoo environment as a game, and our compiled game with the same rules and actions.

    tictactoe_v3 numbers squares column by column in its actions and in its observation, so that the
    two are the same game.
    """
    return make_game(f"pettingzoo:{request.param[0]}"), make_game(request.param[1])


def test_an_environment_and_the_compiled_game_agree_on_random_games(twins):
    wrapped, compiled = twins
    for attribute in ("num_actions", "planes_shape", "max_plies"):
        assert getattr(wrapped, attribute) == getattr(compiled, attribute)
    generator = np.random.default_rng(3)
    states = [game.initial_states(40) for game in twins]
    num_finished = 0
    while len(states[0]):
        answers = [game.inspect(rows) for game, rows in zip(twins, states)]
        for theirs, ours in zip(answers[0][1:], answers[1][1:]):
            assert np.array_equal(theirs, ours) and theirs.dtype == ours.dtype
        assert np.array_equal(*(game.observe(rows) for game, rows in zip(twins, states)))
        assert np.array_equal(wrapped.cells(states[0][0]), compiled.cells(states[1][0]))
        assert np.array_equal(wrapped.over(states[0]), answers[0].over)
        alive = ~answers[0].over
        num_finished += int((~alive).sum())
        mask = answers[0].legal_action_mask[alive]
        actions = np.where(mask, generator.random(mask.shape), -1.0).argmax(axis=1)
        states = [game.step(rows[alive], actions).states for game, rows in zip(twins, states)]
    assert num_finished == 40


def test_positions_and_games_can_be_sent_to_another_process(twins):
    wrapped, _ = twins
    state = wrapped.play_moves([4, 0, 1])
    game, copied = pickle.loads(pickle.dumps((wrapped, state)))
    assert np.array_equal(copied, state) and game.position(copied).moves == (4, 0, 1)
    assert np.array_equal(game.observe(copied[None]), wrapped.observe(state[None]))


# --- environments without a game of ours ----------------------------------------------------------


def assert_same_games(name, environment, num_games, most_plies):
    """Walk random games in both and compare all that is seen of each position.

    Args:
        environment: a raw one, for ``name``.
    """
    game, rng = make_game(name), random.Random(5)
    for _ in range(num_games):
        environment.reset(seed=0)
        agents, row, gains = environment.possible_agents, game.initial_states(), [0.0, 0.0]
        for _ in range(min(most_plies, game.max_plies)):
            found, agent = game.inspect(row), environment.agent_selection
            is_over = any((*environment.terminations.values(), *environment.truncations.values()))
            assert found.over[0] == is_over
            if is_over:
                mover = int(found.players[0])
                assert found.results[0] == np.sign(gains[mover] - gains[1 - mover])
                break
            assert agents[found.players[0]] == agent
            seen = environment.observe(agent)
            mask = seen["action_mask"].astype(bool)
            assert np.array_equal(found.legal_action_mask[0], mask)
            planes = game.observe(row)[0]
            theirs = np.moveaxis(seen["observation"], 2, 0)
            assert np.array_equal(planes[: len(theirs)], theirs.astype(np.float32))
            action = rng.choice(np.flatnonzero(mask).tolist())
            environment.step(action)
            gains = [gain + environment.rewards[one] for gain, one in zip(gains, agents)]
            row = game.step(row, np.array([action])).states
    return game


def go(board_size):
    module = importlib.import_module("pettingzoo.classic.go_v5")
    return module.raw_env(board_size=board_size).unwrapped


def test_go_agrees_with_the_environment_move_by_move():
    game = assert_same_games("pettingzoo:go_v5(board_size=5)", go(5), 3, 60)
    assert game.planes_shape == (17, 5, 5) and len(game.cell_symmetries) == 8
    assert game.cells(game.play_moves([0, 24])).ravel()[[0, 12, 24]].tolist() == [1, 0, 2]


def test_chess_agrees_with_the_environment_move_by_move():
    pytest.importorskip("chess", reason="chess, which chess_v6 needs, is not installed")
    module = importlib.import_module("pettingzoo.classic.chess_v6")
    game = assert_same_games("pettingzoo:chess_v6", module.raw_env().unwrapped, 1, 30)
    state = game.initial_states()[0]
    assert game.legal_texts(state)[:4] == ["a3", "a4", "Na3", "Nc3"]
    (play,) = [k for k, text in enumerate(game.legal_texts(state)) if text == "e4"]
    state = game.play_moves([np.flatnonzero(game.legal_action_mask(state[None])[0])[play]])
    assert {"e5", "Nf6"} < set(game.legal_texts(state))  # the actions are mirrored for black
    assert game.appearance.title == "Chess"
    start = game.initial_states()[0]
    assert game.cells(start).tolist() == [[2] * 8] * 2 + [[0] * 8] * 4 + [[1] * 8] * 2
    assert game.state_to_text(start).startswith("r n b q k b n r")


def test_an_environment_of_ones_own_is_played_and_told_apart_by_its_moves():
    game = make_game("pettingzoo:own_environments:Heap(heap=5)")
    assert (game.num_actions, game.max_plies, game.planes_shape) == (3, 8, (2, 1, 8))
    found = uct_player(game, PlayerSettings(num_simulations=500)).analyse(game.initial_states()[0])
    assert found.action == 0  # leaves 4, which is lost for who must take 1, 2 or 3
    one, other = (game.identity(game.play_moves(moves)[None]) for moves in ([0, 1], [1, 0]))
    assert not np.array_equal(one, other)


def test_a_copy_of_an_environment_is_its_own_clone_if_it_has_one():
    game = make_game("pettingzoo:own_environments:ClonedHeap")
    start = game.position(game.initial_states()[0])
    before = start._state.num_clones[0]
    game.after(start, 2)
    assert start._state.num_clones[0] == before + 1 and start._state.heap == 8


def test_a_wrapper_is_part_of_the_rules():
    game = make_game("pettingzoo:own_environments:ones_and_twos")
    bare = make_game("pettingzoo:own_environments:Heap")
    start = game.initial_states()
    assert game.legal_action_mask(start).tolist() == [[True, True, False]]
    after = [game.step(start, [action]).states for action in (0, 1)]
    assert [int(game.observe(states)[0, 0].sum()) for states in after] == [7, 6]
    assert int(game.observe(start)[0, 0].sum()) == 8
    player = uct_player(game, PlayerSettings(num_simulations=500))
    assert player.analyse(start[0]).action == 1  # leaves 6, which is lost for who takes 1 or 2
    assert game.rules_digest and game.rules_digest != bare.rules_digest


def test_rules_of_ones_own_are_identified_by_their_text_and_others_by_their_name():
    digests = {
        name: make_game(f"pettingzoo:own_environments:{name}").rules_digest
        for name in ("Heap", "Heap(heap=5)", "ClonedHeap")
    }
    assert all(digests.values()) and len(set(digests.values())) == 3
    assert make_game("pettingzoo:tictactoe_v3").rules_digest == ""


def test_a_game_is_cut_off_after_the_stated_plies():
    game = make_game("pettingzoo:connect_four_v3(max_plies=3)")
    state = game.play_moves([3, 3, 3])
    assert game.over(state[None])[0] and game.inspect(state[None]).results[0] == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("own_environments:Heap(num_agents=3)", "3 agents"),
        ("own_environments:Heap(masked=False)", "action_mask"),
        ("own_environments:Heap(parallel=True)", "same time"),
        ("own_environments:Heap(length=None)", "max_plies"),
        ("own_environments:Heap(unknown=1)", "unknown"),
        ("own_environments:PARALLEL", "AEC environment"),
        ("own_environments:nothing", "nothing"),
        ("no_such_module:Heap", "no_such_module"),
        ("rps_v2", "same time"),
        ("hanabi_v5", "hidden information"),
        ("leduc_holdem_v4", "chance"),
        ("go_v5(board_size=", "cannot be read"),
    ],
)
def test_environments_that_do_not_qualify_are_refused_with_the_reason(text, words):
    with pytest.raises(ConfigError, match=words):
        make_game(f"pettingzoo:{text}")


def test_packages_that_an_environment_lacks_are_named(monkeypatch):
    def import_module(name):
        raise ModuleNotFoundError("No module named 'chess'", name="chess")

    monkeypatch.setattr("importlib.import_module", import_module)
    with pytest.raises(MissingPackage, match="chess_v6 needs the package chess"):
        make_game("pettingzoo:chess_v6")
