"""Our games as PettingZoo environments: they pass its tests and agree with its own environments."""

import copy
import os
import sys
import warnings

import numpy as np
import pytest
from game_samples import BREAKTHROUGH, PUZZLE

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
pytest.importorskip("pygame", reason="pygame, which PettingZoo draws with, is not installed")

with warnings.catch_warnings():
    # PettingZoo's tests import its environments in a way that it warns about.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, render_test, seed_test

from alphazero.interop.environments import (  # noqa: E402
    CELL_PIXELS,
    env,
    make_environment,
    raw_env,
)
from alphazero.own_games.registry import make_game  # noqa: E402
from alphazero.runtime.errors import ConfigError  # noqa: E402

GAMES = (
    "tic_tac_toe",
    "connect_four",
    "connect_x:4x5x3",
    "othello:4",
    "othello",
    "python_games:SmallConnectFour",  # in plain Python
    BREAKTHROUGH,  # pieces move
    PUZZLE,  # one agent, with results from 0 to 1
    "pettingzoo:tictactoe_v3",
)
# Our square s, row by row, is square COLUMNS_FIRST[s] of tictactoe_v3, which counts column by
# column.
COLUMNS_FIRST = np.array([0, 3, 6, 1, 4, 7, 2, 5, 8])


@pytest.mark.parametrize("game_name", GAMES)
def test_pettingzoos_own_tests_pass(game_name, capsys):
    with warnings.catch_warnings():
        # PettingZoo warns about dict observations other than its own, and about empty boards.
        warnings.simplefilter("ignore", UserWarning)
        api_test(env(game_name), num_cycles=100)
        seed_test(lambda: env(game_name), num_cycles=50)
        render_test(lambda render_mode: env(game_name, render_mode))
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name, game_name, order",
    [
        ("connect_four_v3", "connect_four", np.arange(7)),
        ("tictactoe_v3", "tic_tac_toe", COLUMNS_FIRST),
    ],
)
def test_our_environments_agree_with_pettingzoos(name, game_name, order):
    generator = np.random.default_rng(1)
    theirs, ours = make_environment(name), env(game_name)
    for _ in range(30):
        theirs.reset(seed=0)
        ours.reset(seed=0)
        while not any(theirs.terminations.values()):
            movers = [game.possible_agents.index(game.agent_selection) for game in (theirs, ours)]
            assert movers[0] == movers[1]
            _assert_same_observations(theirs, ours, order)
            action = int(generator.choice(np.flatnonzero(ours.last()[0]["action_mask"])))
            ours.step(action)
            theirs.step(int(order[action]))
            assert list(theirs.rewards.values()) == list(ours.rewards.values())
            assert list(theirs.terminations.values()) == list(ours.terminations.values())
        _assert_same_observations(theirs, ours, order, with_masks=False)


def _assert_same_observations(theirs, ours, order, with_masks=True):
    """Compare what both agents observe.

    After the end of a game PettingZoo's masks show what would be legal if it continued; ours are
    empty.
    """
    for their_agent, our_agent in zip(theirs.possible_agents, ours.possible_agents):
        their_view, our_view = theirs.observe(their_agent), ours.observe(our_agent)
        planes = their_view["observation"]
        planes = planes.swapaxes(0, 1) if len(order) == 9 else planes
        assert np.array_equal(planes, our_view["observation"])
        if with_masks:
            assert np.array_equal(their_view["action_mask"][order], our_view["action_mask"])


