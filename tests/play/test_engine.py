"""The engine: exactly one JSON object for every line, whatever the line holds."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from mostly_slow import mostly_slow
from wrong_inputs import INSIDE

from alphazero.cli import engine
from alphazero.cli.command import read_settings
from alphazero.games.square_names import square_name
from alphazero.own_games.registry import make_game
from alphazero.play.json_engine import Engine, parse_request, serve
from alphazero.play.requests import MAX_ERROR, Refusal
from alphazero.players.base import PlayerSettings

ENGINE = Engine("uct", PlayerSettings(num_simulations=20))
RANDOM_ENGINE = Engine("random")


def _ask(engine=ENGINE, **request) -> dict:
    return engine.answer(json.dumps(request))


def _check_answer(answer: dict, request: dict) -> None:
    """Hold an answer to the protocol: an error, a result, or a move that fits the request."""
    json.dumps(answer, allow_nan=False)
    if "error" in answer:
        assert set(answer) == {"error"}
        assert 0 < len(answer["error"]) <= MAX_ERROR
        assert "Traceback" not in answer["error"]
        return
    game = make_game(request["game"])
    state = game.play_moves(request.get("moves") or [])
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0]).tolist()
    assert answer["legal_actions"] == legal
    if not legal:
        assert set(answer) == {"result", "legal_actions"}
        return
    assert set(answer) == {"move", "action_weights", "value", "legal_actions"}
    assert answer["move"] in legal
    assert len(answer["action_weights"]) == game.num_actions
    assert sum(answer["action_weights"]) == pytest.approx(1.0, abs=1e-4)
    assert all(
        weight >= 0 and (weight == 0 or action in legal)
        for action, weight in enumerate(answer["action_weights"])
    )
    assert answer["value"] is None or -1.0 <= answer["value"] <= 1.0


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", mostly_slow(["connect_x:4x5x3", "tic_tac_toe", "othello:4"]))
def test_games_are_answered_from_the_start_to_the_end(game):
    answer, moves = {}, []
    while "result" not in answer:
        answer = _ask(game=game, moves=moves)
        _check_answer(answer, {"game": game, "moves": moves})
        moves.append(answer.get("move"))


@pytest.mark.parametrize(
    ("game", "moves", "result"),
    [
        ("tic_tac_toe", [0, 3, 1, 4, 2], 1),
        ("tic_tac_toe", [0, 3, 1, 4, 8, 5], -1),
        ("tic_tac_toe", [0, 1, 2, 4, 3, 5, 7, 6, 8], 0),
        ("othello:4", [2, 1, 8, 3, 16, 11, 7, 14, 15, 13, 4, 16, 12], 1),
        ("othello:4", [8, 14, 11, 12, 13, 4, 2, 7, 3, 15, 1, 0], 0),
    ],
)
def test_finished_games_get_the_first_movers_result_and_no_move(game, moves, result):
    assert _ask(game=game, moves=moves) == {"result": result, "legal_actions": []}


def test_value_and_move_are_those_of_the_player_to_move():
    request = {
        "game": "connect_x:4x3x3",
        "moves": [0, 1, 2, 0, 2, 1, 1, 1],
        "num_simulations": 2000,
    }
    answer = _ask(**request)
    assert answer["move"] == 2
    assert answer["value"] > 0.8
    # One ply earlier the other side is to move: column 2 stops the threat, anything else loses.
    assert _ask(**{**request, "moves": [0, 1, 2, 0, 2, 1, 1]})["value"] < 0.2


def test_the_same_line_gets_the_same_answer_whatever_came_before():
    line = '{"game": "connect_four", "moves": [3, 3]}'
    first = ENGINE.answer(line)
    for moves in ([], [1], [2, 2]):
        _ask(game="connect_four", moves=moves)
    assert ENGINE.answer(line) == first
    assert Engine("uct", PlayerSettings(num_simulations=20)).answer(line) == first
    assert Engine("uct", PlayerSettings(num_simulations=20, seed=1)).answer(line) != first


def test_limits_of_a_request_replace_those_of_the_engine():
    seven = _ask(
        Engine("uct", PlayerSettings(num_simulations=7, time_limit_s=60.0)), game="connect_four"
    )
    assert _ask(game="connect_four", num_simulations=7) == seven != _ask(game="connect_four")
    assert "error" not in _ask(game="connect_four", time_limit_s=0.01)
    assert "error" not in _ask(game="connect_four", time_limit_s=1, num_simulations=10)
    assert _ask(game="connect_four", num_simulations=None) == _ask(game="connect_four")


def test_a_player_without_an_opinion_has_the_value_null():
    answer = _ask(RANDOM_ENGINE, game="connect_four")
    assert answer["value"] is None
    assert answer["action_weights"] == [0.142857] * 7


# --- refusals -------------------------------------------------------------------------------------


#: Lines that are refused before a game is looked at: line -> the key that is to blame.
REFUSED = {
    "": None,
    "hello": None,
    '{"game": "connect_four"': None,
    "[]": None,
    "[" * 100_000: None,
    "null": None,
    "{}": "game",
    '{"game": "chess"}': "game",
    '{"game": 3}': "game",
    '{"game": "connect_x:6x7"}': "game",
    '{"game": "/etc/passwd.py"}': "game",
    '{"game": "examples/snort.py"}': "game",
    '{"game": "connect_four", "move": [3]}': "move",
    '{"game": "connect_four", "moves": 3}': "moves",
    '{"game": "connect_four", "moves": "33"}': "moves",
    '{"game": "connect_four", "moves": [], "board": 7}': "board",
    '{"game": "connect_four", "moves": [NaN]}': None,
    '{"game": "connect_four", "num_simulations": 0}': "num_simulations",
    '{"game": "connect_four", "num_simulations": 1.5}': "num_simulations",
    '{"game": "connect_four", "num_simulations": true}': "num_simulations",
    '{"game": "connect_four", "num_simulations": 100000000000}': "num_simulations",
    '{"game": "connect_four", "time_limit_s": -1}': "time_limit_s",
    '{"game": "connect_four", "time_limit_s": NaN}': None,
    '{"game": "connect_four", "time_limit_s": 1e999}': "time_limit_s",
    '{"game": "connect_four", "time_limit_s": [1]}': "time_limit_s",
}


@pytest.mark.parametrize("line", REFUSED, ids=range(len(REFUSED)))
def test_a_line_that_is_no_request_is_refused(line):
    with pytest.raises(Refusal) as refused:
        parse_request(line)
    assert refused.value.key == REFUSED[line]
    answer = ENGINE.answer(line)
    _check_answer(answer, {})
    assert set(answer) == {"error"} and not INSIDE.search(answer["error"])


def test_an_engine_goes_on_after_a_bug(monkeypatch):
    engine = Engine("uct", PlayerSettings(num_simulations=5))
    monkeypatch.setattr(engine, "_player", lambda name: 1 / 0)
    answer = engine.answer('{"game": "tic_tac_toe"}')
    assert set(answer) == {"error"} and "ZeroDivisionError" in answer["error"]


# --- lines in, lines out --------------------------------------------------------------------------


class _Watched(io.StringIO):
    """A stream of answers that notes what has been flushed."""

    def __init__(self):
        super().__init__()
        self.flushed = ""

    def flush(self):
        self.flushed = self.getvalue()


@pytest.mark.slow
def test_each_answer_is_flushed_before_the_next_line_is_read():
    answers = _Watched()

    def requests():
        for number in range(3):
            assert answers.flushed.count("\n") == number
            yield '{"game": "tic_tac_toe"}\n'
        assert answers.flushed.count("\n") == 3

    serve(ENGINE, requests(), answers)


def test_the_command_answers_and_prints_nothing_but_json():
    lines = (
        b'{"game": "connect_x:4x5x3", "moves": [3, 3, 2]}\n\xff\xfe\x00\n'
        b'{"game": "tic_tac_toe", "moves": [0, 3, 1, 4, 2]}\nlast line without an end'
    )
    code = (
        "import atexit, sys; from alphazero.cli import main, match, play; "
        "atexit.register(print, 'goodbye from a game'); "
        "code = main(['engine', 'num_simulations=5']); "
        "assert 'torch' not in sys.modules; sys.exit(code)"
    )
    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=lines, capture_output=True, check=True, env=strict)
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [min(answer) for answer in answers] == [
        "action_weights",
        "error",
        "legal_actions",
        "error",
    ]
    assert answers[2] == {"result": 1, "legal_actions": []}


def _command_answers(requests, *words) -> list[dict]:
    out, lines = io.StringIO(), "\n".join(map(json.dumps, requests))
    engine.answer(read_settings(engine, [*words, "device=cpu"]), io.StringIO(lines), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_by_default_the_network_that_ships_with_a_game_answers_and_uct_where_there_is_none():
    requests = [
        {"game": "tic_tac_toe", "num_simulations": 30},
        {"game": "connect_x:4x3x3", "num_simulations": 30},
    ]
    by_default = _command_answers(requests)
    best, uct = (_command_answers(requests, word) for word in ("player=best", "player=uct"))
    assert by_default == [best[0], uct[1]]
    assert best[0] != uct[0]
    _check_answer(best[0], requests[0])
    assert "connect_x:4x3x3" in best[1]["error"]


# --- squares by name ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "setup", "actions"),
    [
        ("e3f3", None, [20, 21]),
        (["e3", "f3"], None, [20, 21]),
        ([20, 21], "white_first", [20, 21]),
        ("f5d6c3", "standard", [34, 44, 21]),
        (["f5", "d6"], "standard", [34, 44]),
        ([], "standard", []),
    ],
)
def test_moves_of_othello_may_be_squares_and_so_is_the_answer(moves, setup, actions):
    engine = Engine("random", PlayerSettings(seed=1))
    request = {"game": "othello", "moves": moves} | ({"setup": setup} if setup else {})
    answer = _ask(engine, **request)
    by_number = _ask(engine, game="othello", moves=actions)
    assert answer["legal_actions"] == by_number["legal_actions"]
    mirrored = setup == "standard"
    assert answer["square"] == square_name(answer["move"], 8, mirrored)
    assert "square" not in by_number  # a request of earlier versions gets the same keys as then
