"""The page's server among strangers: every request gets a status below 500, and the next one works.

Requests go to the application as uvicorn hands them over, without a socket: each takes a
millisecond. What arrives at a socket is the matter of `tests/web/test_web_server.py`.
"""

import asyncio
import dataclasses
import json

import pytest
from hostile import NUMBERS, PLAIN, TEXTS, corpus, fuzz, mostly, texts_of
from hypothesis import strategies as st
from web_samples import make_backend

from alphazero.play.requests import (
    MAX_ERROR,
    DrawingRequest,
    PlayerRequest,
    PositionRequest,
    PositionsRequest,
    Request,
    SearchRequest,
)
from alphazero.web.app import make_app

TOKEN = "a-token-of-this-test"
HOST = "127.0.0.1:8000"
JSON = "application/json"
GOOD = json.dumps({"game": "tic_tac_toe", "moves": [0, 3, 1, 4]}).encode()


class Site:
    """The application, and requests to it."""

    def __init__(self, token=None):
        self.app = make_app(make_backend(), token)

    def ask(self, path, body=b"", method="POST", headers=None, query=b""):
        """Return the status, the headers and the body of a response."""
        headers = {"host": HOST, "content-type": JSON} | (headers or {})
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(errors="surrogateescape"),
            "query_string": query,
            "root_path": "",
            "headers": [(name.encode(), text.encode("latin-1")) for name, text in headers.items()],
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
        found = {key.decode("latin-1"): text.decode("latin-1") for key, text in sent[0]["headers"]}
        return sent[0]["status"], found, b"".join(part.get("body", b"") for part in sent[1:])

    def status(self, path, body=b"", *head) -> str:
        """Send a request and check the response; return its status."""
        status, found, answer = self.ask(path, body, *head)
        assert status < 500 and b"Traceback" not in answer
        if found.get("content-type") == JSON and status >= 400:
            error = json.loads(answer)["error"]
            assert 0 < len(error) <= MAX_ERROR and "Error:" not in error
        if found.get("content-type") == "application/x-ndjson":
            for line in filter(None, answer.split(b"\n")):
                message = json.loads(line, parse_constant=lambda name: pytest.fail(name))
                assert message.get("status", 200) < 500
        return str(status)


SITE = Site()


@pytest.fixture(autouse=True)
def right():
    """Check that a good request has the same answer after a test as before it."""
    before = SITE.ask("/api/position", GOOD)
    assert before[0] == 200
    yield
    assert SITE.ask("/api/position", GOOD) == before


# --- bodies: strategies from the models themselves ------------------------------------------------

_FEW = st.integers(0, 20)
_WRONG = (NUMBERS | PLAIN).filter(
    lambda value: not isinstance(value, int) or not 20 < value <= 10**7  # which would take long
)
_BOARDS = ["xo.\n...\n...", "xxx\n...\n...", "....\n.BW.\n.WB.\n....", "xxx\nooo\n..."]
#: What suits a field, by its name.
_SUITABLE = {
    "game": st.sampled_from(["tic_tac_toe", "othello:4"]),
    "setup": st.sampled_from(["standard", "ours"]) | st.none(),
    "board": st.text("xo.XOWB-\n", max_size=30) | st.sampled_from(_BOARDS),
    "moves": st.lists(st.integers(0, 15), max_size=9, unique=True)
    | st.sampled_from([[], [0, 3, 1, 4], "1,4", "c1", "[0, 1]", "[1 - 2]", "a1 pass", "9" * 5_000])
    | st.lists(st.integers(0, 8) | NUMBERS | TEXTS, max_size=5),
    "id": st.sampled_from(["random", "uct", "solver", "best"]) | TEXTS,
    "num_simulations": _FEW,
    "to_move": st.integers(0, 1),
    "from_ply": st.integers(0, 3),
}
_INSIDE = {"player": PlayerRequest, "requests": DrawingRequest}


def requests_of(model):
    """Return requests of a model, mostly with values that its fields may have."""
    fields = {}
    for name in (field.name for field in dataclasses.fields(model)):
        suitable = requests_of(_INSIDE[name]) if name in _INSIDE else _SUITABLE[name]
        if name == "requests":
            suitable = st.lists(suitable, max_size=3)
        fields[name] = mostly(suitable | st.none(), _WRONG, 12)
    # Without a number of simulations, a player may think for long.
    needed = ("game", "player", "id", "num_simulations")
    needed = {name: fields.pop(name) for name in needed if name in fields}
    return st.fixed_dictionaries(needed, optional=fields)


MODELS = {
    "position": DrawingRequest,
    "positions": PositionsRequest,
    "exact": PositionRequest,
    "move": SearchRequest,
    "analyse": SearchRequest,
    "review": SearchRequest,
}


def test_every_model_is_tried():
    models = set(Request.__subclasses__()) | set(PositionRequest.__subclasses__())
    others = {model.__name__ for model in models - set(MODELS.values())}
    assert others <= {"PlayerRequest", "EngineRequest"}


