"""The page's server among strangers: every request gets a status below 500, and the next one works.

Requests go to the application as uvicorn hands them over, without a socket: each takes a
millisecond. What arrives at a socket is the matter of `tests/web/test_web_server.py`.
"""

import asyncio
import json

import pytest
from hostile import NUMBERS, PLAIN, TEXTS, Tally, corpus, deep, mostly, nested, texts_of, try_all
from hypothesis import strategies as st
from web_samples import make_backend

from alphazero.play.requests import (
    MAX_ERROR,
    DrawingRequest,
    MisplayedRequest,
    PlayerRequest,
    PositionRequest,
    Request,
    RunRequest,
    SearchRequest,
)
from alphazero.web.app import make_app

TOKEN = "a-token-of-this-test"
HOST = "127.0.0.1:8000"
JSON = "application/json"
GOOD = {"game": "tic_tac_toe", "moves": [0, 3, 1, 4]}


class Site:
    """The application, and requests to it."""

    def __init__(self, token=None):
        self.app = make_app(make_backend(), token)
        self.headers = {"host": HOST, "content-type": JSON}
        self.loop = asyncio.new_event_loop()

    def ask(self, path, body=b"", method="POST", headers=None, query=b""):
        """Return the status, the headers and the body of a response."""
        return self.loop.run_until_complete(self._ask(path, body, method, headers, query))

    async def _ask(self, path, body, method, headers, query):
        headers = {**self.headers, **(headers or {})}
        raw = [(name.encode("latin-1"), _bytes(value)) for name, value in headers.items()]
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
            "headers": [(name, value) for name, value in raw if value is not None],
            "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.1", 50_000),
        }
        sent, is_asked, is_done = [], False, asyncio.Event()

        async def receive():
            nonlocal is_asked
            if is_asked:
                await is_done.wait()
                return {"type": "http.disconnect"}
            is_asked = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        is_done.set()
        found = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in sent[0]["headers"]
        }
        return sent[0]["status"], found, b"".join(part.get("body", b"") for part in sent[1:])

    def check(self, path, body=b"", method="POST", headers=None, query=b"") -> str:
        """Send a request; check the response; return what became of it."""
        status, found, answer = self.ask(path, body, method, headers, query)
        assert status < 500
        assert b"Traceback" not in answer
        if found.get("content-type") == JSON and status >= 400:
            error = json.loads(answer)["error"]
            assert 0 < len(error) <= MAX_ERROR and "Error:" not in error
        if found.get("content-type") == "application/x-ndjson":
            for line in filter(None, answer.split(b"\n")):
                message = json.loads(line, parse_constant=lambda name: pytest.fail(name))
                assert message.get("status", 200) < 500
        return str(status)


def _bytes(value):
    return value.encode("latin-1", "replace") if isinstance(value, str) else value


@pytest.fixture(scope="module")
def site():
    site = Site()
    yield site
    site.loop.close()


@pytest.fixture(autouse=True)
def right(site):
    """Check that a good request has the same answer after a test as before it."""
    before = site.ask("/api/position", json.dumps(GOOD).encode())
    assert before[0] == 200
    yield
    assert site.ask("/api/position", json.dumps(GOOD).encode()) == before


# --- bodies: strategies from the models themselves ------------------------------------------------

_GAMES = st.sampled_from(["tic_tac_toe", "othello:4"])
_FEW = st.integers(0, 20)
#: What suits a field, by its name; other fields get what suits their type.
_SUITABLE = {
    "game": _GAMES,
    "setup": st.sampled_from(["standard", "ours"]) | st.none(),
    "board": st.text("xo.XOWB-\n", max_size=30)
    | st.sampled_from(
        ["xo.\n...\n...", "xxx\n...\n...", "....\n.BW.\n.WB.\n....", "xxx\nooo\n..."]
    ),
    "moves": st.lists(st.integers(0, 15), max_size=9, unique=True)
    | st.sampled_from([[], [0, 3, 1, 4], "1,4", "c1", "[0, 1]", "[1 - 2]", "a1 pass", "9" * 5_000])
    | st.lists(st.integers(0, 8) | NUMBERS | TEXTS | nested(), max_size=5),
    "id": st.sampled_from(["random", "uct", "solver", "best"]) | TEXTS,
    "num_simulations": _FEW,
    "to_move": st.integers(0, 1),
    "from_ply": st.integers(0, 3),
}


