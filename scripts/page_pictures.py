"""Redraw the pictures of the page in docs/images with Chromium.

    pip install -e '.[test]'
    python scripts/page_pictures.py

In: the shipped networks, and the runs in docs/runs. Out: page*.png and page.gif.
"""

import contextlib
import io
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1280, "height": 760}
#: A game that Yellow loses by its second move.
LOST = "4,4,5,3,7,6,5,5,4,3,4,4,3,3,7,3,4,3,2,2,2,6,2,2,6,6"
OTHELLO = "f5d6c3d3c4f4f6f3e6e7"
GIF_WIDTH, FRAME_MS = 800, 900


@contextlib.contextmanager
def served() -> Iterator[str]:
    """Serve the page; yield its address."""
    from alphazero.web.backend import Backend
    from alphazero.web.server import Server

    server = Server(Backend(str(ROOT / "docs" / "runs")))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server.address.url


def main() -> None:
    """Draw all pictures."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])

        def opened(hash_: str, scheme: str = "light", height: int = SIZE["height"]):
            page = browser.new_page(viewport=SIZE | {"height": height}, color_scheme=scheme)
            page.goto(f"{address}#{hash_}")
            page.wait_for_selector(".page-head")
            return page

        page = opened(f"play/connect_four?first=human&second=level.expert&moves={LOST}")
        page.get_by_role("button", name="Turning point").click(timeout=60_000)
        _wait(page, 2)
        page.screenshot(path=IMAGES / "page_review.png")
        page = opened(f"play/othello?moves={OTHELLO}&second=human", "dark")
        _wait(page, 2)
        page.screenshot(path=IMAGES / "page_dark.png")
        page = opened("analyse/connect_four?moves=4,4,4,4,4,3,3&ply=6")
        page.get_by_role("gridcell", name="column 5, row 1").click()
        page.get_by_text("Review the game").click()
        page.wait_for_selector(".analysis-table .is-best")
        page.get_by_text("Mistakes: ").wait_for(timeout=60_000)
        _wait(page, 8)
        page.locator(".tree-toggle").first.click()
        page.mouse.move(2, 2)
        _wait(page, 1)
        page.screenshot(path=IMAGES / "page_analysis.png")
        seeds = ["connect_four_10min/seed1", "connect_four_10min/seed2"]
        page = opened(f"runs/{seeds[0]}?with={','.join(seeds[1:])}&x=hours", height=1000)
        page.wait_for_selector(".chart canvas")
        _wait(page, 2)
        page.screenshot(path=IMAGES / "page_runs.png")
        _draw_game(opened("play/connect_four?first=human&second=level.expert"))
        browser.close()


def _draw_game(page) -> None:
    """Record page.gif: the first moves of a game, and an analysis of it."""
    frames = []

    def film(num: int = 1) -> None:
        for _ in range(num):
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            height = GIF_WIDTH * picture.height // picture.width
            frames.append(picture.resize((GIF_WIDTH, height), Image.Resampling.LANCZOS))
            _wait(page, 0.3)

    film(2)
    for column in (4, 4, 2):
        page.get_by_role("gridcell", name=f"column {column}, row 6").click()
        _wait(page, 1)
        film()
        page.get_by_text("Your turn").wait_for(timeout=60_000)
        _wait(page, 1)
        film()
    page.get_by_role("button", name="Analyse this game").click()
    for _ in range(4):
        _wait(page, 0.5)
        film()
    page.get_by_role("button", name="One move back").click()  # won, drawn and lost moves
    page.locator(".badge").first.wait_for(timeout=60_000)
    _wait(page, 3)
    film(4)
    # The colours of the last frame: in the first ones yellow and red are a few pixels.
    colors = frames[-1].quantize(255, kmeans=10)
    palette = [frame.quantize(palette=colors, dither=Image.Dither.NONE) for frame in frames]
    palette[0].save(
        IMAGES / "page.gif",
        save_all=True,
        append_images=palette[1:],
        duration=FRAME_MS,
        loop=0,
        optimize=True,
    )


def _wait(page, seconds: float) -> None:
    page.wait_for_timeout(1000 * seconds)


if __name__ == "__main__":
    main()
