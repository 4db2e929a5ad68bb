"""The server: streams, who may ask, and every kind of request that must not hurt."""

import json
import re
import socket
import sys
import time

import pytest
from game_samples import PUZZLE
from web_samples import make_backend, running, stream

from alphazero.cli import main
from alphazero.runtime.errors import ConfigError
from alphazero.web.server import is_local, open_socket

CONNECT_FOUR = {"game": "connect_four"}
POSITION = ("POST", "api/position")


@pytest.fixture(scope="module")
def client():
    with running(make_backend()) as client:
        yield client


# --- answers --------------------------------------------------------------------------------------


def test_the_api_answers_in_json(client):
    games = client.get("api/games")
    assert games.headers["content-type"] == "application/json" and games.json()["games"]
    assert games.headers["cache-control"] == "no-cache"
    found = client.post("api/position", json=CONNECT_FOUR | {"moves": "4"}).json()
    assert found["moves"] == [3]


def test_a_file_that_has_not_changed_is_not_sent_again(client):
    tag = client.get("icon.svg").headers["etag"]
    again = client.get("icon.svg", headers={"if-none-match": tag})
    assert again.status_code == 304 and again.headers["cache-control"] == "no-cache"


def test_a_move_is_a_stream_that_ends_with_it(client):
    player = {"id": "best", "num_simulations": 20}
    messages = stream(client, "move", CONNECT_FOUR | {"player": player})
    assert messages[-1]["type"] == "move"
    assert {message["type"] for message in messages[:-1]} <= {"progress"}


def test_files_and_answers_are_compressed_and_streams_are_not(client):
    for path in ("/page.js", "/api/games"):
        assert client.get(path).headers["content-encoding"] == "gzip"
    request = {"game": "tic_tac_toe", "moves": [], "player": {"id": "random"}}
    assert "content-encoding" not in client.post("/api/move", json=request).headers


def test_a_closed_page_stops_its_search(client):
    catalogue = client.backend.catalogue
    game = catalogue.game("connect_four")
    search = client.backend.thinking.network(game, catalogue.player(game, "best"))
    # The evaluator is slowed down, so that the search would take a minute.
    evaluator = search.player.cache
    evaluate = evaluator.evaluate

    def slowly(planes):
        time.sleep(0.05)
        return evaluate(planes)

    request = CONNECT_FOUR | {"player": {"id": "best", "num_simulations": 10_000}}
    evaluator.evaluate = slowly
    try:
        with client.stream("POST", "api/analyse", json=request) as response:
            messages = map(json.loads, response.iter_lines())
            view = next(message for message in messages if message["type"] == "analysis")
            assert not view["final"]
            assert search._lock.locked()
        _wait_until(lambda: not search._lock.locked())
    finally:
        evaluator.evaluate = evaluate


