"""What strangers send to the JSON engine and the page, or paste as text.

Every line and request gets one answer or one sentence, and the next good one is answered
rightly. Tables hold what was a crash or a wrong answer once; hypothesis draws the rest. Hosts,
origins and tokens are the matter of `tests/web/test_web_server.py`.
"""

import asyncio
import importlib
import io
import json
import math
import re
from collections import Counter

import numpy as np
import pytest
from harness import IS_FULL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from web_samples import make_backend
from wrong_inputs import INSIDE

from alphazero.boards.notation import read_moves
from alphazero.boards.session import Session
from alphazero.boards.skin import setups_of, skin_of
from alphazero.cli import COMMANDS, main
from alphazero.cli.command import read_settings
from alphazero.config.settings import types_of
from alphazero.own_games.registry import make_game
from alphazero.play.json_engine import Engine, serve
from alphazero.play.requests import MAX_ERROR
from alphazero.play.screen import read_move
from alphazero.players.base import PlayerSettings
from alphazero.runtime.errors import InputError
from alphazero.web.app import make_app

GAMES = [make_game(name) for name in ("tic_tac_toe", "othello:4", "connect_x:4x12x3")]
#: Numbers at and beyond borders; json writes some of them as NaN and Infinity.
NUMBERS = st.sampled_from(
    [0, -0.0, 1, -1, 2, 7, 9, 63, 64, 0.5, 1e-320, 1e308, -1e308, 2**31, -(2**31), 2**63, 2**64]
    + [10**30, -(10**400), 10**400, math.nan, math.inf, -math.inf]
)
_STRANGE = [
    "",
    "\0",
    "\n",
    "\ud800",
    "\x1b[2J",
    "null",
    "９",
    "{}",
    "../../etc/passwd",
    "os:system",
]
TEXTS = st.text(max_size=12) | st.sampled_from([*_STRANGE, "%s%n", "x" * 5_000, "9" * 5_000])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def mostly(draw, right, wrong=PLAIN, one_of: int = 5):
    """Return a value of one strategy, or once in so many of the other."""
    return draw(wrong if draw(st.integers(1, one_of)) == 1 else right)


@st.composite
def texts_of(draw, requests) -> bytes:
    """Return JSON text of a request, perhaps damaged: doubled keys, cuts, other letters."""
    request = draw(requests)
    text = json.dumps(request, ensure_ascii=draw(st.booleans()))
    damage = draw(st.sampled_from(["none"] * 5 + ["cut", "doubled", "letter"]))
    place = draw(st.integers(0, len(text)))
    if damage == "cut":
        text = text[:place]
    elif damage == "doubled" and isinstance(request, dict) and request:
        key = draw(st.sampled_from(sorted(request)))
        text = text[:-1] + f", {json.dumps(key)}: {json.dumps(draw(PLAIN))}" + "}"
    elif damage == "letter":
        text = text[:place] + draw(st.sampled_from('"\\{}[],:\0e9\r')) + text[place + 1 :]
    return text.encode(errors="surrogatepass")


def fuzz(strategy, kind_of, num_examples: tuple[int, int], *needed: str) -> None:
    """Check values of a strategy; some of each needed kind must be there.

    Args:
        kind_of: fails if what becomes of a value is wrong.
        num_examples: in `make test`, where they are the same ones each time, and in all.
    """
    tally = Counter()

    def check(value):
        tally[kind_of(value)] += 1

    silent = settings(
        max_examples=num_examples[IS_FULL],
        deadline=None,
        database=None,
        derandomize=not IS_FULL,
        suppress_health_check=list(HealthCheck),
    )
    silent(given(strategy)(check))()
    assert set(needed) <= set(tally), tally


# --- requests: the same for the engine and the page -----------------------------------------------

