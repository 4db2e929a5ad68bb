"""What a person keeps of a game on the page, in Chromium: files, and what the browser stores.

`alphazero serve` answers.
"""

import re
from urllib.parse import parse_qsl

import pytest
from mostly_slow import mostly_slow

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect  # noqa: E402

MAIN_MOVES = ".variation-box > .move-list > li:not(.variation) > .move-step"
CONNECT_FOUR = "/".join(["......."] * 4 + ["..XO...", "..XXO.."])
BLACK_PLAYED_F5 = "/".join(["--------"] * 3 + ["---WB---", "---BBB--"] + ["--------"] * 3)
WHITE_PLAYED_E3 = "--------/--------/----W---/---WW---/---BW---/--------/--------/--------"
#: Games that start from a set-up board, and one of Othello in which White begins.
SET_UP = {
    "connect_four": f"connect_four?board={CONNECT_FOUR}&to_move=1&moves=3,4",
    "othello": f"othello?board={BLACK_PLAYED_F5}&to_move=1&moves=f6,d3",
    "white first": f"othello?setup=white_first&board={WHITE_PLAYED_E3}&to_move=1&moves=d3",
    "no board": "othello?setup=white_first&moves=e3,d3",
}


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def saved(page, folder):
    """Save the game; return the file."""
    with page.expect_download() as download:
        button(page, "Save").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def open_file(page, content):
    """Open a file: a path, or its text or bytes."""
    if isinstance(content, str):
        content = content.encode()
    if isinstance(content, bytes):
        content = {"name": "game.sgf", "mimeType": "text/plain", "buffer": content}
    page.set_input_files("[aria-label='A game to open']", content)


def shown_game(page):
    """Return the game that is shown: its address without the ply, and all its moves."""
    game, _, parameters = page.url.split("#")[1].partition("?")
    kept = {key: value for key, value in parse_qsl(parameters) if key != "ply"}
    return game, kept, page.locator(".variation-box").inner_text()


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", mostly_slow(SET_UP.values()), ids=SET_UP)
def test_a_file_keeps_the_position_that_the_game_started_from(go, tmp_path, game):
    page = go(f"#analyse/{game}")
    expect(page.locator(MAIN_MOVES).first).to_be_visible()
    written = shown_game(page)
    path = saved(page, tmp_path)
    # It does not matter what is shown when the file is opened, but for the set-up of a board.
    other = "othello?setup=white_first&moves=e3" if "white_first&board" in game else "tic_tac_toe"
    page.goto(f"{page.url.split('#')[0]}#analyse/{other}")
    expect(page).to_have_title(re.compile("Othello" if "white_first&board" in game else "Tic"))
    open_file(page, path)
    expect(page.locator(MAIN_MOVES)).to_have_count(game.split("moves=")[1].count(",") + 1)
    expect(page.locator(".step-place")).to_have_text(re.compile("^0"))
    assert shown_game(page) == written


def test_a_set_up_board_is_in_the_properties_of_sgf(go, tmp_path):
    page = go(f"#analyse/{SET_UP['othello']}")
    expect(page.locator(MAIN_MOVES)).to_have_count(2)
    text = saved(page, tmp_path).read_text()
    black = re.search(r"AB((\[..\])+)", text)[1]
    assert sorted(black.strip("[]").split("][")) == ["d5", "e4", "e5", "f5"]
    assert "AW[d4]" in text and "PL[W]" in text
