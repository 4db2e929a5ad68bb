"""The JSON engine among strangers: one line of JSON for every line, and the next good one is right.

Everything that a line can be wrong in is tried: types, numbers, depth, bytes, ends of lines, size.
"""

import io
import json

import pytest
from hostile import NUMBERS, PLAIN, TEXTS, corpus, deep, fuzz, mostly, texts_of
from hypothesis import strategies as st
from wrong_inputs import INSIDE

from alphazero.boards.skin import SETUPS
from alphazero.cli import main
from alphazero.own_games.registry import make_game
from alphazero.play.json_engine import Engine, serve
from alphazero.play.requests import MAX_ERROR
from alphazero.players.base import PlayerSettings

ENGINE = Engine("uct", PlayerSettings(num_simulations=5))
#: Answered without a search.
GOOD = b'{"game": "tic_tac_toe", "moves": [0, 3, 1, 4, 8, 5]}\n'
RIGHT = {"result": -1, "legal_actions": []}
GAMES = ["tic_tac_toe", "othello:4"]
_NO_GAMES = ["chess", "othello:7", "connect_x:65x1x2", "connect_x:0x0x0", "connect_x:6x7", "GO"]


def _is_refused(number) -> bool:
    return isinstance(number, float) or not 100 < number <= 10_000_000


_ACTIONS = st.lists(mostly(st.integers(0, 17), NUMBERS | TEXTS), max_size=9)
_SQUARES = ["[0, 1]", "[1 - 2]", "[00000000001]", "c1", "a1b2", "pass,pass", "4,4"]
_MOVES = st.sampled_from([[], [], [2], [8, 14], [0, 3, 1, 4, 2]]) | _ACTIONS
REQUESTS = st.fixed_dictionaries(
    {"game": mostly(st.sampled_from(GAMES), st.sampled_from(_NO_GAMES) | TEXTS | PLAIN)},
    optional={
        "moves": mostly(_MOVES, st.sampled_from(_SQUARES) | PLAIN),
        "setup": mostly(st.none() | st.sampled_from(SETUPS), TEXTS | PLAIN),
        "num_simulations": mostly(st.integers(1, 30), NUMBERS.filter(_is_refused) | TEXTS),
        "time_limit_s": mostly(st.sampled_from([0.001]), st.sampled_from([0, -1, True, 1e308, ""])),
    },
) | st.dictionaries(TEXTS, PLAIN, max_size=3)


def answers_to(data: bytes) -> list[dict]:
    """Return what the command answers to bytes on its standard input."""
    out = io.StringIO()
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="\n")
    serve(ENGINE, stream, out)
    lines = out.getvalue().split("\n")
    assert lines.pop() == ""
    return [json.loads(line, parse_constant=lambda name: pytest.fail(name)) for line in lines]


def kind_of(line: bytes) -> str:
    """Send a line and then a good one; return whether the first was answered or refused."""
    answer, next_answer = answers_to(line.replace(b"\n", b" ") + b"\n" + GOOD)
    assert next_answer == RIGHT
    if "error" not in answer:
        assert "result" in answer or answer["move"] in answer["legal_actions"]
        return "answered"
    assert set(answer) == {"error"}
    assert 10 < len(answer["error"]) <= MAX_ERROR
    assert "the engine failed" not in answer["error"] and not INSIDE.search(answer["error"])
    return "refused"


@pytest.mark.parametrize("line", corpus("engine"))
def test_kept_lines_get_one_answer_each(line):
    assert kind_of(line) == "refused"


def test_any_line_gets_one_answer():
    parts = st.sampled_from([b"\xff", b"\0", b"\r", b"\xed\xa0\x80", b"\xef\xbb\xbf", GOOD[:-1]])
    lines = st.lists(st.binary(max_size=9) | parts, max_size=5).map(b"".join)
    lines |= texts_of(REQUESTS | PLAIN)
    fuzz("engine, lines", lines, kind_of, (100, 10_000), "answered", "refused")


def test_any_ends_of_lines_and_a_last_line_without_one(monkeypatch, capsys):
    good = GOOD[:-1]
    inside = good.replace(b", ", b",\r")
    assert answers_to(good) == [RIGHT] and answers_to(b"") == []
    assert answers_to(good + b"\r\n" + inside + b"\n" + good + b"\r") == [RIGHT] * 3
    assert kind_of(b"") == kind_of(good[:-1]) == "refused"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(inside + b"\n" + good)))
    assert main(["engine", "player=random"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [RIGHT] * 2


LONG = {
    "ten megabytes": b"x" * 10_000_000,
    "no text": b'{"game": "' + b"\xff" * 10_000_000 + b'"}',
    "deep": deep(500_000).encode(),
    "moves": b'{"game": "tic_tac_toe", "moves": [' + b"0," * 400_000 + b"0]}",
    "squares": b'{"game": "othello", "moves": "' + b"e3" * 400_000 + b'"}',
    "900 brackets": b'{"moves": ' + deep(900).encode() + b"}",
    "985 brackets": b'{"game": ' + deep(985).encode() + b"}",
    "number": b'{"game": "tic_tac_toe", "moves": [' + b"9" * 900_000 + b"]}",
}


@pytest.mark.parametrize("name", LONG)
def test_long_lines_get_one_answer(name):
    assert kind_of(LONG[name]) == "refused"


def test_all_positions_that_random_lines_of_moves_lead_to_are_answered():
    """Legal moves are played on, so that every position is one that the rules can reach."""

    def end_of(pair):
        name, choices = pair
        game, moves = make_game(name), []
        for choice in choices:
            (answer,) = answers_to(json.dumps({"game": name, "moves": moves}).encode())
            assert "error" not in answer
            if "result" in answer:
                return "played to the end"
            legal = answer["legal_actions"]
            illegal = sorted(set(range(game.num_actions)) - set(legal))
            if illegal:
                wrong = {"game": name, "moves": [*moves, illegal[choice % len(illegal)]]}
                assert kind_of(json.dumps(wrong).encode()) == "refused"
            moves.append(legal[choice % len(legal)])
        return "played"

    choices = st.lists(st.integers(0, 64), min_size=1, max_size=17)
    pairs = st.tuples(st.sampled_from(GAMES), choices)
    fuzz("engine, games", pairs, end_of, (5, 400))