#: Refused by both. The first group was answered wrongly once.
REFUSED = {
    "an action that was read as two": b'{"game": "othello", "moves": "[00000000019]"}',
    "a game of 982 brackets": b'{"game":' + b"[" * 982 + b"]" * 982 + b"}",
    "moves of 900 brackets": b'{"game": "tic_tac_toe", "moves":' + b"[" * 900 + b"]" * 900 + b"}",
    "a minus between numbers": b'{"game": "othello:4", "moves": "[2 - 1]"}',
    "half a character": b'{"game": "\\ud800"}',
    "a column of 5000 digits": b'{"game": "connect_x:5x5x4", "moves": "' + b"9" * 5000 + b'"}',
    "a number of 5000 digits": b'{"game": "tic_tac_toe", "moves": [' + b"9" * 5000 + b"]}",
    "a constant": b'{"game": "tic_tac_toe", "time_limit_s": NaN}',
    "a doubled key": b'{"game": "tic_tac_toe", "game": 7}',
    "a pass that is not forced": b'{"game": "othello", "moves": "pass"}',
    "moves after the end": b'{"game": "tic_tac_toe", "moves": [0,3,1,4,2,5]}',
    "two requests": b'{"game": "tic_tac_toe"}{"game": "tic_tac_toe"}',
    "half of UTF-16": '{"game": "tic_tac_toe"}'.encode("utf-16")[:-1],
    "control characters": b'{"game": "\\u001b[2J\\u0000"}',
    "a game file": b'{"game": "examples/snort.py"}',
    "a module": b'{"game": "os:system"}',
    "a list": b"[]",
    "cut": b'{"game":',
    "nothing": b"",
    "deep": b"[" * 500_000 + b"]" * 500_000,
}
ENGINE = Engine("uct", PlayerSettings(num_simulations=5))
#: Answered without a search.
GOOD = b'{"game": "tic_tac_toe", "moves": [0, 3, 1, 4, 8, 5]}\n'
RIGHT = {"result": -1, "legal_actions": []}
_ACTIONS = st.lists(mostly(st.integers(0, 17), NUMBERS | TEXTS), max_size=9)
_SQUARES = ["[0, 1]", "[1 - 2]", "[00000000001]", "c1", "a1b2", "pass,pass", "4,4"]
_MOVES = st.sampled_from([[], [], [2], [8, 14], [0, 3, 1, 4, 2]]) | _ACTIONS
_COUNTS = NUMBERS.filter(lambda one: isinstance(one, float) or not 20 < one <= 10**7) | TEXTS
FIELDS = {
    "moves": mostly(_MOVES, st.sampled_from(_SQUARES) | PLAIN),
    "setup": mostly(st.none() | st.sampled_from(["standard", "ours"]), TEXTS | PLAIN),
    "num_simulations": mostly(st.integers(1, 20), _COUNTS),
    "time_limit_s": mostly(st.sampled_from([0.001]), st.sampled_from([0, -1, True, 1e308, ""])),
    "board": mostly(st.sampled_from(["xo.\n...\n...", "....\n.BW.\n.WB.\n...."]), TEXTS | PLAIN),
    "to_move": mostly(st.integers(0, 1)),
    "from_ply": mostly(st.integers(0, 3)),
}
_NO_GAMES = ["chess", "othello:7", "connect_x:65x1x2", "connect_x:0x0x0", "connect_x:6x7", "GO"]
_GAME = mostly(st.sampled_from(["tic_tac_toe", "othello:4"]), st.sampled_from(_NO_GAMES) | PLAIN)
_PLAYER = st.fixed_dictionaries(
    {"id": st.sampled_from(["random", "uct", "solver", "best"]) | TEXTS},
    optional={"num_simulations": FIELDS["num_simulations"]},
)


def answers_to(data: bytes) -> list[dict]:
    """Return what the engine answers to bytes on its standard input."""
    out = io.StringIO()
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="\n")
    serve(ENGINE, stream, out)
    lines = out.getvalue().split("\n")
    assert lines.pop() == ""
    return [json.loads(line, parse_constant=lambda name: pytest.fail(name)) for line in lines]


