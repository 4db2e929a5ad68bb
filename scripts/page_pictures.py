"""Draw the pictures of the page in README.md and docs/SERVE.md: screenshots and an animation.

    pip install -e '.[web,test]'           # and Chromium, such as apt-get install chromium
    python scripts/page_pictures.py        # writes docs/images/page*.png and page.gif

Starts a server of its own, with the runs whose curves are stored in docs/runs.
"""

import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from alphazero.web.backend import Backend
from alphazero.web.server import Server

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
OTHELLO = "f5d6c3d3c4f4f6f3e6e7d7c5b6d8"
#: A game of Connect Four in which both sides play well, but for one move.
NUM_MOVES, BLUNDER = 15, {6: 0}
#: The animation: moves that the person plays; the network answers.
NUM_PLAYED = 6
SIZE, GIF_WIDTH, NUM_COLORS = (1120, 730), 800, 96


def main() -> None:
    backend = Backend(str(ROOT / "docs" / "runs"))
    server = Server(backend)
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    with server.in_background() as address, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=executable, args=OPTIONS)
        draw_stills(browser, address.url, good_game(backend))
        draw_animation(browser, address.url, backend)
        browser.close()


def good_game(backend: Backend) -> str:
    """Return the moves of a game, as a person writes them."""
    moves: list[int] = []
    while len(moves) < NUM_MOVES:
        moves.append(BLUNDER.get(len(moves), best_move(backend, moves)))
    return ",".join(str(move + 1) for move in moves)


def best_move(backend: Backend, moves: list[int]) -> int:
    """Return what the network plays in a position of Connect Four."""
    game = backend.catalogue.game("connect_four")
    player = backend.catalogue.player(game, "best")
    view = backend.thinking.search(game, game.play_moves(moves), player, 800, lambda: False)
    return view.best


def draw_stills(browser: Browser, url: str, game: str) -> None:
    """Draw each view once."""
    phone, wide = (360, 780), (1280, 860)
    play, analyse = "first=human&second=best*200", "#analyse"
    _still(browser, "page_play", f"{url}#play/connect_four?{play}&moves={game}", wide)
    _still(browser, "page_dark", f"{url}#play/othello?{play}&moves={OTHELLO}", wide, dark=True)
    _still(browser, "page_phone", f"{url}#play/connect_four?{play}&moves={game}", phone)
    searched = f"{url}{analyse}/connect_four?moves={game}&ply=10"
    _still(browser, "page_analysis", searched, (1280, 1150), do=_review)
    run = f"{url}#runs/connect_four_1h/seed1"
    _still(browser, "page_runs", run, (1280, 760), do=_to_curves)


def _still(browser, name, url, size, dark=False, do=None) -> None:
    page = _page(browser, url, size, "dark" if dark else "light", motion=False)
    if do is not None:
        do(page)
    page.wait_for_timeout(2_500)
    page.mouse.move(2, 2)
    page.screenshot(path=IMAGES / f"{name}.png")
    shrink(IMAGES / f"{name}.png")
    page.context.close()


def _review(page: Page) -> None:
    page.get_by_role("button", name="Review the game").click()
    page.wait_for_timeout(6_000)


def _to_curves(page: Page) -> None:
    page.get_by_role("heading", name="Curves").evaluate("node => node.scrollIntoView()")


def _page(browser, url, size, scheme, motion) -> Page:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        reduced_motion="no-preference" if motion else "reduce",
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector(".page-head")
    return page


def shrink(path: Path) -> None:
    """Store a picture with a palette: a page has few colours."""
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


def draw_animation(browser: Browser, url: str, backend: Backend) -> None:
    """Draw a game's beginning, and a look into the search."""
    page = _page(browser, f"{url}#play/connect_four?second=best*200", SIZE, "light", motion=True)
    film = Film(page)
    film.take(1, 700)
    for _ in range(NUM_PLAYED):
        texts = page.locator(".move-list li").all_inner_texts()
        moves = [int(text.split(".")[1]) - 1 for text in texts]
        column = best_move(backend, moves) + 1
        cell = page.get_by_role("gridcell", name=f"column {column}, row 1:")
        cell.hover()
        film.take(1, 200)
        cell.click()
        film.take(8, 90)
        page.wait_for_timeout(300)
        film.take(1, 400)
    page.get_by_role("button", name="Analyse this game").click()
    page.wait_for_selector(".move-mark")
    film.take(8, 220)
    page.wait_for_timeout(1_500)
    film.take(1, 1_200)
    page.locator(".analysis-table tbody tr, .analysis-panel tbody tr").nth(3).hover()
    film.take(1, 2_600)
    film.write(IMAGES / "page.gif")
    page.context.close()


class Film:
    """Frames of a page, each with the time that it is shown."""

    def __init__(self, page: Page):
        self._page = page
        self._frames: list[Image.Image] = []
        self._times: list[int] = []

    def take(self, num: int, milliseconds: int) -> None:
        """Take pictures one after the other, each shown for so long."""
        for _ in range(num):
            shot = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
            height = round(shot.height * GIF_WIDTH / shot.width)
            self._frames.append(shot.resize((GIF_WIDTH, height), Image.Resampling.LANCZOS))
            self._times.append(milliseconds)

    def write(self, path: Path) -> None:
        """Store the frames with one palette, those that show nothing new left out."""
        palette = self._frames[-1].quantize(NUM_COLORS)
        frames = [
            frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self._frames
        ]
        first, *others = frames
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=self._times,
            loop=0,
            optimize=True,
        )
        print(f"{path.relative_to(ROOT)}: {len(frames)} frames, {path.stat().st_size / 1e3:.0f} KB")


if __name__ == "__main__":
    main()
