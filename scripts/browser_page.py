"""Build the page that plays in the browser without a server; scripts/docs_site.py includes it.

    python scripts/browser_page.py FOLDER      # builds only the page, for any web server

In: the JavaScript of `browser/`, the page of `alphazero serve`, the shipped networks. Out: a folder
of static files; index.html is the whole page, and board.html just a board, for use in a frame.
"""

import argparse
import json
import shutil
from importlib import metadata
from pathlib import Path

from alphazero.own_games.registry import make_game
from alphazero.storage.pretrained import shipped_network
from alphazero.storage.run_folder import folder_name
from alphazero.web.catalogue import MAX_NETWORK_SIMULATIONS, PlayerChoice, describe_game

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "browser"
PAGE = ROOT / "alphazero" / "web" / "static"
GAMES = ("connect_four", "othello", "othello:6", "gomoku:9x9")
PAGE_FILES = ("page.js", "page.css", "icon.svg")
#: The folder of the page in the documentation site.
SITE_FOLDER = "in_browser"
#: Placeholders in the documentation: mark -> (file in that folder, title of the frame).
MARKS = {
    "<!-- the page -->": ("", "Play in your browser"),
    "<!-- a board -->": ("board.html", "Play Connect Four"),
}


def build(folder: Path, games: tuple[str, ...] = GAMES) -> None:
    """Write all files of the page into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCES, folder)
    (folder / "page").mkdir()
    for name in PAGE_FILES:
        shutil.copy(PAGE / name, folder / "page")
    (folder / "games.json").write_text(json.dumps(describe_games(games)), encoding="utf-8")
    (folder / "networks").mkdir()
    for name in games:
        file_name = f"{folder_name(name)}.safetensors"
        shutil.copy(shipped_network(name), folder / "networks" / file_name)


def describe_games(names: tuple[str, ...] = GAMES) -> dict:
    """Return the answer to `api/games` for the games that the browser plays."""
    return {
        "games": [_describe(name) for name in names],
        "default_game": names[0],
        "version": metadata.version("alphazero-selfplay"),
    }


def place_boards(text: str, page: Path) -> str:
    """Return the text of a documentation page, with its placeholders replaced by frames."""
    depth = len(page.parts) - (page.name == "index.md")  # every page but index.md is a folder
    for mark, (file, title) in MARKS.items():
        address = f"{'../' * depth}{SITE_FOLDER}/{file}"
        frame = f'<iframe src="{address}" title="{title}" class="board" loading="lazy"></iframe>'
        if not file:
            frame += (
                f'\n\n<p><a href="{address}" target="_blank">Open it on a page of its own</a></p>'
            )
        text = text.replace(mark, frame)
    return text


def _describe(name: str) -> dict:
    """Return a game's entry in the answer to `api/games`, with players that need no server."""
    players = [
        PlayerChoice("best", "Network", "network", MAX_NETWORK_SIMULATIONS),
        PlayerChoice("random", "Random moves", "random"),
    ]
    analyst = {"id": "best", "num_simulations": 2000}  # gives hints
    return describe_game(make_game(name), players) | {"analyst": analyst}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="output folder, which is emptied first")
    options = parser.parse_args()
    build(options.folder)
    print(f"To see the page: python -m http.server --directory {options.folder}")
