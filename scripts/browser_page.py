"""Build the page that plays in the browser without a server; scripts/docs_site.py includes it.

    cd browser && npm ci --ignore-scripts      # installs onnxruntime-web, once
    python scripts/browser_page.py FOLDER      # builds only the page, for any web server

In: the JavaScript of `browser/`, the page of `alphazero serve`, the shipped networks. Out: a folder
of static files; index.html is the whole page, and board.html just a board, for use in a frame.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "browser"
PAGE = ROOT / "alphazero" / "web" / "static"
ONNXRUNTIME = SOURCES / "node_modules" / "onnxruntime-web" / "dist"
ONNXRUNTIME_FILES = ("ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm")
GAMES = ("connect_four", "othello:6", "othello")
PAGE_FILES = ("page.js", "page.css", "icon.svg")
#: The folder of the page in the documentation site.
SITE_FOLDER = "in_browser"
#: Placeholders in the documentation: mark -> (file in that folder, title of the frame).
MARKS = {
    "<!-- the page -->": ("", "Play in your browser"),
    "<!-- a board -->": ("board.html", "Play Connect Four"),
}


def missing() -> str | None:
    """Return why the page cannot be built on this machine, None if it can."""
    if not (ONNXRUNTIME / ONNXRUNTIME_FILES[0]).is_file():
        return "onnxruntime-web is not installed: cd browser && npm ci --ignore-scripts"
    for name in PAGE_FILES:
        if not (PAGE / name).is_file():
            return f"the page's {name} is missing: make page"
    return None


def build(folder: Path, games: tuple[str, ...] = GAMES) -> None:
    """Write all files of the page into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules", "*.json", ".*"))
    for name, source, files in (
        ("page", PAGE, PAGE_FILES),
        ("onnxruntime", ONNXRUNTIME, ONNXRUNTIME_FILES),
    ):
        (folder / name).mkdir()
        for file in files:
            shutil.copy(source / file, folder / name)
    (folder / "games.json").write_text(json.dumps(describe_games(games)), encoding="utf-8")
    (folder / "networks").mkdir()
    for name in games:
        _export(name, folder / "networks")


def describe_games(names: tuple[str, ...] = GAMES) -> dict:
    """Return the answer to `api/games` for the games that the browser plays."""
    from importlib import metadata

    return {
        "games": [_describe(name) for name in names],
        "default_game": names[0],
        "version": metadata.version("alphazero-selfplay"),
    }


def place_boards(text: str, page: Path) -> str:
    """Return the text of a documentation page, with its placeholders replaced by frames."""
    reason = missing()
    depth = len(page.parts) - (page.name == "index.md")  # every page but index.md is a folder
    for mark, (file, title) in MARKS.items():
        address = f"{'../' * depth}{SITE_FOLDER}/{file}"
        frame = f'<iframe src="{address}" title="{title}" class="board" loading="lazy"></iframe>'
        if not file:
            frame += (
                f'\n\n<p><a href="{address}" target="_blank">Open it on a page of its own</a></p>'
            )
        text = text.replace(mark, frame if reason is None else f"*Not in this build: {reason}.*")
    return text


def _export(name: str, folder: Path) -> None:
    from alphazero.interop import onnx_file
    from alphazero.interop.export_agreement import check_agreement
    from alphazero.own_games.registry import make_game
    from alphazero.players.network import load_module
    from alphazero.storage.pretrained import shipped_network
    from alphazero.storage.run_folder import folder_name

    game = make_game(name)
    loaded = load_module(game, shipped_network(name))
    data = onnx_file.to_bytes(game, loaded.module, loaded.file.info)
    check_agreement(game, loaded.module, onnx_file.evaluation_of(data))
    (folder / f"{folder_name(name)}.onnx").write_bytes(data)


def _describe(name: str) -> dict:
    """Return a game's entry in the answer to `api/games`, with players that need no server."""
    from alphazero.own_games.registry import make_game
    from alphazero.web.catalogue import MAX_NETWORK_SIMULATIONS, PlayerChoice, describe_game

    players = [
        PlayerChoice("best", "Network", "network", MAX_NETWORK_SIMULATIONS),
        PlayerChoice("random", "Random moves", "random"),
    ]
    analyst = {"id": "best", "num_simulations": 1000}  # gives hints
    return describe_game(make_game(name), players) | {"analyst": analyst}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="output folder, which is emptied first")
    options = parser.parse_args()
    if (reason := missing()) is not None:
        sys.exit(f"error: {reason}.")
    build(options.folder)