def kind_of_line(line: bytes) -> str:
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


def test_any_line_gets_one_answer():
    engine_fields = {key: FIELDS[key] for key in list(FIELDS)[:4]}
    requests = st.fixed_dictionaries({"game": _GAME}, optional=engine_fields)
    parts = st.sampled_from([b"\xff", b"\0", b"\r", b"\xed\xa0\x80", b"\xef\xbb\xbf", GOOD[:-1]])
    lines = st.lists(st.binary(max_size=9) | parts, max_size=5).map(b"".join)
    lines |= texts_of(requests | st.dictionaries(TEXTS, PLAIN, max_size=3) | PLAIN)
    fuzz(lines, kind_of_line, (30, 10_000), "answered", "refused")


def test_any_ends_of_lines_and_a_last_line_without_one(monkeypatch, capsys):
    good = GOOD[:-1]
    inside = good.replace(b", ", b",\r")
    assert answers_to(good) == [RIGHT] and answers_to(b"") == []
    assert answers_to(good + b"\r\n" + inside + b"\n" + good + b"\r") == [RIGHT] * 3
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(inside + b"\n" + good)))
    assert main(["engine", "player=random"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [RIGHT] * 2


LONG = {
    "ten megabytes": b'{"game": "' + b"\xff" * 10_000_000 + b'"}',
    "squares": b'{"game": "othello", "moves": "' + b"e3" * 400_000 + b'"}',
}


@pytest.mark.parametrize("line", (REFUSED | LONG).values(), ids=REFUSED | LONG)
def test_these_lines_are_refused_in_a_sentence(line):
    assert kind_of_line(line) == "refused"


# --- the page -------------------------------------------------------------------------------------

JSON = "application/json"
ROUTES = ("position", "positions", "exact", "move", "analyse", "review")


class Site:
    """The application, and requests to it as uvicorn hands them over, without a socket."""

    def __init__(self):
        self.app = make_app(make_backend(), None)

    def ask(self, path, body):
        """Return the status, the content type and the body of a response."""
        headers = {"host": "127.0.0.1:8000", "content-type": JSON}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), text.encode()) for name, text in headers.items()],
            "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.1", 50_000),
        }
        received = [{"type": "http.request", "body": body, "more_body": False}]
        sent = []

        async def receive():
            if not received:
                await asyncio.Event().wait()  # the visitor stays
            return received.pop()

        async def send(message):
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        kind = dict(sent[0]["headers"]).get(b"content-type", b"").decode()
        return sent[0]["status"], kind, b"".join(part.get("body", b"") for part in sent[1:])

    def status(self, path, body) -> str:
        """Send a body and check the response; return its status."""
        status, kind, answer = self.ask(path, body)
        assert status < 500 and b"Traceback" not in answer
        if kind == JSON and status >= 400:
            error = json.loads(answer)["error"]
            assert 0 < len(error) <= MAX_ERROR and "Error:" not in error
        if kind == "application/x-ndjson":
            for line in filter(None, answer.split(b"\n")):
                message = json.loads(line, parse_constant=lambda name: pytest.fail(name))
                assert message.get("status", 200) < 500
        return str(status)


SITE = Site()


@pytest.fixture
def site():
    """Return the site, and check that a good request has the same answer afterwards."""
    before = SITE.ask("/api/position", GOOD)
    assert before[0] == 200
    yield SITE
    assert SITE.ask("/api/position", GOOD) == before


def test_any_body_has_an_answer(site):
    requests = st.fixed_dictionaries({"game": _GAME, "player": _PLAYER}, optional=FIELDS)
    requests |= st.fixed_dictionaries({"game": _GAME}, optional=FIELDS) | PLAIN
    cases = st.tuples(st.sampled_from(ROUTES), texts_of(requests) | st.binary(max_size=40))
    fuzz(cases, lambda case: site.status(f"/api/{case[0]}", case[1]), (40, 6_000), "400")


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_these_bodies_are_refused(body, site):
    for name in ROUTES:
        assert site.status(f"/api/{name}", body) in ("400", "422")


