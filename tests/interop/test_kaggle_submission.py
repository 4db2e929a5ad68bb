"""`alphazero export format=kaggle`: the file, its network, its rules, its search and its moves."""

import math

import numpy as np
import pytest
from game_samples import random_states
from network_samples import SMALL, small_network, table_network

from alphazero.cli import main
from alphazero.cli.export import check_agreement
from alphazero.interop.kaggle_agent import Rules, best_move, search
from alphazero.interop.kaggle_submission import evaluation_of, submission_module, to_bytes
from alphazero.network.weights import network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import InputError

BOARDS = {
    "connect_four": (6, 7, 4),
    "connect_x:3x9x3": (3, 9, 3),
    "connect_x:15x4x5": (15, 4, 5),
    "connect_x:8x8x4": (8, 8, 4),
}


def some_network(kind, game, **settings):
    return table_network(kind, game, game.observe(unfinished_states(game, 10)), **settings)


@pytest.fixture(scope="module")
def submission(tmp_path_factory):
    """Return the path of a submission of Connect Four with a small network."""
    folder = tmp_path_factory.mktemp("kaggle")
    path, output = folder / "a.safetensors", folder / "submission.py"
    network = some_network("windows", make_game("connect_four"))
    settings = SMALL | {"kind": "windows"}
    save_network(path, network_arrays(network), "connect_four", settings, {})
    assert main(["export", f"network={path}", "format=kaggle", f"output={output}"]) == 0
    return output


@pytest.fixture(scope="module")
def module(submission):
    return submission_module(submission.read_bytes())


def unfinished_states(game, num_games):
    states = random_states(game.name, num_games)
    return states[~game.over(states)]


def kaggle_board(game, state):
    """Return a position as Kaggle shows it: cells from the top left, and whose turn it is."""
    mark = 1 + int(game.players(state[None])[0])
    return {"board": game.cells(state).ravel().tolist(), "mark": mark}


def uniform(position):
    return np.zeros(99, np.float32), 0.0


def test_kaggle_finds_the_agent_as_the_last_function(module):
    assert [name for name, value in module.items() if callable(value)][-1] == "agent"
    assert module["BOARD"] == (6, 7, 4)


@pytest.mark.parametrize("kind", ["windows", "patterns"])
@pytest.mark.parametrize(
    "name, settings",
    (
        ("connect_four", dict(value_head="wdl")),
        ("connect_x:4x5x3", dict(value_head="scalar", channels=5)),
        ("connect_x:3x9x3", dict(value_head="scalar")),
        ("connect_x:8x1x3", dict(value_head="wdl")),
    ),
    ids=str,
)
def test_networks_of_every_shape_agree(name, settings, kind):
    game = make_game(name)
    network = some_network(kind, game, **settings)
    data = to_bytes(game, network, {})
    agreement = check_agreement(game, network, evaluation_of(data))
    assert max(agreement) < 1e-4
    with pytest.raises(InputError):
        other = small_network(game, kind=kind, shared_units=40, **settings)
        check_agreement(game, other, evaluation_of(data))


def test_other_games_and_networks_are_refused():
    for name, kind in (("othello:4", "windows"), ("connect_four", "resnet")):
        game = make_game(name)
        with pytest.raises(InputError):
            to_bytes(game, small_network(game, kind=kind), {})


@pytest.mark.parametrize("name", BOARDS)
def test_the_rules_are_those_of_the_game(name):
    game, rules = make_game(name), Rules(*BOARDS[name])
    states = unfinished_states(game, 10)
    positions = [rules.read(**kaggle_board(game, state)) for state in states]
    np.testing.assert_array_equal(rules.planes(positions), game.observe(states))
    masks = game.legal_action_mask(states)
    for state, (mine, other), mask in zip(states, positions, masks):
        legal = [c for c in range(game.num_actions) if rules.disc(mine | other, c)]
        assert legal == np.flatnonzero(mask).tolist()
        for column in legal:
            after = game.step(state[None], np.array([column]))
            disc = rules.disc(mine | other, column)
            assert rules.has_line(mine | disc) == (after.results[0] == -1.0)


@pytest.mark.parametrize("name", ("connect_four", "connect_x:3x9x3"))
def test_it_wins_and_blocks_in_one_move(module, name):
    game, (rows, columns, length) = make_game(name), BOARDS[name]
    configuration = dict(rows=rows, columns=columns, inarow=length, actTimeout=1e-4)
    kinds = set()
    for state in unfinished_states(game, 12):
        winning = {c for c in range(columns) if _wins(game, state, c)}
        observation = kaggle_board(game, state)
        given = dict(observation, board=list(observation["board"]))
        action = module["agent"](observation, configuration)
        assert observation == given and type(action) is int
        if winning:
            assert action in winning
        elif threats := _threats(game, state):
            assert action in threats
        kinds.add((bool(winning), bool(_threats(game, state))))
    assert len(kinds) == 4


def _wins(game, state, column):
    legal = game.legal_action_mask(state[None])[0, column]
    return bool(legal) and game.step(state[None], np.array([column])).results[0] == -1.0


def _threats(game, state):
    """Return the columns where the opponent would win if it were their turn."""
    rules = Rules(*BOARDS[game.name])
    mine, other = rules.read(**kaggle_board(game, state))
    columns = [c for c in range(rules.columns) if rules.disc(mine | other, c)]
    return {c for c in columns if rules.has_line(other | rules.disc(mine | other, c))}


def test_the_search_follows_the_values_of_the_network():
    rules = Rules(6, 7, 4)

    def evaluate(position):  # whoever has a disc in the left corner is winning
        mine, _ = position
        return uniform(position)[0], bool(mine & 1) - 0.5

    assert best_move(search(rules, evaluate, (0, 0), math.inf, 200)) == 0


def test_it_plays_in_kaggles_own_environment(submission):
    environments = pytest.importorskip(
        "kaggle_environments", reason="kaggle-environments is not installed, see docs/export.md"
    )
    for seat in (0, 1):
        environment = environments.make("connectx", configuration={"actTimeout": 0.05})
        players = [str(submission), "random"]
        last = environment.run(players if seat == 0 else players[::-1])[-1]
        assert [player.status for player in last] == ["DONE", "DONE"]
        assert last[seat].reward == 1