@pytest.mark.parametrize("name", MODELS)
def test_any_body_has_an_answer(name):
    number = (30, 2_000) if name in ("position", "positions", "exact") else (10, 500)
    bodies = texts_of(requests_of(MODELS[name]) | PLAIN) | st.binary(max_size=40)
    fuzz(f"page, {name}", bodies, lambda body: SITE.status(f"/api/{name}", body), number, "400")


@pytest.mark.parametrize("body", corpus("page"))
def test_kept_bodies_are_refused(body):
    for name in MODELS:
        assert SITE.status(f"/api/{name}", body) in ("400", "422")


# --- heads: who asks, from where, for what --------------------------------------------------------

_LONG = "a" * 9_000
_ORIGINS = ["http://[", "null", "", "//", "http://", f"http://{HOST}", "http://[::1", "http://a]b"]
_ORIGINS += ["http://evil.example", f"http://{HOST}.evil.example", "http://x@" + HOST, "\xff"]
_HOSTS = [HOST, "localhost", "[::1]:8000", "[", "[::1", "evil.example", "", ":", "\xff", _LONG]
_KINDS = [JSON, "application/json; charset=utf-16", "text/plain", "", ";", "\xff", _LONG]
_COOKIES = [f"alphazero_token={TOKEN}", "alphazero_token=", "=", ";;;", '"\\777"', "\xff", _LONG]
_TOKENS = [f"Bearer {TOKEN}", f"bearer  {TOKEN}", "Bearer", "Basic eDp5", "\xff", "", "Bearer \xe9"]
_letters = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=9)
HEADERS = st.fixed_dictionaries(
    {"host": mostly(st.just(HOST), st.sampled_from(_HOSTS) | _letters)},
    optional={
        "origin": st.sampled_from(_ORIGINS) | _letters,
        "content-type": mostly(st.just(JSON), st.sampled_from(_KINDS) | _letters),
        "cookie": st.sampled_from(_COOKIES) | _letters,
        "authorization": st.sampled_from(_TOKENS) | _letters,
        "sec-fetch-site": st.sampled_from(["none", "same-origin", "cross-site", "", "\xff"]),
        "content-length": st.sampled_from(["0", "-1", "x", "9" * 5_000]),
        "range": st.sampled_from(["bytes=0-1", "bytes=9-1", "bytes=-", "x"]),
        "if-modified-since": st.sampled_from(["", "x", "Mon, 32 Foo 99999 99:99:99 GMT"]),
    },
)
_PATHS = ["/", "/api/games", "/api/run", "/api/position", "/api", "/api/", "//", "/page.js"]
_PATHS += ["/../app.py", "/%2e%2e/app.py", "/..\\app.py", "/\0", "/\udcff", "/" + _LONG, "/static"]
_PATHS += ["//evil.example/x", "/api//games", "/index.html/", "/.", "/~root"]
_QUERIES = ["", "id=x", "from=1", "id=x&from=1", "id=..%2f..", "id=%00", "%"]
_QUERIES += ["id=%f0%9d%9f%8f", "id=%ff", "id=" + _LONG, f"token={TOKEN}"]
_QUERIES += ["token=%ff", "token=%ED%A0%80", "&&==", "\xff", "token=a&token=b"]
HEADS = st.tuples(
    st.sampled_from(_PATHS) | st.text(max_size=9).map(lambda text: "/" + text),
    st.sampled_from([b"", GOOD]),
    st.sampled_from(["GET", "GET", "POST", "HEAD", "PUT", "OPTIONS", "TRACE", "", "get"]),
    HEADERS,
    st.sampled_from(_QUERIES).map(lambda text: text.encode("latin-1")),
)


def test_any_head_has_an_answer():
    def status_of(head):
        path, _, _, headers, _ = head
        status = SITE.status(*head)
        is_foreign = headers.get("origin") not in ("http://" + headers["host"], None)
        if path.startswith("/api/") and is_foreign and "[" not in headers["host"]:
            assert not status.startswith("2")
        return status

    fuzz("page, heads", HEADS, status_of, (100, 6_000), "200")


def test_nobody_gets_past_the_token_without_it():
    guarded = Site(TOKEN)

    def status_of(head):
        path, _, method, headers, query = head
        status, found, answer = guarded.ask(*head)
        assert status < 500
        knows = TOKEN in headers.get("cookie", "") or TOKEN in headers.get("authorization", "")
        if not knows:
            is_token = method == "GET" and path == "/" and TOKEN.encode() in query
            assert status in (303 if is_token else 401, 400, 401, 403)
            assert is_token or TOKEN not in str(found) + answer.decode(errors="replace")
        if status == 303:
            assert "evil" not in found["location"] and TOKEN not in found["location"]
        return str(status)

    fuzz("page, token", HEADS, status_of, (50, 3_000), "401")
