"""The JSON engine among strangers: one line of JSON for every line, and the next good one is right.

Everything that a line can be wrong in is tried: types, numbers, depth, bytes, ends of lines, size.
"""

import io
import json

import pytest
from hostile import NUMBERS, PLAIN, TEXTS, Tally, corpus, deep, mostly, nested, texts_of, try_all
from hypothesis import strategies as st
from wrong_inputs import INSIDE

from alphazero.boards.skin import SETUPS
from alphazero.cli import main
from alphazero.own_games.registry import make_game
from alphazero.play.json_engine import MAX_LINE, Engine, serve
from alphazero.play.requests import MAX_ERROR
from alphazero.players.base import PlayerSettings

ENGINE = Engine("uct", PlayerSettings(num_simulations=5))
GOOD = b'{"game": "tic_tac_toe", "moves": [0, 3, 1, 4], "num_simulations": 20}\n'
#: Answered without a search.
QUICK, QUICK_ANSWER = (
    b'{"game": "tic_tac_toe", "moves": [0, 3, 1, 4, 8, 5]}\n',
    {"result": -1, "legal_actions": []},
)
GAMES = ["tic_tac_toe", "othello:4"]
_NO_GAMES = ["chess", "othello:7", "connect_x:65x1x2", "connect_x:0x0x0", "connect_x:6x7", "GO"]


def _is_refused(number) -> bool:
    return isinstance(number, float) or not 100 < number <= 10_000_000


_ACTIONS = st.lists(mostly(st.integers(0, 17), NUMBERS | TEXTS | nested()), max_size=9)
_SQUARES = ["[0, 1]", "[1 - 2]", "[00000000001]", "c1", "a1b2", "pass,pass", "4,4"]

REQUESTS = st.fixed_dictionaries(
    {"game": mostly(st.sampled_from(GAMES), st.sampled_from(_NO_GAMES) | TEXTS | PLAIN)},
    optional={
        "moves": mostly(
            st.sampled_from([[], [], [2], [8, 14], [0, 3, 1, 4, 2]]) | _ACTIONS,
            st.sampled_from(_SQUARES) | PLAIN,
        ),
        "setup": mostly(st.none() | st.sampled_from(SETUPS), TEXTS | PLAIN),
        "num_simulations": mostly(st.integers(1, 30), NUMBERS.filter(_is_refused) | TEXTS),
        "time_limit_s": mostly(st.sampled_from([0.001]), st.sampled_from([0, -1, True, 1e308, ""])),
    },
) | st.dictionaries(TEXTS, PLAIN, max_size=3)


def answers_to(data: bytes, engine=ENGINE) -> list[dict]:
    """Return what the command answers to bytes on its standard input."""
    out = io.StringIO()
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="\n")
    serve(engine, stream, out)
    lines = out.getvalue().split("\n")
    assert lines.pop() == ""
    return [json.loads(line, parse_constant=lambda name: pytest.fail(name)) for line in lines]


def kind_of(answer: dict) -> str:
    """Return "answered" or "refused"; fail if an answer is neither."""
    if "error" not in answer:
        assert "result" in answer or answer["move"] in answer["legal_actions"]
        return "answered"
    assert set(answer) == {"error"}
    assert 10 < len(answer["error"]) <= MAX_ERROR
    assert "the engine failed" not in answer["error"] and not INSIDE.search(answer["error"])
    return "refused"


@pytest.fixture(autouse=True)
def right() -> dict:
    """Return the answer to `GOOD`; it is the same after a test."""
    (answer,) = answers_to(GOOD)
    assert "move" in answer
    yield answer
    assert answers_to(GOOD) == [answer]


def check_line(line: bytes) -> str:
    """Send a line and then a good one; return what became of the first."""
    answers = answers_to(line.replace(b"\n", b" ") + b"\n" + QUICK)
    assert len(answers) == 2 and answers[1] == QUICK_ANSWER
    return kind_of(answers[0])