def _wait_until(is_true, seconds=5.0):
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def test_a_failure_in_a_stream_is_a_sentence_and_the_server_goes_on(client, monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("secret")

    monkeypatch.setattr(client.backend.thinking, "search", fails)
    request = CONNECT_FOUR | {"player": {"id": "best"}}
    (message,) = stream(client, "move", request)
    assert message["type"] == "error" and "secret" not in message["error"]
    monkeypatch.undo()
    assert stream(client, "move", request)[-1]["type"] == "move"


# --- who may ask ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers, status",
    [
        ({}, 200),
        ({"origin": "SELF"}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost:1"}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "\xff\xfe"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"host": "[::1]:8000"}, 200),
        ({"host": "evil.example"}, 400),
        ({"host": "evil.example", "origin": "http://evil.example"}, 400),
        ({"host": "127.0.0.1.evil.example:8000"}, 400),
        ({"host": "LocalHost"}, 200),
        ({"host": "[::1"}, 400),
        ({"content-type": "text/plain"}, 415),
    ],
)
def test_requests_come_from_the_page_itself(client, headers, status):
    own = str(client.base_url).rstrip("/")
    headers = {
        name: value.replace("SELF", own).encode("latin-1") for name, value in headers.items()
    }
    headers = {"content-type": "application/json"} | headers
    response = client.post("api/position", content=json.dumps(CONNECT_FOUR), headers=headers)
    assert response.status_code == status
    error = response.json().get("error", "")
    assert bool(error) == (status != 200)
    assert ("token=" in error) == (status == 400)  # the setting for a page at another address


def test_a_second_origin_is_not_overlooked(client):
    own = str(client.base_url).rstrip("/")
    headers = [("origin", own), ("origin", "http://evil.example")]
    assert client.get("api/games", headers=headers[:1]).status_code == 200
    assert client.get("api/games", headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/api/games/", "/api", "//evil.example/..", "/nowhere/"])
def test_nothing_redirects_to_where_the_request_says(client, path):
    host, port = client.base_url.host, client.base_url.port
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    response = _raw(host, port, head)
    assert response.startswith(b"HTTP/1.1 404 ") and b"localhost" not in response


def test_every_response_forbids_scripts_and_frames_from_elsewhere(client):
    for path in ("", "api/games", "nowhere", "page.js"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http" not in policy


def test_others_need_the_token_and_the_page_remembers_it():
    with running(make_backend(), host="0.0.0.0") as client:
        token = client.address.token
        assert len(token) >= 16 and token in client.address.url
        assert client.get("api/games").status_code == 401
        assert client.get("page.js").status_code == 401
        asked = client.get("")
        assert asked.status_code == 401 and token not in asked.text
        assert client.get("", params={"token": token + "x"}).status_code == 401
        assert client.get("api/games", params={"token": token}).status_code == 401
        bearer = {"authorization": f"Bearer {token}"}
        assert client.get("api/games", headers=bearer).status_code == 200
        opened = client.get("", params={"token": token})
        assert opened.status_code == 303 and token not in opened.headers["location"]
        cookie = opened.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie
        assert client.get("api/games").status_code == 200  # the client kept the cookie
        assert client.get("api/games", headers={"host": "some.name"}).status_code == 200
        cross = client.get("api/games", headers={"origin": "http://evil.example"})
        assert cross.status_code == 403


def test_this_machine_alone_needs_no_token():
    assert is_local("127.0.0.1") and is_local("::1") and is_local("localhost")
    assert not is_local("0.0.0.0") and not is_local("192.168.0.2") and not is_local("example")
    with running(make_backend(), token="chosen-by-hand") as client:
        assert client.get("api/games").status_code == 401
        known = {"authorization": "Bearer chosen-by-hand", "host": "by.a.proxy"}
        assert client.get("api/games", headers=known).status_code == 200


# --- requests that must not hurt ------------------------------------------------------------------


@pytest.mark.parametrize(
    "method, path, status",
    [
        ("GET", "api/move", 405),
        ("DELETE", "api/games", 405),
        ("GET", "api/nothing", 404),
        ("GET", "../../pyproject.toml", 404),
        ("GET", "%2e%2e/%2e%2e/pyproject.toml", 404),
        ("GET", "static/..\\..\\app.py", 404),
        ("GET", "/etc/passwd", 404),
        ("GET", "api/run?id=" + "x" * 5_000, 404),
        ("PUT", "page.js", 405),
    ],
)
def test_addresses_that_lead_nowhere(client, method, path, status):
    host, port = client.base_url.host, client.base_url.port
    head = f"{method} /{path.lstrip('/')} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    response = _raw(host, port, head)
    assert response.startswith(f"HTTP/1.1 {status} ".encode())
    assert json.loads(response.partition(b"\r\n\r\n")[2])["error"]
    assert b"root:" not in response and b"Traceback" not in response


def _raw(host, port, text):
    """Send bytes as they are; return what comes back."""
    with socket.create_connection((host, port), timeout=5) as connection:
        connection.sendall(text.encode("latin-1"))
        received = b""
        while part := connection.recv(65_536):
            received += part
    return received


@pytest.mark.parametrize(
    "body, status",
    [
        (b"{", 400),
        (b'{"game": "connect_four", "moves": [7]}', 422),
        (b'{"game": "connect_four"' + b" " * 2_000_000 + b"}", 413),
    ],
    ids=["cut", "illegal", "large"],
)
def test_bodies_that_are_no_requests(client, body, status):
    headers = {"content-type": "application/json"}
    for name in ("position", "move"):
        response = client.post(f"api/{name}", content=body, headers=headers)
        assert response.status_code == status and response.json()["error"]


# --- the command ----------------------------------------------------------------------------------


def test_the_next_free_port_is_taken_unless_one_is_named():
    with open_socket("127.0.0.1", None) as first, open_socket("127.0.0.1", None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
        with pytest.raises(ConfigError) as refused:
            open_socket("127.0.0.1", first.getsockname()[1])
        assert refused.value.key == "port"
    with pytest.raises(ConfigError) as refused:
        open_socket("no.such.host.invalid", None)
    assert refused.value.key == "host"


@pytest.mark.parametrize(
    "words, named",
    [
        (["port=0"], "port"),
        (["token=short"], "token"),
        (["game=chess"], "chess"),
        ([f"game={PUZZLE}"], "peg_solitaire.py"),
        (["host=no.such.host.invalid"], "host"),
        (["hots=1"], "hots"),
        (["runs=no/such/folder"], "no/such/folder"),
    ],
)
def test_wrong_settings_are_refused_before_anything_listens(words, named, capsys):
    assert main(["serve", *words, "open=false"]) == 2
    output = capsys.readouterr()
    assert named in output.err and not output.out


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "alphazero.web.server")
    assert main(["serve", "open=false"]) == 2
    assert re.search(r"pip install .*\[web\]", capsys.readouterr().err)
