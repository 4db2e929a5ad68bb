"""The page that plays in the browser: its folder, and what the documentation says without it."""

import functools
import http.server
import json
import re
import sys
import threading
from pathlib import Path

import pytest

from alphazero.api import load_player

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import browser_page  # noqa: E402
from web_browser import chromium, opened  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of the page with Connect Four."""
    pytest.importorskip("onnxscript", reason="the extra [onnx] is not installed")
    if (reason := browser_page.missing()) is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("site") / "in_browser"
    browser_page.build(folder, ("connect_four",))
    return folder


@pytest.fixture(scope="module")
def address(folder):
    """Serve the folder on this machine; return its address."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser, address):
    """Return the page, opened."""
    with opened(browser, address) as page:
        page.evaluate(
            "async () => { window.backend = (await import(BACKEND)).browserBackend(); }".replace(
                "BACKEND", "'./browser_backend.js'"
            )
        )
        yield page


def test_the_lock_file_pins_versions_and_names_no_host():
    lock = json.loads((ROOT / "browser/package-lock.json").read_text())
    wanted = json.loads((ROOT / "browser/package.json").read_text())["dependencies"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", wanted["onnxruntime-web"])
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages["node_modules/onnxruntime-web"]["version"] == wanted["onnxruntime-web"]
    assert all(entry["integrity"] for entry in packages.values())
    assert "://" not in json.dumps(lock)


@pytest.mark.slow
def test_the_folder_has_all_that_its_files_name(folder):
    games = json.loads((folder / "games.json").read_text())
    assert [game["name"] for game in games["games"]] == ["connect_four"] == [games["default_game"]]
    assert (folder / "networks/connect_four.onnx").stat().st_size > 1_000_000
    for path in [*folder.glob("*.js"), folder / "index.html"]:
        text = path.read_text()
        named = re.findall(r"""(?:from |src=|href=)"([^":,]+)\"""", text)
        named += re.findall(r'new URL\("([^"]+)"', text)
        assert [name for name in named if not (folder / name).is_file()] == []
    assert "page.js" in text and ".css" in text
    assert not list(folder.rglob("node_modules")) and not list(folder.rglob("package*.json"))


MOVE = """async ([moves, player]) => {
    const messages = [];
    const onMessage = (message) => messages.push(message);
    await backend.move({game: "connect_four", moves, player}, {onMessage});
    return messages;
}"""


@pytest.mark.slow
def test_a_person_plays_without_any_server(page):
    page.get_by_role("gridcell", name="column 4, row 1:").click()
    page.locator(".move-list li").nth(1).wait_for()
    assert page.locator(".pieces .piece").count() == 2
    assert page.locator("nav a").all_inner_texts() == ["Play", "Analyse"]  # there are no runs
    page.get_by_role("link", name="Analyse").click()
    page.locator(".move-mark.is-best").wait_for()
    assert page.locator(".analysis-panel tbody tr").count() >= 7


def test_the_network_plays_without_any_server(page):
    games = page.evaluate("() => backend.games()")
    player = games["games"][0]["levels"][-1]["player"]
    assert page.evaluate(MOVE, [[], player])[-1]["action"] == 3
    won = page.evaluate(MOVE, [[3, 0, 3, 0, 3, 1], player])[-1]
    assert (won["type"], won["action"], won["value"]) == ("move", 3, 1)
    answer = page.evaluate("() => backend.position({game: 'connect_four', moves: '4,4'})")
    assert answer["moves"] == [3, 3]


def test_the_answers_are_those_of_the_network(page):
    analyse = """async (moves) => {
        let last = null;
        const player = {id: "best", num_simulations: 0};
        const onMessage = (message) => { last = message; };
        await backend.analyse({game: "connect_four", moves, player}, {onMessage});
        return last;
    }"""
    player = load_player("best", "connect_four", with_search=False)
    for moves in ([], [3, 3, 2], [0, 6, 1, 5]):
        found = page.evaluate(analyse, moves)
        expected = player.analyse(player.game.play_moves(moves))
        assert found["network"]["value"] == pytest.approx(expected.value, abs=1e-4)
        priors = [one["prior"] for one in found["actions"]]
        assert priors == pytest.approx(expected.action_weights.tolist(), abs=1e-4)


@pytest.mark.slow
def test_a_search_can_be_stopped_and_a_refusal_is_an_error(page):
    stopped = page.evaluate("""async () => {
        const sent = [];
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (message) {
            if (message.method !== "position") sent.push(message.method); // the page asks, too
            post.call(this, message);
        };
        const stop = new AbortController();
        const player = {id: "best", num_simulations: 1e4};
        const request = {game: "connect_four", moves: [3], player};
        let count = 0;
        const onMessage = () => { count += 1; stop.abort(); };
        try {
            await backend.analyse(request, {signal: stop.signal, onMessage});
        } catch (error) {
            await new Promise((resolve) => setTimeout(resolve, 500));
            return [error.name, count, sent];
        }
    }""")
    assert stopped == ["AbortError", 1, ["analyse", "stop"]]
    refused = page.evaluate("""() => backend.position({game: "connect_four", moves: [9]})
        .catch((error) => [error.message, error.status])""")
    assert refused[0] and refused[1] == 422
    assert page.evaluate("() => backend.runs") is None


def test_the_documentation_says_when_the_board_is_missing(monkeypatch):
    page = (ROOT / "docs/browser.md").read_text()
    assert page.count(browser_page.MARK) == 1
    monkeypatch.setattr(browser_page, "missing", lambda: None)
    shown = browser_page.on_page_markdown(page)
    assert "<iframe" in shown and browser_page.MARK not in shown
    monkeypatch.undo()
    monkeypatch.setattr(browser_page, "ONNXRUNTIME", Path("nowhere"))
    shown = browser_page.on_page_markdown(page)
    assert "<iframe" not in shown and "npm ci" in shown


def test_without_npm_the_site_is_built_as_it_is(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(browser_page, "ONNXRUNTIME", Path("nowhere"))
    browser_page.on_post_build({"site_dir": str(tmp_path)})
    assert "onnxruntime-web" in capsys.readouterr().out and not any(tmp_path.iterdir())
