"""The page in Chromium: whole games, take back, links, lost connections, keyboard, phone.

`alphazero serve` answers, with a network that is asked for few simulations.
"""

import contextlib
import re
from pathlib import Path

import pytest
from game_samples import BREAKTHROUGH, BREAKTHROUGH_PYTHON
from mostly_slow import mostly_slow
from web_samples import copy_run, make_backend, running

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect  # noqa: E402
from web_browser import opened  # noqa: E402

PEOPLE = "first=human&second=human"
#: White must pass after these moves of 4 x 4 Othello.
BEFORE_PASS = "c1d1a3d1"


def cell(page, label):
    """Return the cell of the board whose label begins so."""
    return page.get_by_role("gridcell", name=re.compile(f"^{re.escape(label)}:"))


def drop(page, column):
    cell(page, f"column {column}, row 1").click()


def moves(page):
    """Return the moves of the list, without the signs of a review."""
    texts = page.locator(".move-list li").all_inner_texts()
    return [text.split(".")[1].strip(" ?!") for text in texts]


def expect_moves(page, *texts):
    expect(page.locator(".move-list li")).to_have_count(len(texts))
    assert moves(page) == list(texts)


def status(page):
    return page.locator("#status")


# --- whole games ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_people_play_connect_four_to_its_end(go):
    page = go(f"#play/connect_four?{PEOPLE}")
    for number, column in enumerate([4, 3, 4, 3, 4, 3, 4], 1):
        drop(page, column)
        expect(page.locator(".move-list li")).to_have_count(number)
    expect(status(page)).to_have_text("Yellow wins.")
    assert page.locator(".mark-won").count() == 4
    assert page.locator(".pieces .piece-yellow").count() == 4
    drop(page, 1)  # nobody moves after the end
    expect_moves(page, *"4343434")
    page.get_by_role("button", name="New game").click()
    expect_moves(page)
    assert page.locator(".pieces .piece").count() == 0


@pytest.mark.parametrize("player", mostly_slow(["best*10", "uct*30", "solver"]))
def test_a_person_plays_tic_tac_toe_against_every_kind_of_player(go, player):
    page = go(f"#play/tic_tac_toe?first=human&second={player}")
    names = page.locator("#seat-1 option").all_inner_texts()
    assert "Random moves" in names and len(set(names)) == len(names)
    for _ in range(5):
        expect(status(page)).to_have_text(re.compile("Your turn|wins|draw"))
        if "Your turn" not in status(page).inner_text():
            break
        count = len(moves(page))
        page.locator(".grid-cell.is-legal").first.click()
        expect(page.locator(".move-list li").nth(count)).to_be_visible()
        expect(status(page)).not_to_have_text(re.compile("thinking"))
    expect(status(page)).to_have_text(re.compile("wins|draw"))
    assert 5 <= len(moves(page)) <= 9


@pytest.mark.slow
def test_two_players_are_watched_and_can_be_held(go):
    page = go("#play/othello:4?first=random&second=random")
    page.get_by_role("button", name="Pause").click()
    expect(status(page)).to_have_text(re.compile("^Paused"))
    held = moves(page)
    page.wait_for_timeout(1_000)
    assert moves(page) == held
    page.get_by_role("button", name="Go on").click()
    expect(page.locator(".move-list li")).to_have_count(len(held) + 1)
    expect(page.locator(".counts")).to_have_text(re.compile(r"Black \d+ . White \d+"))


@pytest.mark.slow
def test_a_pass_in_othello_is_announced_and_made(go):
    page = go(f"#play/othello:4?{PEOPLE}&setup=white_first")
    game = ["c1", "b1", "a3", "d1"]
    for square in game:
        cell(page, square).click()
        expect(page.locator(".move-list li").last).to_have_text(re.compile(square))
    expect(status(page)).to_have_text("White has no legal move and passes.")
    expect(page.locator(".move-list li").last).to_have_text(re.compile("pass"))
    expect(status(page)).to_have_text("Black to move.")
    page.get_by_role("button", name="Take back").click()  # to the choice before the pass
    expect_moves(page, *game[:3])


