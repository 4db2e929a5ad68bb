"""What a person keeps of a game on the page, in Chromium: files, and what the browser stores.

`alphazero serve` answers. Files of other programs: test_web_game_files.py.
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
    "no moves": f"connect_four?board={CONNECT_FOUR}&to_move=1&moves=",
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


def main_moves(page):
    return page.locator(MAIN_MOVES).all_inner_texts()


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", mostly_slow(SET_UP.values()), ids=SET_UP)
def test_a_file_keeps_the_position_that_the_game_started_from(go, tmp_path, game):
    page = go(f"#analyse/{game}")
    num_moves = len(game.split("moves=")[1].split(",")) if not game.endswith("=") else 0
    expect(page.locator(MAIN_MOVES)).to_have_count(num_moves)
    written = shown_game(page)
    path = saved(page, tmp_path)
    # It does not matter what is shown when the file is opened, but for the set-up of a board.
    other = "othello?setup=white_first&moves=e3" if "white_first&board" in game else "tic_tac_toe"
    page.goto(f"{page.url.split('#')[0]}#analyse/{other}")
    expect(page).to_have_title(re.compile("Othello" if "white_first&board" in game else "Tic"))
    open_file(page, path)
    expect(page).to_have_title(re.compile("Othello" if "othello" in game else "Connect"))
    expect(page.locator(MAIN_MOVES)).to_have_count(num_moves)
    expect(page.locator(".step-place")).to_have_text(re.compile("^0"))
    assert shown_game(page) == written


@pytest.mark.slow
def test_a_set_up_board_is_in_the_properties_of_sgf(go, tmp_path):
    page = go(f"#analyse/{SET_UP['othello']}")
    expect(page.locator(MAIN_MOVES)).to_have_count(2)
    text = saved(page, tmp_path).read_text()
    black = re.search(r"AB((\[..\])+)", text)[1]
    assert sorted(black.strip("[]").split("][")) == ["d5", "e4", "e5", "f5"]
    assert "AW[d4]" in text and "PL[W]" in text


def test_the_first_game_of_several_is_shown(go):
    page = go("#analyse/othello")
    open_file(page, "(;GM[2];B[f5])(;GM[2];B[f5];W[f6])(;GM[2])")
    expect(page.locator(MAIN_MOVES)).to_have_text(["1.f5"])
    expect(page.locator(".variation")).to_have_count(0)
    expect(page.locator(".notice.is-shown")).to_have_text(re.compile("3 games"))
    listed = page.get_by_label("A game to open").get_attribute("accept")
    assert {*listed.split(",")} == {".sgf", ".ggf", ".txt"}


@pytest.mark.slow
def test_what_a_file_says_of_the_game_is_kept(go, tmp_path):
    page = go("#analyse/othello")
    text = "(;GM[2]GN[ours]PB[J\u00fcrgen]PW[Bo \\]]RE[B+4]C[intro];B[f5];W[d6])"
    open_file(page, text.encode("latin-1"))
    expect(page.locator(MAIN_MOVES)).to_have_count(2)
    page.reload()
    expect(page.locator(MAIN_MOVES)).to_have_count(2)
    text = saved(page, tmp_path).read_text("utf-8")
    for note in ("GN[ours]", "PB[J\u00fcrgen]", "PW[Bo \\]]", "RE[B+4]", "C[intro]", "CA[UTF-8]"):
        assert text.count(note) == 1


@pytest.mark.parametrize("content", mostly_slow([bytes(range(256)), ""]), ids=["bytes", "empty"])
def test_a_file_that_cannot_be_read_is_refused_in_one_line(go, content):
    page = go("#analyse/othello?moves=f5,d6")
    expect(page.locator(MAIN_MOVES)).to_have_count(2)
    written = shown_game(page)
    open_file(page, content)
    notice = page.locator(".notice.is-shown.is-error")
    expect(notice).to_have_text(re.compile(r".+"))
    assert "\n" not in notice.inner_text().strip() and len(notice.inner_text()) < 320
    assert shown_game(page) == written


def every_line(depth, colors="BW"):
    """Return all lines of so many moves in Connect Four, as a tree in SGF."""
    if depth == 0:
        return ""
    below = every_line(depth - 1, colors[::-1])
    return "".join(f"(;{colors[0]}[{column}]{below})" for column in range(1, 8))


def long_line(moves, colors="BW"):
    """Return a game of Connect Four with three variations of each move, in SGF."""
    if not moves:
        return ""
    below = long_line(moves[1:], colors[::-1])
    others = "".join(f"(;{colors[0]}[{column}])" for column in (1, 2, 3))
    return f"(;{colors[0]}[{moves[0]}]{below}){others}"


MANY = {
    "hundreds": (every_line(3), 7 + 49 + 343),
    "off a long line": (long_line([4] * 6 + [5] * 6), 12 + 36),
}


@pytest.mark.slow
@pytest.mark.parametrize("tree, num_moves", MANY.values(), ids=MANY)
def test_a_file_with_many_variations_takes_few_requests(go, tree, num_moves):
    page = go("#analyse/connect_four")
    expect(page.locator(".move-mark").first).to_be_visible()
    held = []
    page.route("**/api/positions", lambda route: held.append(route))
    open_file(page, f"(;START[#analyse/connect_four]{tree})")
    # While it is read, the page says so.
    expect(page.locator(".notice.is-shown")).to_have_text(re.compile("game.sgf"))
    num_asked = 0
    while not page.locator(".variation").count():
        for route in held:
            route.continue_()
            num_asked += 1
        held.clear()
        page.wait_for_timeout(50)
    assert num_asked <= 4
    expect(page.locator(".variation-box .move-step")).to_have_count(num_moves)
    expect(page.locator(".notice.is-shown:not(.is-error)")).to_have_text(re.compile("game.sgf"))


# --- what the browser keeps -----------------------------------------------------------------------


def try_and_name(page, label, name):
    """Try a move at the start of the game, and give it a name."""
    button(page, "To the start").click()
    page.get_by_role("gridcell", name=re.compile(f"^{label}:")).click()
    expect(page.locator(".variation .move-step")).to_have_count(1)
    page.get_by_label("Name of the move").fill(name)
    page.keyboard.press("Enter")
    expect(page.locator(".move-name")).to_have_text(name)


@pytest.mark.parametrize("start", mostly_slow(["board=X--/---/---&to_move=1", "setup="]))
def test_an_analysis_outlives_its_tab_and_a_link_carries_it(go, start):
    page = go(f"#analyse/tic_tac_toe?{start}&moves=5,9")
    expect(page.locator(MAIN_MOVES)).to_have_count(2)
    try_and_name(page, "2", "a trap (2)")
    written = shown_game(page)
    page.evaluate("navigator.clipboard.writeText = async (text) => (window.copied = text)")
    button(page, "Copy link").click()
    link = page.evaluate("copied")
    # So do changes that the address does not show.
    page.get_by_label("Name of the move").fill("no trap")
    page.keyboard.press("Enter")
    expect(page.locator(".move-name")).to_have_text("no trap")
    page.reload()
    expect(page.locator(".move-name")).to_have_text("no trap")
    expect(page.locator(".variation-box .move-step")).to_have_count(3)
    assert main_moves(page) == ["1.5", "2.9"]
    context, address = page.context, page.url.partition("?")[0]
    page.close()
    page = context.new_page()
    page.goto(address)
    expect(page.locator(".move-name")).to_have_text("no trap")
    expect(page.locator(".notice.is-shown")).to_have_text(re.compile("left"))
    button(page, "New").click()
    expect(page.locator(".variation-box .move-step")).to_have_count(0)
    page.reload()
    expect(page.locator(".variation-box .move-step")).to_have_count(0)
    page.get_by_label("Earlier games").select_option(index=1)
    expect(page.locator(".move-name")).to_have_text("no trap")
    page.evaluate("localStorage.clear()")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".move-name")).to_have_text("a trap (2)")
    assert shown_game(page) == written


@pytest.mark.slow
def test_a_link_has_room_for_the_variations_of_a_long_game(go):
    moves = ",".join(["4", "4"] * 3 + ["5", "5"] * 3 + ["3", "3"] * 3 + ["1", "1"] * 3)
    page = go(f"#analyse/connect_four?moves={moves}")
    expect(page.locator(MAIN_MOVES)).to_have_count(24)
    button(page, "To the start").click()
    page.get_by_role("gridcell", name=re.compile("^column 2, row 1:")).click()
    expect(page.locator(".variation .move-step")).to_have_count(1)
    page.evaluate("navigator.clipboard.writeText = async (text) => (window.copied = text)")
    button(page, "Copy link").click()
    (tree,) = [value for key, value in parse_qsl(page.evaluate("copied")) if key == "tree"]
    assert len(tree) < 230 and " " not in tree and "\n" not in tree


@pytest.mark.slow
def test_a_game_that_is_played_goes_on_where_it_was_left(go):
    page = go("#play/tic_tac_toe?first=human&second=best*20&moves=1,5")
    page.get_by_role("gridcell", name=re.compile("^2:")).click()
    expect(page.locator(".move-list li")).to_have_count(4)
    page.reload()
    expect(page.locator(".move-list li")).to_have_count(4)
    page.get_by_role("link", name="Analyse").click()
    expect(page.locator(MAIN_MOVES)).to_have_count(4)
    context, address = page.context, page.url.partition("#")[0]
    page.close()
    page = context.new_page()
    page.goto(f"{address}#play/tic_tac_toe")
    expect(page.locator(".move-list li")).to_have_count(4)
    expect(page.locator("#seat-1")).to_have_value("player.best")
    page.locator(".grid-cell.is-legal").first.click()
    expect(page.locator(".move-list li").nth(4)).to_be_visible()
    page.evaluate("location.hash = '#play/tic_tac_toe?moves=1,4,2,5,3'")
    expect(page.locator("#status")).to_have_text(re.compile("X wins"))


@pytest.mark.slow
def test_each_game_has_variations_of_its_own(go):
    page = go("#analyse/tic_tac_toe?moves=5,9")
    expect(page.locator(MAIN_MOVES)).to_have_count(2)
    try_and_name(page, "2", "first")
    page.goto(f"{page.url.split('#')[0]}#analyse/tic_tac_toe?moves=1,3")
    expect(page.locator(".variation-box .move-step")).to_have_text(["1.1", "2.3"])
    try_and_name(page, "4", "second")
    page.reload()
    expect(page.locator(".move-name")).to_have_text("second")
    expect(page.locator(".variation-box .move-step")).to_have_text(["1.1", "1.4", "2.3"])
    page.go_back()
    expect(page.locator(".step-place")).to_have_text("0 / 2")
    page.go_back()
    expect(page.locator(".move-name")).to_have_text("first")
    expect(page.locator(".variation-box .move-step")).to_have_text(["1.5", "1.2", "2.9"])


@pytest.mark.slow
def test_moves_taken_back_while_playing_outlive_a_reload(go):
    page = go("#play/tic_tac_toe?first=human&second=human&moves=1,5")
    button(page, "Take back").click()
    page.get_by_role("gridcell", name=re.compile("^2:")).click()
    expect(page.locator(".move-list li")).to_have_text(["1.1", "2.2"])
    page.reload()
    expect(page.locator(".move-list li")).to_have_text(["1.1", "2.2"])
    page.get_by_role("link", name="Analyse").click()
    expect(page.locator(".variation-box .move-step")).to_have_text(["1.1", "2.5", "2.2"])


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["forbidden", "full"])
def test_the_page_works_where_the_browser_stores_nothing(go, fault):
    page = go("#analyse/tic_tac_toe?moves=5,9")
    if fault == "forbidden":
        access = "get() { throw new DOMException('no', 'SecurityError'); }"
        page.add_init_script(f"Object.defineProperty(window, 'localStorage', {{ {access} }})")
    else:
        fail = "() => { throw new DOMException('full', 'QuotaExceededError'); }"
        page.add_init_script(f"localStorage.clear(); Storage.prototype.setItem = {fail}")
    page.reload()
    expect(page.locator(MAIN_MOVES)).to_have_count(2)
    button(page, "Dark colours").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    try_and_name(page, "2", "a trap")
    page.reload()
    expect(page.locator(".move-name")).to_have_text("a trap")
    expect(page.locator(".notice.is-shown.is-error")).to_have_text(re.compile("Save"))