# --- texts that people paste ----------------------------------------------------------------------


def attempt(read, *arguments, errors=ValueError):
    """Return what a text is read as, None if it is refused with a sentence of ours."""
    try:
        return read(*arguments)
    except errors as error:
        message = ours = str(error)
        lists = (one if isinstance(one, list) else [one] for one in arguments)
        for text in (text for one in lists for text in one if text and isinstance(text, str)):
            ours = ours.replace(text, "")
            for word in re.split(r"[\s,=]+", text):  # each of which may be quoted
                ours = ours.replace(f"'{word}'", "")
        assert 5 < len(message) and not INSIDE.search(ours)
        assert "invalid literal" not in message and "Exceeds the limit" not in message
        return None


NO_MOVES = ["[", "[1,2", "[00000000019]", "9" * 5_000, "[--1]", "[1 - 2]", "９", "hello", "\0", "²"]
_WORDS = ["1", "4", "12", "0", "-1", "c1", "a2", "d4", "pass", "[", "]", "[0,1]", "a1a2", ",", ";"]
_WORDS += ["-", "  ", "９", "0" * 5_000 + "1", "\0", "\n", "\x1b[2J", "\u2028", "ß", "İ", "²"]
WORDS = st.sampled_from(_WORDS) | st.text(max_size=6)


def test_these_lists_of_moves_are_refused():
    for text in NO_MOVES:
        for game in GAMES:
            assert attempt(read_moves, game, skin_of(game).notation, text) is None


def test_any_moves_are_played_or_refused():
    def kind_of(case):
        game, which, words, between = case
        setups = setups_of(game)
        notation = skin_of(game, setups[which % len(setups)]).notation
        moves = attempt(read_moves, game, notation, between.join(words))
        session = Session(game)
        for word in words:
            action = attempt(read_move, session, skin_of(game), word)
            assert action is None or action in session.legal_actions
            attempt(game.text_to_action, word)
        if moves is None:
            return "refused"
        again = read_moves(game, notation, notation.list_text(moves))
        assert np.array_equal(game.play_moves(again), game.play_moves(moves))
        return "played"

    words = st.lists(WORDS, max_size=9)
    cases = st.tuples(
        st.sampled_from(GAMES), st.integers(0, 1), words, st.sampled_from([" ", "", ","])
    )
    fuzz(cases, kind_of, (40, 4_000), "played", "refused")


# --- arguments of commands ------------------------------------------------------------------------

VALUES = (
    "null true 1e999 nan -1 [ [1,2] {a:[} ' \"x 0x &a *a @ ` = << %x [2001-99-99] {[1]:2}".split()
)
VALUES += ["", "{a: 1}", "[&a [*a]]", "!!python/object/apply:os.system [x]", "{a: !!int x}", "- 1"]
VALUES += ["\0", "\x1b[2J", "\udcff", "\t", "{a: &x [1], b: *x}", "[" * 2_000, "{a: " * 1_000]
VALUES += ["[" * 400 + "]" * 400, "9" * 5_000]
MODULES = [importlib.import_module(f"alphazero.cli.{name}") for name in COMMANDS]
MODULES = [module for module in MODULES if hasattr(module, "Settings")]


def test_any_arguments_are_settings_or_are_refused():
    values = mostly(st.sampled_from(VALUES), TEXTS | PLAIN.map(str), 3)

    def arguments_of(module):
        keys = st.sampled_from(sorted(types_of(module.Settings)))
        words = st.tuples(mostly(keys, TEXTS, 8), values).map("=".join)
        return st.tuples(st.just(module), st.lists(mostly(words, TEXTS, 8), max_size=3))

    def kind_of(case):
        read = attempt(read_settings, *case, errors=InputError)
        return "refused" if read is None else "read"

    fuzz(st.sampled_from(MODULES).flatmap(arguments_of), kind_of, (150, 40_000), "refused")