# --- going back -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_take_back_returns_to_ones_own_turn(go):
    page = go("#play/connect_four?first=human&second=uct*20")
    drop(page, 4)
    expect(page.locator(".move-list li")).to_have_count(2)
    page.get_by_role("button", name="Take back").click()
    expect_moves(page)
    expect(status(page)).to_have_text(re.compile("Your turn"))
    back = page.get_by_role("button", name="Take back")
    expect(back).to_have_attribute("aria-disabled", "true")


@pytest.mark.slow
def test_another_move_may_be_tried_from_any_position(go):
    page = go(f"#play/connect_four?{PEOPLE}&moves=4,3,4,3")
    page.get_by_role("button", name="Move 2, 3").click()
    expect(status(page)).to_have_text(re.compile(r"move 2 of 4"))
    assert page.locator(".pieces .piece").count() == 2
    drop(page, 7)
    expect_moves(page, "4", "3", "7")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="To the start").click()
    page.get_by_role("button", name="Play from here").click()
    expect_moves(page)


@pytest.mark.slow
def test_the_move_shown_is_in_sight_in_a_long_list(go):
    page = go(f"#play/othello:6?{PEOPLE}&moves=c2b4a5c1b1a1d2d1e1f1e3f2f3e2e4b2f4b3a2a3a4a6")
    current = page.locator(".move-list [aria-current]")
    listed, shown = page.locator(".move-list").bounding_box(), current.bounding_box()
    assert shown["y"] >= listed["y"]
    assert shown["y"] + shown["height"] <= listed["y"] + listed["height"]


@pytest.mark.slow
def test_the_engine_waits_while_one_looks_back(go):
    page = go("#play/connect_four?first=uct*20&second=human&moves=4,3,4,3&ply=2")
    expect(status(page)).to_have_text(re.compile("move 2 of 4"))
    page.wait_for_timeout(600)
    expect_moves(page, "4", "3", "4", "3")
    page.get_by_role("button", name="Play from here").click()
    expect(page.locator(".move-list li")).to_have_count(3)


@pytest.mark.slow
def test_a_move_played_again_brings_no_later_moves_back(go):
    page = go(f"#play/connect_four?{PEOPLE}&moves=4,4,3")
    for _ in range(2):
        page.get_by_role("button", name="Take back").click()
    expect_moves(page, "4")
    drop(page, 4)
    expect_moves(page, "4", "4")


# --- links ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_link_opens_at_its_position(go, browser, address):
    page = go(f"#play/othello?{PEOPLE}&moves=f5d6c3d3c4")
    expect_moves(page, "f5", "d6", "c3", "d3", "c4")
    page.get_by_role("button", name="One move back").click()
    with opened(browser, page.url) as other:
        expect_moves(other, "f5", "d6", "c3", "d3", "c4")
        expect(status(other)).to_have_text(re.compile("move 4 of 5"))
        other.reload()
        expect(status(other)).to_have_text(re.compile("move 4 of 5"))


@pytest.mark.slow
def test_a_game_starts_from_moves_or_a_board_and_refusals_are_shown(go):
    page = go(f"#play/tic_tac_toe?{PEOPLE}", expects_errors=True)
    page.get_by_role("button", name="Set up").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Start").select_option("moves")
    dialog.get_by_label("Moves").fill("1,1")
    dialog.get_by_role("button", name="Start here").click()
    expect(dialog.get_by_role("alert")).to_have_text(re.compile("legal"))
    dialog.get_by_label("Start").select_option("board")
    dialog.get_by_label("Board as text").fill("XO.\n.X.\nO..")
    dialog.get_by_role("button", name="Start here").click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".pieces .piece")).to_have_count(4)
    cell(page, "9").click()
    expect(status(page)).to_have_text("X wins.")
    page.reload()
    expect(status(page)).to_have_text("X wins.")
    assert page.locator(".pieces .piece").count() == 5


def open_setup(page):
    """Open the dialog that sets up a game; return it, and a function that clicks its board."""
    page.get_by_role("button", name="Set up").click()
    dialog = page.get_by_role("dialog")
    return dialog, lambda label: cell(dialog, label).click()


