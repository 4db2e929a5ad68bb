"""Measure the page that plays in the browser: its bytes, and the time of its moves in Chromium.

    python scripts/browser_page.py FOLDER
    python scripts/browser_speed.py FOLDER [GAME ...]

Every move of a game that the network plays against itself is timed, from the request to the answer,
with 200 and with 2,000 simulations. The first move, which also loads the network, is shown apart.
"""

import argparse
import functools
import http.server
import json
import shutil
import statistics
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

NUM_MOVES = 20
NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu"]

#: Plays a game in the page; returns the milliseconds of each move.
TIMES = """async ([game, numSimulations, numMoves]) => {
    const backend = (await import("./browser_backend.js")).browserBackend();
    const network = (await backend.games()).games
        .find((one) => one.name === game).players.find((player) => player.kind === "network");
    const player = {id: network.id, num_simulations: numSimulations};
    const moves = [], times = [];
    while (moves.length < numMoves) {
        const {positions} = await backend.position({game, moves});
        if (positions.at(-1).over) break;
        let action = null;
        const onMessage = (message) => { if (message.type === "move") action = message.action; };
        const start = performance.now();
        await backend.move({game, moves, player}, {onMessage});
        times.push(performance.now() - start);
        moves.push(action);
    }
    return times;
}"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves the folder without a line for each request."""

    def log_message(self, *_) -> None:
        """Write nothing."""


def main() -> int:
    """Serve the folder, and print one line per game and number of simulations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="the page, as browser_page.py has built it")
    parser.add_argument("games", nargs="*", help="by default all games of the page")
    settings = parser.parse_args()
    handler = functools.partial(QuietHandler, directory=str(settings.folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    num_bytes = sum(file.stat().st_size for file in settings.folder.rglob("*") if file.is_file())
    print(f"{num_bytes / 1e6:.1f} MB in all")
    known = json.loads((settings.folder / "games.json").read_text())["games"]
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, NAMES)), None)
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        for game in settings.games or [entry["name"] for entry in known]:
            for num_simulations in (200, 2000):
                page = browser.new_page()
                page.goto(f"http://127.0.0.1:{server.server_port}/")
                first, *others = page.evaluate(TIMES, [game, num_simulations, NUM_MOVES])
                print(
                    f"{game}, {num_simulations} simulations: {statistics.median(others):,.0f} ms a "
                    f"move, {first:,.0f} ms for the first",
                    flush=True,
                )
                page.close()
    server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
