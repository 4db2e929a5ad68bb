"""The page that plays in the browser: its folder, and what the documentation says without it."""

import functools
import http.server
import json
import re
import threading
from pathlib import Path

import browser_page
import pytest
from web_browser import chromium, opened

from alphazero.api import load_player

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of the page with Connect Four."""
    folder = tmp_path_factory.mktemp("site") / "in_browser"
    browser_page.build(folder, ("connect_four",))
    return folder


@pytest.fixture(scope="module")
def address(folder):
    """Serve the site with the folder on this machine; return the folder's address."""
    handler = functools.partial(QuietHandler, directory=str(folder.parent))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/{folder.name}/"
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


@pytest.mark.slow
def test_the_folder_has_all_that_its_files_name(folder):
    games = json.loads((folder / "games.json").read_text())
    assert [game["name"] for game in games["games"]] == ["connect_four"] == [games["default_game"]]
    assert (folder / "networks/connect_four.safetensors").is_file()
    for path in [*folder.glob("*.js"), *folder.glob("*.html")]:
        text = path.read_text()
        named = re.findall(r"""(?:from |src=|href=|data-backend=)"([^":,]+)\"""", text)
        named += re.findall(r'(?:new URL|import)\("([^"]+)"', text)
        assert [name for name in named if not (folder / name).is_file()] == []
        if path.suffix == ".html":
            assert {"page/page.js", "page/page.css", "./browser_backend.js"} <= set(named)
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 3_000_000


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
    assert page.locator("nav a").all_inner_texts() == ["Play"]
    page.get_by_role("button", name="Hint").click()
    page.locator(".now-note", has_text="Hint: ").wait_for()


def test_the_network_plays_without_any_server(page):
    games = page.evaluate("() => backend.games()")
    player = games["games"][0]["levels"][-1]["player"]
    assert page.evaluate(MOVE, [[], player])[-1]["action"] == 3
    won = page.evaluate(MOVE, [[3, 0, 3, 0, 3, 1], player])[-1]
    assert won == {"type": "move", "action": 3}
    answer = page.evaluate("() => backend.position({game: 'connect_four', moves: '4,4'})")
    assert answer["moves"] == [3, 3]


def test_the_answers_are_those_of_the_network(page):
    player = load_player("best", "connect_four", with_search=False)
    for moves in ([], [3, 3, 2], [0, 6, 1, 5], [3, 2, 3, 2]):
        found = page.evaluate(MOVE, [moves, {"id": "best", "num_simulations": 0}])[-1]
        assert found["action"] == player.analyse(player.game.play_moves(moves)).action


@pytest.mark.parametrize(
    "name, src", [("index.md", "in_browser/"), ("browser.md", "../in_browser/")]
)
def test_the_documentation_has_the_board(name, src):
    page = (ROOT / "docs" / name).read_text()
    (mark,) = [mark for mark in browser_page.MARKS if mark in page]
    shown = browser_page.place_boards(page, Path(name))
    assert f'<iframe src="{src}' in shown and mark not in shown