@pytest.mark.parametrize("line", [pytest.param(data, id=name) for name, data in corpus("engine")])
def test_kept_lines_get_one_answer_each(line):
    assert check_line(line) == "refused"


def test_any_request_gets_one_answer(amount):
    tally = Tally()

    def check(text):
        tally[check_line(text.encode(errors="surrogatepass"))] += 1

    try_all(texts_of(REQUESTS | PLAIN), check, amount(100, 6_000))
    assert tally["answered"] and tally["refused"]
    tally.show("engine, requests")


def test_any_bytes_get_one_answer(amount):
    tally = Tally()
    parts = st.sampled_from([b"\xff", b"\0", b"\r", b"\xed\xa0\x80", b"\xef\xbb\xbf", GOOD[:-1]])
    lines = st.lists(st.binary(max_size=9) | parts, max_size=5).map(b"".join)

    def check(line):
        tally[check_line(line)] += 1

    try_all(lines, check, amount(100, 4_000))
    tally.show("engine, bytes")


def test_any_ends_of_lines_and_a_last_line_without_one(right):
    good = GOOD[:-1]
    assert answers_to(good) == [right]
    assert answers_to(good + b"\r\n" + good + b"\r") == [right, right]
    assert answers_to(good.replace(b", ", b",\r") + b"\n" + good) == [right, right]
    assert answers_to(b"") == []
    (empty, cut) = answers_to(b"\n" + good[:-1])
    assert kind_of(empty) == kind_of(cut) == "refused"


def test_the_command_takes_only_a_newline_for_the_end_of_a_line(monkeypatch, capsys):
    data = QUICK.replace(b", ", b",\r") + QUICK.replace(b"\n", b"\r\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert main(["engine", "player=random"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [QUICK_ANSWER] * 2


@pytest.mark.parametrize(
    "line",
    [
        b"x" * 10_000_000,
        b'{"game": "' + b"\xff" * 10_000_000 + b'"}',
        b" " * (MAX_LINE - 100) + GOOD[:-1] + b" " * 200,
        deep(MAX_LINE // 2).encode(),
        b'{"game": "tic_tac_toe", "moves": [' + b"0," * 400_000 + b"0]}",
        b'{"game": "othello", "moves": "' + b"e3" * 400_000 + b'"}',
        b'{"game": "othello", "moves": "[' + b"1," * 400_000 + b'"}',
        b'{"game": "tic_tac_toe", "moves": [' + b"9" * 900_000 + b"]}",
        b'{"game": "tic_tac_toe", "' + b"x" * 900_000 + b'": 1}',
    ],
    ids="ten_megabytes no_text too_long deep moves squares bracket number key".split(),
)
def test_long_lines_get_one_answer(line):
    assert check_line(line) == "refused"


def test_brackets_of_every_depth_near_pythons_limit_get_one_answer():
    for levels in [*range(40, 900, 43), *range(900, 1_000)]:
        for key in ("game", "moves"):
            assert check_line(f'{{"{key}": {deep(levels)}}}'.encode()) == "refused"


def test_all_positions_that_random_lines_of_moves_lead_to_are_answered(amount):
    """Legal moves are played on, so that every position is one that the rules can reach."""
    tally = Tally()

    def check(name, choices):
        game, moves = make_game(name), []
        for choice in choices:
            answer = answers_to(json.dumps({"game": name, "moves": moves}).encode())[0]
            tally["over" if "result" in answer else kind_of(answer)] += 1
            if "result" in answer:
                break
            legal = answer["legal_actions"]
            illegal = sorted(set(range(game.num_actions)) - set(legal))
            if illegal:
                wrong = [*moves, illegal[choice % len(illegal)]]
                line = json.dumps({"game": name, "moves": wrong}).encode()
                assert check_line(line) == "refused"
                tally["refused"] += 1
            moves.append(legal[choice % len(legal)])

    choices = st.lists(st.integers(0, 64), min_size=1, max_size=17)
    try_all(st.tuples(st.sampled_from(GAMES), choices), lambda pair: check(*pair), amount(10, 400))
    tally.show("engine, positions")
