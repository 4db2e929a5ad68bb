"""The backend in the browser: Python's rules, networks and search, and the answers that play.

node runs the modules of `browser/`, see `tests/browser_rules.mjs`.
"""

import json
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

import browser_page
import numpy as np
import pytest
import torch
from game_samples import random_games
from mostly_slow import mostly_slow

from alphazero.boards.skin import skin_of
from alphazero.inference.evaluator import Evaluator
from alphazero.network.interface import NetworkSettings, expected_value
from alphazero.network.registry import make_network
from alphazero.network.weights import network_arrays, save_network
from alphazero.own_games.registry import make_game
from alphazero.players.search_player import SearchPlayer

ROOT = Path(__file__).parents[2]

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")
PERFT = {
    "connect_four": [7, 49, 343, 2401, 16807],
    "othello": [4, 12, 56, 244, 1396],
}
NAMES = (
    "connect_four",
    "connect_x:5x4x3",
    "othello",
    "othello:6",
    "othello:4",
    "othello:10",
    "gomoku:5x4x3",
    "gomoku",
)
PLAYER = {"id": "best", "num_simulations": 50}


@pytest.fixture(scope="module")
def ask():
    """Return a function that has node answer a list of (method, request)."""
    games = browser_page.describe_games(("connect_four", "othello:4", "connect_x:4x4x3"))

    def answers(*requests):
        script = [NODE, str(ROOT / "tests" / "browser_rules.mjs")]
        given = json.dumps({"games": games, "requests": requests})
        done = subprocess.run(script, input=given, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return answers


def random_moves(game, num_games, seed=3):
    """Return the moves of random games."""
    plies, _ = random_games(game, num_games, seed)
    moves = [[] for _ in range(num_games)]
    for ply in plies:
        for index, action in zip(ply.games, ply.actions):
            moves[index].append(int(action))
    return moves


@pytest.mark.parametrize("name", PERFT)
def test_sequences_of_moves_are_as_many_as_published(name, ask):
    depths = range(1, len(PERFT[name]) + 1)
    assert ask(*(["perft", {"game": name, "depth": depth}] for depth in depths)) == PERFT[name]


@pytest.mark.parametrize("name", NAMES)
def test_random_games_are_those_of_python(name, ask):
    game = make_game(name)
    games = random_moves(game, 8)
    for moves, positions in zip(games, ask(*(["play", {"game": name, "moves": m}] for m in games))):
        states = np.array([game.play_moves(moves[:ply]) for ply in range(len(moves) + 1)])
        found = game.inspect(states)
        assert [p["toMove"] for p in positions] == found.players.tolist()
        assert [p["over"] for p in positions] == found.over.tolist()
        masks = found.legal_action_mask
        assert [p["legal"] for p in positions] == [np.flatnonzero(mask).tolist() for mask in masks]
        cells = np.array([p["cells"] for p in positions]).reshape(-1, *game.planes_shape[1:])
        np.testing.assert_array_equal(cells, [game.cells(state) for state in states])
        result = int(found.results[-1])
        side = int(found.players[-1])
        assert positions[-1]["winner"] == {0: None, 1: side, -1: 1 - side}[result]


@pytest.mark.parametrize("value_head", mostly_slow(["wdl", "scalar"]))
@pytest.mark.parametrize("kind", ["windows", "patterns"])
@pytest.mark.parametrize("name", mostly_slow(NAMES))
def test_networks_answer_as_in_python(name, kind, value_head, ask, tmp_path):
    game = make_game(name)
    settings = NetworkSettings(kind, channels=5, shared_units=12, value_head=value_head)
    network = make_network(game, settings, seed=1).eval()
    generator = torch.Generator().manual_seed(2)
    for values in network.state_dict().values():  # biases and statistics are all equal at first
        if values.is_floating_point():
            values += 0.2 * torch.rand(values.shape, generator=generator) - 0.1
    save_network(tmp_path / "small", network_arrays(network), name, asdict(settings), {})
    games = random_moves(game, 6)
    request = {"game": name, "path": str(tmp_path / "small")}
    for moves, found in zip(games, ask(*(["evaluate", request | {"moves": m}] for m in games))):
        states = np.array([game.play_moves(moves[:ply]) for ply in range(len(moves) + 1)])
        with torch.inference_mode():
            expected = network(torch.from_numpy(game.observe(states)))
        logits = np.array([answer["logits"] for answer in found])
        np.testing.assert_allclose(logits, expected.prior_logits, atol=1e-4)
        values = np.array([answer["value"] for answer in found])
        np.testing.assert_allclose(values, expected_value(expected.value_logits), atol=1e-5)
        assert np.ptp(values) > 1e-3 and np.ptp(logits[:, 0]) > 1e-3


class SameAnswers(Evaluator):
    """The evaluator of `tests/browser_rules.mjs`."""

    def __init__(self, num_actions):
        self.logits = np.arange(num_actions, dtype=np.float32) / 8

    def evaluate(self, planes):
        values = (planes[:, 0, -1, 0] - planes[:, 1, -1, 0]) / 2
        return np.repeat(self.logits[None], len(planes), axis=0), values


@pytest.mark.parametrize("name", ("connect_four", "connect_x:4x4x3", "othello:4"))
def test_searches_are_those_of_python(name, ask):
    # Python's trees hold float32: after more simulations, near-ties would fall differently.
    game, num = make_game(name), 100
    player = SearchPlayer(game, SameAnswers(game.num_actions), num)
    games = [moves[: 2 * k] for k, moves in enumerate(random_moves(game, 6))]
    games = [moves for moves in games if not game.over(game.play_moves(moves)[None])[0]]
    request = {"game": name, "num_simulations": num}
    answers = ask(*(["search", request | {"moves": moves}] for moves in games))
    for moves, found in zip(games, answers):
        analysis = player.analyse(game.play_moves(moves))
        assert found["visits"] == {a: analysis.visits[int(a)] for a in found["visits"]}
        assert found["value"] == pytest.approx(analysis.value, abs=1e-5)


@pytest.mark.parametrize("setup", ["standard", "white_first"])
def test_positions_are_described_as_the_server_describes_them(setup, ask):
    from web_samples import make_backend

    backend = make_backend()
    start = {"game": "othello:4", "setup": setup}
    asked = [start | {"moves": moves} for moves in random_moves(make_game("othello:4"), 6)]
    notation = skin_of(make_game("othello:4"), setup).notation
    lists = [map(notation.text, request["moves"]) for request in asked]
    asked += [start | {"moves": "".join(texts)} for texts in lists]  # as the address has them
    won = {"game": "connect_four", "moves": [3, 0, 3, 0, 3, 0, 3]}
    asked += [won | {"from_ply": 6}, won | {"moves": "4,1,4,1,4,1,4"}]
    for request, answer in zip(asked, ask(*(["position", request] for request in asked))):
        expected = backend.position(request)
        assert answer == {key: expected[key] for key in ("moves", "positions")}


@pytest.mark.parametrize(
    "method, request_",
    (
        ("position", {"game": "chess"}),
        ("position", {"game": "connect_four", "moves": [7]}),
        ("position", {"game": "connect_four", "moves": "4,9"}),
        ("position", {"game": "othello:4", "board": "----\n----\n----\n----"}),
        ("move", {"game": "connect_four", "player": {"id": "solver"}}),
        ("move", {"game": "connect_four", "moves": [3, 0, 3, 0, 3, 0, 3], "player": PLAYER}),
    ),
)
def test_what_is_not_possible_is_refused_in_a_sentence(method, request_, ask):
    (answer,) = ask([method, request_])
    assert answer["status"] == 422 and len(answer["error"].split()) > 4


def test_a_stopped_search_says_nothing_more(ask):
    request = {"game": "connect_four", "player": PLAYER, "stop_after": 2}
    messages, num_evaluated = ask(["move", request], ["num_evaluated", None])
    assert {message["type"] for message in messages} <= {"progress"}
    assert num_evaluated < 40