def _of_kind(kind, definitions):
    """Return values of one of the types that the schema of a field names."""
    if "$ref" in kind:
        return _of_schema(definitions[kind["$ref"].rpartition("/")[2]], definitions)
    types = {"integer": _FEW, "string": TEXTS, "array": st.lists(_FEW), "null": st.none()}
    return types[kind["type"]]


def requests_of(model):
    """Return requests of a model, mostly with values that its fields may have."""
    schema = model.model_json_schema()
    return _of_schema(schema, schema.get("$defs", {}))


def _of_schema(schema, definitions):
    fields = {}
    for name, field in schema["properties"].items():
        kinds = [_of_kind(kind, definitions) for kind in field["anyOf"]]
        suitable = _SUITABLE[name] if name in _SUITABLE else st.one_of(kinds)
        fields[name] = mostly(suitable, _WRONG, 12)
    needed = {name: fields.pop(name) for name in ("game", "player", "id") if name in fields}
    if "num_simulations" in fields:  # else a player may think for long
        needed["num_simulations"] = fields.pop("num_simulations")
    return st.fixed_dictionaries(needed, optional=fields)


def _is_quick(value) -> bool:
    return not isinstance(value, int) or not 20 < value <= 10**7


_WRONG = (NUMBERS | PLAIN).filter(_is_quick)
MODELS = {
    "position": DrawingRequest,
    "exact": PositionRequest,
    "move": SearchRequest,
    "analyse": SearchRequest,
    "review": SearchRequest,
    "misplayed": MisplayedRequest,
}


def test_every_model_is_tried():
    models = set(Request.__subclasses__()) | set(PositionRequest.__subclasses__())
    assert models - set(MODELS.values()) <= {PlayerRequest, RunRequest} | {
        one for one in models if one.__name__ == "EngineRequest"
    }


@pytest.mark.parametrize("name", MODELS)
def test_any_body_has_an_answer(name, amount, site):
    tally = Tally()

    def check(text):
        tally[site.check(f"/api/{name}", text.encode(errors="surrogatepass"))] += 1

    few, many = (30, 2_000) if name in ("position", "exact") else (10, 500)
    try_all(texts_of(requests_of(MODELS[name]) | PLAIN), check, amount(few, many))
    assert {"400", "422"} & set(tally)
    tally.show(f"page, {name}")


def test_any_bytes_have_an_answer(amount, site):
    tally = Tally()
    paths = st.sampled_from([f"/api/{name}" for name in MODELS])

    def check(path, body):
        tally[site.check(path, body)] += 1

    pairs = st.tuples(paths, st.binary(max_size=40))
    try_all(pairs, lambda pair: check(*pair), amount(60, 2_000))
    tally.show("page, bytes")


@pytest.mark.parametrize("body", [pytest.param(data, id=name) for name, data in corpus("page")])
def test_kept_bodies_are_refused(body, site):
    for name in MODELS:
        assert site.check(f"/api/{name}", body) in ("400", "422")


def test_deep_brackets_are_refused(site, amount):
    for levels in range(30, 1_100, amount(89, 17)):
        for key in ("game", "moves", "player", "x"):
            body = f'{{"{key}": {deep(levels)}}}'.encode()
            assert site.check("/api/move", body) in ("400", "422")


# --- heads: who asks, from where, for what --------------------------------------------------------

