"""Our players in PettingZoo environments: observations, actions and whole games."""

import importlib.util
import os
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
pygame = pytest.importorskip(
    "pygame", reason="pygame, which PettingZoo draws with, is not installed"
)

from alphazero.cli import pettingzoo  # noqa: E402
from alphazero.cli.command import run_command  # noqa: E402
from alphazero.interop.agents import (  # noqa: E402
    HumanAgent,
    LeftGame,
    PettingZooAgent,
    play_episode,
    play_match,
)
from alphazero.interop.board_view import (  # noqa: E402
    ENVIRONMENTS,
    make_environment,
    view_of,
)
from alphazero.own_games.adapters.pettingzoo_game import load_game  # noqa: E402
from alphazero.own_games.registry import make_game  # noqa: E402
from alphazero.players.base import Choice  # noqa: E402
from alphazero.players.registry import make_player  # noqa: E402
from alphazero.runtime.errors import ConfigError  # noqa: E402


class Opportunist:
    """Plays the lowest legal action, and weighs all but the last one equally.

    It keeps the states that it was asked about.
    """

    name = "opportunist"
    batch_size = 1

    def __init__(self, game):
        self.game = game
        self.states = []

    def choose(self, states):
        self.states.extend(states.copy())
        mask = self.game.legal_action_mask(states)
        mask[:, -1] &= mask.sum(axis=1) == 1
        weights = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
        actions = mask.argmax(axis=1).astype(np.int32)
        return Choice(actions, weights, np.zeros(len(states), np.float32))


class Scripted:
    """Plays a list of the environment's actions."""

    name = "scripted"

    def __init__(self, actions):
        self._actions = iter(actions)

    def act(self, observation, agent):
        return next(self._actions)


@pytest.fixture(params=ENVIRONMENTS)
def environment(request):
    return make_environment(request.param)


# --- what an agent reads from an observation ------------------------------------------------------


def test_the_state_read_from_an_observation_is_the_one_that_our_rules_reach(environment):
    view = view_of(environment)
    generator = np.random.default_rng(2)
    for _ in range(20):
        environment.reset()
        state = view.game.initial_states()[0]
        while not any(environment.terminations.values()):
            observation = environment.last()[0]
            player = view.agents.index(environment.agent_selection)
            assert player == view.game.players(state[None])[0]
            assert np.array_equal(view.state(observation["observation"], player), state)
            mask = view.game.legal_action_mask(state[None])[0]
            assert np.array_equal(mask, observation["action_mask"][view.actions])
            action = int(generator.choice(np.flatnonzero(mask)))
            environment.step(int(view.actions[action]))
            state = view.game.step(state[None], [action]).states[0]
        assert view.game.over(state[None])[0]


def test_an_observation_that_no_game_reaches_is_refused():
    view = view_of(make_environment("connect_four_v3"))
    floating = np.zeros((6, 7, 2))
    floating[0, 0] = (0, 1)
    with pytest.raises(ValueError):
        view.state(floating, 1)


# --- our players as agents ------------------------------------------------------------------------


def test_an_agent_needs_the_observation_and_the_mask_alone():
    environment = make_environment("connect_four_v3")
    view = view_of(environment)
    player = Opportunist(view.game)
    agent = PettingZooAgent(player, view)
    environment.reset()
    for action in (0, 0, 0, 0, 0, 0, 3):
        environment.step(action)
    observation = environment.last()[0]
    assert agent.act(observation, "player_1") == 1
    state = make_game("connect_four").play_moves([0, 0, 0, 0, 0, 0, 3])
    assert np.array_equal(player.states, [state])
    for refused in (
        lambda: agent.act(observation, "player_2"),  # there is no such agent
        lambda: agent.act(environment.observe("player_0"), "player_0"),  # not its turn
        lambda: agent.act(observation | {"action_mask": np.ones(7)}, "player_1"),  # 0 is full
    ):
        with pytest.raises(ValueError):
            refused()
    assert len(player.states) == 1


@pytest.mark.parametrize(
    "moves, answer", [([0, 4, 3], 6), ([4, 0, 8, 1], 2), ([0, 4, 1, 8], 2), ([1, 0, 4, 3, 8], 6)]
)
def test_uct_blocks_and_wins_as_either_player_of_tictactoe(moves, answer):
    environment = make_environment("tictactoe_v3")
    view = view_of(environment)
    agent = PettingZooAgent(make_player("uct:500", view.game), view)
    environment.reset()
    for action in moves:
        environment.step(action)
    assert agent.act(environment.last()[0], environment.agent_selection) == answer


# --- games ----------------------------------------------------------------------------------------


def test_an_episode_holds_the_actions_and_the_rewards():
    environment = make_environment("tictactoe_v3")
    seen = []
    agents = {"player_1": Scripted([0, 1, 2]), "player_2": Scripted([4, 8])}
    episode = play_episode(environment, agents, on_move=lambda *move: seen.append(move))
    assert episode == ((0, 4, 1, 8, 2), {"player_1": 1.0, "player_2": -1.0})
    assert seen == list(zip(["player_1", "player_2"] * 3, (0, 4, 1, 8, 2)))