@pytest.mark.slow
def test_the_side_to_move_follows_the_discs_that_are_set_up(go):
    page = go(f"#play/connect_four?{PEOPLE}")
    dialog, click = open_setup(page)
    side, text = dialog.get_by_label("Side to move"), dialog.get_by_label("Board as text")
    expect(side).to_have_value("0")
    for to_move in ("1", "0", "1"):
        click("column 4, row 6")
        expect(side).to_have_value(to_move)
    text.fill("\n".join([*["......."] * 5, "XO....."]))
    expect(side).to_have_value("0")
    click("column 3, row 1")
    dialog.get_by_role("button", name="Start here").click()
    expect(status(page)).to_have_text("Red to move.")
    expect(
        page.get_by_role("grid").get_by_role("gridcell").and_(page.locator(":focus"))
    ).to_be_visible()
    dialog, _ = open_setup(page)
    expect(dialog.locator(":focus")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Set up")).to_be_focused()


@pytest.mark.slow
def test_a_click_on_a_disc_below_others_changes_that_disc(go):
    page = go(f"#play/connect_four?{PEOPLE}&moves=4,4,4")
    dialog, click = open_setup(page)
    discs = [cell(dialog, f"column 4, row {row}") for row in (1, 2, 3, 4)]

    def expect_discs(*names):
        for disc, name in zip(discs, names, strict=True):
            expect(disc).to_have_attribute("aria-label", re.compile(f": {name}$"))

    expect_discs("Yellow", "Red", "Yellow", "empty")
    click("column 4, row 1")
    expect_discs("Red", "Red", "Yellow", "empty")
    click("column 4, row 6")
    expect_discs("Red", "Red", "Yellow", "Yellow")


@pytest.mark.slow
def test_a_refused_board_is_explained_in_the_names_and_numbers_of_the_page(go):
    page = go(f"#play/connect_four?{PEOPLE}", expects_errors=True)
    dialog, click = open_setup(page)

    def expect_refusal(*parts):
        dialog.get_by_role("button", name="Start here").click()
        for part in parts:
            expect(dialog.get_by_role("alert")).to_have_text(re.compile(part))

    click("column 2, row 1")
    dialog.get_by_label("Side to move").select_option("Yellow")
    expect_refusal("Yellow's turn")
    dialog.get_by_label("Board as text").fill("\n".join([*["......."] * 4, "..X....", "......."]))
    expect_refusal("column 3, row 2")
    dialog.get_by_label("Board as text").fill("\n".join([*["......."] * 5, "...Z..."]))
    expect_refusal("Line 6, column 4", "Z")


@pytest.mark.parametrize(
    "game, board, to_move",
    [("othello", "\n".join(["-" * 8] * 8), "Black"), ("tic_tac_toe", "XXX\nOO.\n...", "O")],
)
def test_a_board_on_which_the_game_is_over_is_no_start(go, game, board, to_move):
    page = go(f"#play/{game}?{PEOPLE}")
    dialog, _ = open_setup(page)
    dialog.get_by_label("Board as text").fill(board)
    dialog.get_by_label("Side to move").select_option(to_move)
    dialog.get_by_role("button", name="Start here").click()
    expect(dialog.get_by_role("alert")).to_have_text(re.compile("the game is over"))
    dialog.get_by_role("button", name="Cancel").click()
    expect(status(page)).to_have_text(re.compile("to move"))


@pytest.mark.parametrize("view", mostly_slow(["analyse", "play"]))
def test_the_board_of_a_game_that_is_left_takes_no_move(go, view):
    page = go(f"#{view}/connect_four?{PEOPLE}&moves=4")
    expect(page.locator(".pieces .piece")).to_have_count(1)
    page.route("**/api/position", lambda route: None)  # the server is busy
    page.evaluate(f"location.hash = '#{view}/tic_tac_toe?{PEOPLE}&moves=1'")
    expect(page.locator("main")).to_have_css("opacity", "0.5")
    page.mouse.click(*middle(page, "column 1, row 1"))
    page.unroute("**/api/position")  # what was held goes on
    expect(page).to_have_title(re.compile("Tic-tac-toe"))
    expect(page.locator(".pieces .piece")).to_have_count(1)
    cell(page, "5").click()
    expect(page.locator(".pieces .piece")).to_have_count(2)


def test_what_a_link_names_and_cannot_be_read_or_found_is_said(go):
    page = go("#analyse/connect_four?moves=4,4&tree=((((", expects_errors=True)
    notice = page.locator(".notice.is-shown")
    expect(notice).to_have_text(re.compile("variations could not be read"))
    expect(page.locator(".pieces .piece")).to_have_count(2)
    page.evaluate("location.hash = '#analyse/connect_four?moves=4,4,3&tree=(((('")
    expect(page.locator(".pieces .piece")).to_have_count(3)
    expect(notice).to_have_text(re.compile("variations could not be read"))
    page.evaluate("location.hash = '#analyse/tic_tac_toe?analyst=nobody'")
    expect(notice).to_have_text(re.compile("no analyst nobody here: Network analyses"))
    expect(page.get_by_label("Analyst")).to_have_value("best")


@pytest.mark.slow
def test_the_way_back_leads_to_the_game_before(go):
    page = go(f"#play/connect_four?{PEOPLE}&moves=4,4")
    page.get_by_role("combobox", name="Game", exact=True).select_option("tic_tac_toe")
    expect(page.get_by_role("grid", name="Tic-tac-toe board")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("grid", name="Connect Four board")).to_be_visible()
    expect_moves(page, "4", "4")


@pytest.mark.slow
def test_moves_that_are_lost_come_back_by_the_way_back(go):
    page = go(f"#play/connect_four?{PEOPLE}&moves=4,3,4,3&ply=2")
    drop(page, 7)
    expect_moves(page, "4", "3", "7")
    page.go_back()
    expect_moves(page, "4", "3", "4", "3")


@pytest.mark.slow
@pytest.mark.parametrize("view", ["play", "analyse"])
def test_arrow_keys_step_through_the_game(go, view):
    page = go(f"#{view}/connect_four?{PEOPLE}&moves=4,3,4,3")
    place = page.locator(".step-place")
    expect(place).to_have_text("4 / 4")
    for key, shown in (("ArrowLeft", "3 / 4"), ("ArrowLeft", "2 / 4"), ("ArrowRight", "3 / 4")):
        page.keyboard.press(key)
        expect(place).to_have_text(shown)


@pytest.mark.slow
def test_a_broken_link_says_so_and_a_game_begins(go):
    page = go("#play/connect_four?moves=9,9", expects_errors=True)
    expect(page.locator(".notice")).to_have_text(re.compile("9"))
    expect(page.get_by_role("grid")).to_be_visible()


# --- what fails -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_refused_move_is_a_sentence_and_can_be_tried_again(go):
    page = go("#play/connect_four?first=human&second=uct*20", expects_errors=True)
    answer = {"status": 422, "json": {"error": "the engine is on holiday."}}
    page.route("**/api/move", lambda route: route.fulfill(**answer))
    drop(page, 4)
    problem = page.locator(".problem")
    expect(problem).to_have_text(re.compile("on holiday"))
    page.unroute("**/api/move")
    problem.get_by_role("button", name="Try again").click()
    expect(page.locator(".move-list li")).to_have_count(2)
    expect(problem).to_be_empty()


@pytest.mark.slow
@pytest.mark.parametrize("view", ["play", "analyse"])
def test_ones_own_disc_lies_on_the_board_until_the_server_refuses_it(go, view):
    page = go(f"#{view}/othello?{PEOPLE}", expects_errors=True)
    held = []
    page.route("**/api/position", lambda route: held.append(route))
    cell(page, "f5").click()
    expect(cell(page, "f5")).to_have_attribute("aria-label", "f5: Black")
    expect(cell(page, "e5")).to_have_attribute("aria-label", "e5: White")
    assert page.locator(".move-step").count() == 0 and len(held) == 1
    held.pop().continue_()
    expect(cell(page, "f5")).to_have_attribute("aria-label", "f5: Black, last move")
    expect(cell(page, "e5")).to_have_attribute("aria-label", "e5: Black")
    cell(page, "d6").click()
    expect(cell(page, "d6")).to_have_attribute("aria-label", "d6: White")
    held.pop().fulfill(status=422, json={"error": "not today."})
    expect(cell(page, "d6")).to_have_attribute("aria-label", re.compile("empty"))
    expect(page.locator(".move-step")).to_have_count(1)


@pytest.mark.slow
def test_an_illegal_move_is_not_sent(go):
    page = go(f"#play/connect_four?{PEOPLE}&moves=1,1,1,1,1,1")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/api/" in request.url else 0)
    drop(page, 1)
    page.wait_for_timeout(200)
    assert asked == [] and len(moves(page)) == 6


@pytest.mark.slow
def test_each_view_says_that_the_server_is_gone_and_goes_on_once_it_is_back(browser, tmp_path):
    copy_run(tmp_path)
    backend = make_backend(tmp_path)
    hash_ = "#play/connect_four?first=human&second=uct*20&moves=4,4"

    def expect_lost(*pages, is_lost=True):
        for view in pages:
            expect(view.locator(".lost:not(:empty)")).to_have_count(int(is_lost))

    with contextlib.ExitStack() as stack:
        with running(backend) as server:
            port, url = server.address.port, server.base_url
            page, runs = (
                stack.enter_context(opened(browser, f"{url}{view}", expects_errors=True))
                for view in (hash_, "#runs")
            )
            expect(runs.locator(".runs-table tbody tr")).to_have_count(1)
        drop(page, 3)
        expect_lost(page, runs)
        expect_moves(page, "4", "4")
        with running(backend, port=port):
            expect(page.locator(".move-list li")).to_have_count(4)  # the move, and its answer
            assert moves(page)[:3] == ["4", "4", "3"]
            expect_lost(page, runs, is_lost=False)
            page.get_by_role("button", name="Analyse this game").click()
            expect(page.locator(".search-status")).to_have_text(re.compile("^[1-9]"))
        drop(page, 7)  # a position that nobody knows
        expect_lost(page, runs)
        with running(backend, port=port):
            expect(page.locator(".step-place")).to_have_text("5 / 5")
            expect(page.locator(".search-status")).to_have_text(re.compile("^[1-9]"))
            expect_lost(page, runs, is_lost=False)


# --- for everyone ---------------------------------------------------------------------------------


def listen(page):
    """Listen as a screen reader; return a function that returns all that was said since."""
    page.wait_for_timeout(600)  # what is said of the start is over
    page.evaluate(
        """() => {
          const region = document.querySelector("p.visually-hidden[aria-live=polite]");
          const note = () => {
            if (window.said.at(-1) !== region.textContent) window.said.push(region.textContent);
          };
          window.said = [region.textContent];
          const all = { childList: true, characterData: true, subtree: true };
          new MutationObserver(note).observe(region, all);
        }"""
    )
    return lambda: " ".join(page.evaluate("window.said.slice(1)"))


@pytest.mark.slow
def test_moves_and_results_are_said(go):
    page = go(f"#play/tic_tac_toe?{PEOPLE}&moves=1,4,2,5")
    cell(page, "3").click()
    said = page.locator("p.visually-hidden[aria-live=polite]")
    expect(said).to_have_text(re.compile("X plays 3. X wins."))


@pytest.mark.slow
def test_a_pass_is_said_after_the_move_that_forces_it(go):
    page = go(f"#play/othello:4?{PEOPLE}&setup=white_first&moves=c1b1a3")
    said = listen(page)
    cell(page, "d1").click()
    expect(page.locator(".move-list li").last).to_have_text(re.compile("pass"))
    page.wait_for_timeout(100)
    assert re.findall("(Black|White) (plays|has no legal move)", said()) == [
        ("Black", "plays"),
        ("White", "has no legal move"),
    ]


@pytest.mark.slow
def test_a_move_taken_back_is_said_with_whose_turn_it_is(go):
    page = go(f"#play/tic_tac_toe?{PEOPLE}&moves=1,4")
    said = listen(page)
    page.get_by_role("button", name="Take back").click()
    expect_moves(page, "1")
    page.wait_for_timeout(100)
    assert "O to move" in said()


@pytest.mark.slow
def test_light_and_dark_differ_and_the_choice_is_kept(go):
    page = go("", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Light colours").click()
    light = page.evaluate(ground)
    page.reload()
    page.wait_for_selector(".page-head")
    assert page.evaluate(ground) == light != dark


# --- games whose pieces move ----------------------------------------------------------------------


@pytest.fixture
def go_moving(browser, monkeypatch):
    """Return a function that opens the page of a game whose pieces move."""
    monkeypatch.syspath_prepend(Path(BREAKTHROUGH_PYTHON).parent)
    with contextlib.ExitStack() as stack:

        def open_page(game, parameters=PEOPLE):
            client = stack.enter_context(running(make_backend(game=game)))
            address = f"http://127.0.0.1:{client.address.port}/"
            return stack.enter_context(opened(browser, f"{address}#play/{game}?{parameters}"))

        yield open_page


def middle(page, label):
    """Return the middle of a cell on the screen."""
    box = cell(page, label).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, start, end):
    """Drag a piece; return how many squares are chosen while it is held."""
    page.mouse.move(*middle(page, start))
    page.mouse.down()
    page.mouse.move(*middle(page, end), steps=3)
    chosen = page.locator(".chosen").count()
    page.mouse.up()
    return chosen


@pytest.mark.slow
def test_pieces_are_moved_by_clicking_and_by_dragging(go_moving):
    page = go_moving(BREAKTHROUGH)
    expect(page.locator(".edge-label")).to_have_text([*"abcde54321"])
    cell(page, "b2").click()
    expect(page.get_by_role("gridcell", name="legal move")).to_have_count(3)
    cell(page, "b4").click()  # no target, and nobody's piece to move: begin anew
    expect(page.locator(".chosen")).to_have_count(0)
    for square in ("a2", "b2", "b3"):  # another piece instead, then its target
        cell(page, square).click()
    expect_moves(page, "b2b3")
    assert drag(page, "c4", "d3") == 1
    expect_moves(page, "b2b3", "c4d3")
    expect(cell(page, "c4")).to_have_attribute("aria-label", "c4: empty, last move")
    assert drag(page, "c2", "a5") == 1  # not there
    expect(page.locator(".chosen")).to_have_count(0)
    assert drag(page, "c1", "c1") == 1  # a press alone
    expect(page.locator(".move-list li")).to_have_count(2)
    expect(page.locator(".chosen")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".chosen")).to_have_count(0)
    for key in ("ArrowUp", "Enter", "ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect_moves(page, "b2b3", "c4d3", "c2d3")
    expect(page.locator(".pieces .piece-dark")).to_have_count(9)
    expect(page.locator(".mark-won")).to_have_count(0)
    expect(page.locator(".mark-last")).to_have_count(2)


@pytest.mark.slow
def test_moves_that_share_their_squares_are_a_choice(go_moving):
    page = go_moving("plain_games:Promotion")
    drag(page, "a1", "a2")
    expect(page.locator(".move-list li")).to_have_count(2)  # after a pass that is forced
    for square in ("a2", "a3"):
        cell(page, square).click()
    choices = page.locator(".action-button")
    expect(choices).to_have_text(["a2a3=1", "a2a3=2"])
    choices.nth(1).click()
    expect_moves(page, "a1a2", "3", "a2a3=2")


@pytest.mark.slow
def test_a_position_that_a_board_would_not_show_is_drawn_as_text(go_moving):
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    page = go_moving("open_spiel:oware")
    expect(page.locator(".board-text")).to_contain_text("A  B  C  D  E  F")
    assert not page.locator(".board").first.is_visible()
    page.locator(".action-button").first.click()
    expect_moves(page, "0")
    expect(page.locator(".board-text")).to_contain_text("0  5  5  5  5  4")
    page = go_moving("plain_games:Promotion")
    expect(page.locator(".board").first).to_be_visible()
    assert not page.locator(".board-text").is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("view", ["play", "analyse"])
@pytest.mark.parametrize("game", ["Claim", "ClaimInText", "open_spiel:hex(board_size=3)"])
def test_the_first_move_is_made_on_an_empty_board_beside_the_text(go_moving, game, view):
    if "hex" in game:
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    page = go_moving(game if ":" in game else f"plain_games:{game}")
    if view == "analyse":
        page.get_by_role("button", name="Analyse this game").click()
    expect(page.get_by_role("grid")).to_be_visible()
    before = page.locator(".board-text").inner_text()
    page.get_by_role("gridcell", name="legal move").first.click()
    expect(page.locator(".step-place")).to_have_text("1 / 1")
    expect(page.locator(".board-text")).not_to_have_text(before)


@pytest.mark.slow
def test_the_analysis_of_moving_pieces_is_drawn_as_arrows(go_moving):
    page = go_moving("breakthrough_python:Breakthrough", "moves=b2b3,c4d3")
    page.get_by_role("button", name="Analyse this game").click()
    expect(page.locator(".is-best .move-arrow")).to_have_count(1)
    assert page.locator(".move-arrow").count() > 2
    cell(page, "e2").click()
    cell(page, "d3").hover()
    expect(page.locator(".ghost-number").first).to_have_text("1")