_ORIGINS = ["http://[", "null", "", "//", "http://", f"http://{HOST}", "http://[::1", "http://a]b"]
_ORIGINS += [
    "http://evil.example",
    f"http://{HOST}.evil.example",
    "http://x@" + HOST,
    "\xff",
    "http://[v1.a]",
]
_HOSTS = [
    HOST,
    "localhost",
    "[::1]:8000",
    "[",
    "[::1",
    "evil.example",
    "",
    ":",
    "\xff",
    "a" * 9_000,
]
_KINDS = [JSON, "application/json; charset=utf-16", "text/plain", "", ";", "\xff", "a" * 9_000]
_COOKIES = [
    f"alphazero_token={TOKEN}",
    "alphazero_token=",
    "=",
    ";;;",
    '"\\777"',
    "\xff",
    "a" * 9_000,
]
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
        "range": st.sampled_from(
            ["bytes=0-1", "bytes=9-1", "bytes=-", "x", "bytes=" + "0-1," * 99]
        ),
        "if-none-match": _letters,
        "if-modified-since": st.sampled_from(["", "x", "Mon, 32 Foo 99999 99:99:99 GMT"]),
    },
)
PATHS = st.sampled_from(
    ["/", "/api/games", "/api/run", "/api/position", "/api", "/api/", "//", "/page.js"]
    + [
        "/../app.py",
        "/%2e%2e/app.py",
        "/..\\app.py",
        "/\0",
        "/\udcff",
        "/" + "x" * 5_000,
        "/static",
    ]
    + ["//evil.example/x", "/api//games", "/index.html/", "/.", "/CON", "/~root"]
) | st.text(max_size=9).map(lambda text: "/" + text)
QUERIES = st.sampled_from(
    [
        b"",
        b"id=x",
        b"from_row=1",
        b"id=x&from_row=" + b"9" * 5_000,
        b"id=x&from_row=%f0%9d%9f%8f&version=1",
        b"id=..%2f..",
        b"id=%00",
        b"id=%ff",
        b"id=" + b"x" * 5_000,
        b"token=" + TOKEN.encode(),
    ]
    + [b"token=%ff", b"token=%ED%A0%80", b"&&==", b"%", b"\xff", b"token=a&token=b"]
)
METHODS = st.sampled_from(
    ["GET", "GET", "POST", "HEAD", "PUT", "OPTIONS", "TRACE", "", "get", "X" * 99]
)


def test_any_head_has_an_answer(amount, site):
    tally = Tally()

    def check(head):
        method, path, query, headers, body = head
        status = site.check(path, body, method, headers, query)
        own = ("http://" + headers["host"], None)
        is_foreign = headers.get("origin") not in own
        if path.startswith("/api/") and is_foreign and "[" not in headers["host"]:
            assert not status.startswith("2")
        tally[status] += 1

    bodies = st.sampled_from([b"", json.dumps(GOOD).encode()])
    heads = st.tuples(METHODS, PATHS, QUERIES, HEADERS, bodies)
    try_all(heads, check, amount(100, 6_000))
    assert tally["200"]
    tally.show("page, heads")


def test_nobody_gets_past_the_token_without_it(amount):
    guarded, tally = Site(TOKEN), Tally()

    def check(head):
        method, path, query, headers, body = head
        status, found, answer = guarded.ask(path, body, method, headers, query)
        assert status < 500
        knows = TOKEN in headers.get("cookie", "") or TOKEN in headers.get("authorization", "")
        if not knows:
            is_token = method == "GET" and path == "/" and TOKEN.encode() in query
            assert status in (303 if is_token else 401, 400, 401, 403)
            assert is_token or TOKEN not in str(found) + answer.decode(errors="replace")
        if status == 303:
            assert "evil" not in found["location"] and TOKEN not in found["location"]
        tally[str(status)] += 1

    bodies = st.sampled_from([b"", json.dumps(GOOD).encode()])
    heads = st.tuples(METHODS, PATHS, QUERIES, HEADERS, bodies)
    try_all(heads, check, amount(50, 3_000))
    assert tally["401"]
    tally.show("page, token")


@pytest.mark.parametrize("origin", _ORIGINS)
@pytest.mark.parametrize("host", _HOSTS)
def test_every_origin_with_every_host_has_an_answer(origin, host, site):
    headers = {"host": host, "origin": origin}
    assert site.check("/api/games", method="GET", headers=headers) in ("200", "400", "403")