def test_a_match_alternates_colours_and_counts_by_player():
    environment = make_environment("connect_four_v3")
    # player_0 wins with column 0: the first agent in games 0 and 2, the second in game 1.
    first = Scripted([0] * 4 + [1] * 3 + [0] * 4)
    second = Scripted([1] * 3 + [0] * 4 + [1] * 3)
    report = play_match(environment, first, second, num_games=3)
    assert [game.score for game in report.games] == [1.0, 0.0, 1.0]
    assert (report.as_first.wins, report.as_second.losses) == (2, 1)
    assert report.num_distinct_games == 2


def test_the_environment_shows_a_game_in_its_own_way():
    environment = make_environment("connect_four_v3", "human")
    shown = []
    environment.unwrapped.render = lambda: shown.append(environment.unwrapped.board.count(0))
    play_episode(environment, {"player_0": Scripted([0] * 4), "player_1": Scripted([1] * 3)})
    assert shown == [42, 41, 40, 39, 38, 37, 36, 35]


# --- a person -------------------------------------------------------------------------------------


def typed_by_a_person(monkeypatch, *lines):
    """Have `input` return these lines, then the end of the input; return the prompts."""
    answers, prompts = iter(lines), []

    def ask(prompt):
        prompts.append(prompt)
        if (line := next(answers, None)) is None:
            raise EOFError
        return line

    monkeypatch.setattr("builtins.input", ask)
    return prompts


def test_a_person_is_asked_until_the_answer_is_legal(monkeypatch, capsys):
    environment = make_environment("tictactoe_v3")
    prompts = typed_by_a_person(monkeypatch, "", "left", "0", "-1", "5", " 6 ")
    environment.reset()
    environment.step(4)
    # The environment counts squares column by column: the sixth one here is number 7 there.
    assert HumanAgent(view_of(environment)).act(environment.last()[0], "player_2") == 7
    said = capsys.readouterr().out.splitlines()
    assert re.findall(r"\w", "".join(said[:-5])) == list("1234X6789")
    assert len(prompts) == 6 and all("player_2 (q leaves): O" in prompt for prompt in prompts)


def test_a_person_can_leave_and_the_finished_games_count(monkeypatch):
    environment = make_environment("connect_four_v3")
    person = HumanAgent(view_of(environment))
    typed_by_a_person(monkeypatch, *["1"] * 4, "q")
    report = play_match(environment, person, Scripted([1] * 3 + [1]), num_games=4)
    assert len(report.games) == 1 and report.wins == 1
    typed_by_a_person(monkeypatch)
    environment.reset()
    with pytest.raises(LeftGame):
        person.act(environment.last()[0], "player_0")


# --- the command, the example and the missing package ---------------------------------------------


def test_the_command_plays_a_match_and_prints_the_result(capsys):
    words = ["env=tictactoe_v3", "first=random", "second=random", "num_games=4", "seed=3"]
    assert run_command(pettingzoo, words) == 0
    printed = capsys.readouterr().out
    assert "game 1: player_1 = random (1), player_2 = random (2): " in printed
    assert "game 2: player_1 = random (2), player_2 = random (1): " in printed


def test_the_command_lets_a_person_play(monkeypatch, capsys):
    typed_by_a_person(monkeypatch, "x", "q")
    words = ["env=connect_four_v3", "first=human", "second=random", "num_games=2"]
    assert run_command(pettingzoo, words) == 0
    printed = capsys.readouterr().out
    assert "'x'" in printed and "1 to 7" in printed
    assert "95%" not in printed  # no finished game, no table


def test_a_person_is_shown_the_moves_and_the_last_board(monkeypatch, capsys):
    typed_by_a_person(monkeypatch, "1", "2", "3", "4", "5", "6", "7", "8", "9")
    words = ["env=tictactoe_v3", "first=human", "second=human", "num_games=1"]
    assert run_command(pettingzoo, words) == 0
    printed = capsys.readouterr().out
    assert "player_1 plays 7" in printed and "wins after 7 moves" in printed
    assert re.findall("[XO]", printed.partition("plays 7")[2])[:7] == list("XOXOXOX")


def test_a_window_that_cannot_open_is_a_wrong_setting(monkeypatch):
    def no_screen(*_):
        raise pygame.error("No available video device")

    monkeypatch.setattr(pygame.display, "set_mode", no_screen)
    with pytest.raises(ConfigError) as refused:
        run_command(pettingzoo, ["env=connect_four_v3", "first=random", "render=human"])
    assert (refused.value.key, refused.value.value) == ("render", "human")
    assert "No available video device" in str(refused.value)


def test_without_the_package_the_error_says_what_to_install(monkeypatch):

    find_spec = importlib.util.find_spec

    def without_pettingzoo(name, *rest):
        return None if name == "pettingzoo" else find_spec(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without_pettingzoo)
    for call in (
        lambda: run_command(pettingzoo, []),
        lambda: load_game("connect_four_v3"),
        lambda: make_environment("tictactoe_v3"),
    ):
        with pytest.raises(ImportError) as caught:
            call()
        assert isinstance(caught.value, ConfigError) and "[pettingzoo]" in str(caught.value)


def test_the_example_runs(capsys):
    runpy.run_path(
        str(Path(__file__).parents[2] / "examples" / "pettingzoo_match.py"), run_name="__main__"
    )
    assert "distinct games" in capsys.readouterr().out