def test_making_an_environment_warns_of_nothing(monkeypatch):
    for name in ("connect_four_v3", "tictactoe_v3"):
        monkeypatch.delitem(sys.modules, f"pettingzoo.classic.{name}", raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_environment("connect_four_v3").close()
        make_game("pettingzoo:tictactoe_v3").initial_states()


def test_rewards_of_a_puzzle_are_the_results_of_its_rules():
    raw, game = raw_env(PUZZLE), make_game(PUZZLE)
    raw.reset()
    while not raw.terminations["player_0"]:
        raw.step(int(np.flatnonzero(raw.observe("player_0")["action_mask"])[0]))
    assert raw.possible_agents == ["player_0"] and list(raw.rewards) == ["player_0"]
    worst, best = game.result_range
    assert worst <= raw.rewards["player_0"] < best and raw.rewards["player_0"] != -1


def test_an_illegal_action_ends_the_game_with_a_loss():
    environment = env("tic_tac_toe", "ansi")
    environment.reset()
    environment.step(4)
    environment.step(4)
    assert environment.render().endswith("ended by an illegal action")
    assert environment.terminations == {"player_0": True, "player_1": True}
    assert environment.rewards == {"player_0": 0, "player_1": -1}
    for _ in range(2):
        environment.step(None)
    assert not environment.agents and environment.render().endswith("ended by an illegal action")
    raw = raw_env("tic_tac_toe")
    raw.reset()
    raw.step(4)
    with pytest.raises(ValueError) as error:
        raw.step(4)
    assert "'4'" in str(error.value)


def test_a_deep_copy_is_the_same_game_at_the_same_point():
    environment = raw_env("connect_four")
    environment.reset()
    environment.step(3)
    twin = copy.deepcopy(environment)
    twin.step(3)
    assert environment.observe("player_0")["observation"].sum() == 1
    assert twin.observe("player_0")["observation"].sum() == 2


def squares(text: str) -> str:
    """Return the contents of a board's squares, row by row; an empty square is a space."""
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    return "".join(cell.strip() or " " for row in rows for cell in row)


def test_the_board_as_text(capsys):
    environment = env("tic_tac_toe", render_mode="ansi")
    environment.reset()
    environment.step(0)
    assert environment.render() == (
        "+---+---+---+\n| X | 1 | 2 |\n+---+---+---+\n| 3 | 4 | 5 |\n+---+---+---+\n| 6 | 7 | 8 |\n"
        "+---+---+---+\nplayer_1 (O) to move"
    )
    for action in (4, 1, 8, 2):
        environment.step(action)
    assert squares(environment.render()) == "XXX O   O"
    assert environment.render().splitlines()[-1] == "player_0 (X) wins"
    for _ in range(2):
        environment.step(None)
    assert not environment.agents and environment.render().endswith("player_0 (X) wins")
    environment = env("connect_x:2x3x3", render_mode="human")
    environment.reset()
    environment.step(1)
    assert capsys.readouterr().out == (
        "  0   1   2\n+---+---+---+\n|   |   |   |\n+---+---+---+\n|   | X |   |\n+---+---+---+\n"
        "player_1 (O) to move\n"
    )
    for action in (1, 0, 2, 2, 0):
        environment.step(action)
    text = capsys.readouterr().out
    assert squares(text)[-6:] == "OOXXXO" and text.endswith("\na draw\n")


def test_a_pass_is_written_below_the_board():
    environment = env("othello:4", render_mode="ansi")
    environment.reset()
    for action in (8, 12, 7, 3, 13, 4, 1, 14, 15, 11):
        environment.step(action)
    assert squares(environment.render()) == " W BBWBBBBBBBBBW"
    assert environment.render().splitlines()[-2:] == ["pass: 16", "player_0 (W) to move"]


def test_the_board_as_an_image():
    environment = env("connect_four", render_mode="rgb_array")
    environment.reset()
    environment.step(3)
    environment.step(4)
    image = environment.render()
    assert image.shape == (6 * CELL_PIXELS, 7 * CELL_PIXELS, 3) and image.dtype == np.uint8
    half = CELL_PIXELS // 2
    centres = image[half::CELL_PIXELS, half::CELL_PIXELS]
    blue, yellow, red = centres[0, 0], centres[5, 3], centres[5, 4]
    assert (centres[:5] == blue).all() and blue[2] == blue.max() > blue[0]
    assert yellow.tolist() == [0xFF, 0xD7, 0x5F] and red.tolist() == [0xFF, 0x5F, 0x5F]


@pytest.mark.parametrize(
    ("make", "key", "value"),
    [
        (lambda: env("checkers"), "game", "checkers"),
        (lambda: env("tic_tac_toe", "film"), "render_mode", "film"),
        (lambda: make_environment("chess_v6"), "env", "chess_v6"),
    ],
    ids=["game", "render mode", "environment"],
)
def test_names_that_do_not_exist_are_refused(make, key, value):
    with pytest.raises(ConfigError) as error:
        make()
    assert (error.value.key, error.value.value) == (key, value)
    assert error.value.allowed
