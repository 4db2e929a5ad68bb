"""What one learns with on the page, in Chromium: the review of a game, trying again, variations,
hints, positions that are set up, files.

`alphazero serve` answers. Tic-tac-toe is solved, so what its review says is exact.
"""

import itertools
import json
import re

import pytest
from web_samples import make_backend, running

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect  # noqa: E402
from web_browser import findings, opened  # noqa: E402

#: X misses the win with 9, O misses its own with 7, X has 3 at last.
BLUNDERS = "1,4,2,5,9,7,3"
PEOPLE = "first=human&second=human"
MAIN_MOVES = ".variation-box > .move-list > li:not(.variation) > .move-step"
LAPTOP = {"width": 1366, "height": 657}
PHONE = {"width": 390, "height": 844}
#: A whole game on 6 x 6 squares.
OTHELLO = "e4c5b4e3d6e5f2f3e2a5f6b6a3e6f4e1b2b3f1a1d2b5c1d5a4d1a2c6c2b1a6f5"


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def cell(page, label):
    """Return the cell of the board whose label begins so."""
    return page.get_by_role("gridcell", name=re.compile(f"^{re.escape(label)}:"))


def main_moves(page):
    """Return the moves of the main line as the Analyse view shows them."""
    found = page.locator(MAIN_MOVES)
    return [text.split(".")[1].strip() for text in found.all_inner_texts()]


def open_text(page, text):
    """Open a file with this text."""
    file = {"name": "game.txt", "mimeType": "text/plain", "buffer": text.encode()}
    page.set_input_files("[aria-label='A game to open']", file)


def expect_reviewed(page, *accuracies):
    expect(page.locator(".accuracies .accuracy")).to_have_text(list(accuracies))


# --- the review -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("view", ["play", "analyse"])
def test_the_review_of_a_finished_game_is_in_sight_on_a_laptop(go, view):
    page = go(f"#{view}/tic_tac_toe?{PEOPLE}&moves={BLUNDERS}", viewport=LAPTOP)
    # X: 1, 2, 3 are good and 9 is not; O: 4 and 7 are mistakes, and 5 was played when O had lost.
    expect_reviewed(page, "75%", "0%")
    shown = page.locator(".value-plot, .accuracies, .mistake-steps, .board").all()
    assert len(shown) == 4
    for part in shown:
        box = part.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= LAPTOP["height"]


@pytest.mark.slow
@pytest.mark.parametrize("view", ["play", "analyse"])
def test_a_mistake_its_buttons_and_the_board_are_on_one_screen_of_a_phone(go, view):
    page = go(f"#{view}/tic_tac_toe?{PEOPLE}&moves={BLUNDERS}", viewport=PHONE)
    expect_reviewed(page, "75%", "0%")
    button(page, "Turning point").click()
    boxes = [page.locator(one).bounding_box() for one in (".board", ".mistake-steps")]
    top, bottom = boxes[0]["y"], boxes[1]["y"] + boxes[1]["height"]
    assert 0 < bottom - top <= PHONE["height"]


@pytest.mark.slow
@pytest.mark.parametrize("view", ["play", "analyse"])
def test_the_last_move_stays_in_sight_when_the_list_has_signs(go, view):
    moves = "1,3,7,5,4,4,1,1,7,3,7,7,5,3,3,4,4,4,5,5,2,1,1,2,2,2"
    page = go(f"#{view}/connect_four?first=human&second=human&moves={moves}", viewport=LAPTOP)
    expect(page.locator(".move-list .move-sign").nth(3)).to_be_visible()
    expect(page.locator(".review-status")).to_have_text("")
    box = page.locator(".move-list" if view == "play" else ".variation-box").bounding_box()
    move = page.locator(".move-list [aria-current]").bounding_box()
    assert box["y"] <= move["y"] and move["y"] + move["height"] <= box["y"] + box["height"] + 1


@pytest.mark.slow
def test_each_sides_mistakes_are_marked_in_its_colour_and_stepped_through(go):
    page = go(f"#play/tic_tac_toe?first=human&second=best*20&moves={BLUNDERS}")
    expect_reviewed(page, "75%", "0%")
    marked = page.locator(".plot-point.is-mistake")
    sides = ["x" if "piece-x" in one.get_attribute("class") else "o" for one in marked.all()]
    assert sides == ["o", "x", "o"]  # 4, 9, 7; 5 loses sooner than 3, but loses anyway
    text = page.locator(".mistake-text")
    place = page.locator(".step-place")
    before, after = button(page, "Mistake before"), button(page, "Next mistake")
    after.click()  # from the end of the game to the first one
    expect(place).to_have_text("4 / 7")
    for one in (before, after):  # X made no other
        expect(one).to_have_attribute("aria-disabled", "true")
    expect(text).to_have_text(re.compile("X played 9.*turned a win into a loss.*Better was 3"))
    page.get_by_label("Whose mistakes").select_option("Mistakes of O")
    before.click()
    expect(place).to_have_text("1 / 7")
    expect(text).to_have_text(re.compile("O played 4.*turned a draw into a loss.*Better was 5"))


@pytest.mark.slow
def test_the_move_played_is_drawn_beside_the_better_one(go):
    page = go(f"#play/tic_tac_toe?{PEOPLE}&moves={BLUNDERS}&ply=4")
    expect_reviewed(page, "75%", "0%")
    expect(cell(page, "3")).to_have_attribute("aria-label", re.compile("hint"))
    expect(cell(page, "9")).to_have_attribute("aria-label", re.compile("played, a blunder"))
    expect(page.locator(".move-note.is-bad text")).to_have_text("??")


@pytest.mark.slow
@pytest.mark.parametrize(
    "seats, name, place",
    [
        (PEOPLE, "Turning point", "5 / 7"),
        ("first=human&second=best*20", "Worst move", "4 / 7"),  # a game that was won
        ("first=best*20", "Turning point", "5 / 7"),
    ],
)
def test_the_turning_point_is_the_persons_or_the_losers(go, seats, name, place):
    page = go(f"#play/tic_tac_toe?second=human&{seats}&moves={BLUNDERS}")
    expect_reviewed(page, "75%", "0%")
    button(page, name).dblclick()  # no other button takes its place
    expect(page.locator(".step-place")).to_have_text(place)
    expect(page.locator(".move-list li")).to_have_count(7)


@pytest.mark.slow
def test_the_line_that_answers_a_mistake_is_a_variation_beside_the_reviewed_game(go):
    page = go(f"#play/tic_tac_toe?first=best*20&second=human&moves={BLUNDERS}")
    expect(page.locator(".mistake-text")).to_have_text(re.compile("^Turning point. Move 6: O"))
    answer, better = page.locator(".why-line").all()
    expect(answer).to_have_text("The answer to 7: 3")
    expect(better).to_have_text("Better: 6")
    expect(page.locator(".move-list .move-sign")).to_have_text(["??", "??", "??"])
    button(page, "Turning point").click()
    expect(page.locator(".move-list .is-judged")).to_have_text("6.7??")
    better.locator("button").click()
    expect(page.locator(".analysis-view")).to_be_visible()
    expect(page.locator(".step-place")).to_have_text("6 / 6")
    expect(page.locator(".variation .move-step")).to_have_text(["6.6"])
    expect(page.locator(".mistake-text")).to_have_text(re.compile("^Move 6: O played 7"))
    answer.locator("button").click()
    expect(page.locator(".step-place")).to_have_text("7 / 7")
    expect(page.locator(".mistake-text")).to_have_text(re.compile("Move 6: O played 7"))
    assert main_moves(page)[:5] == ["1", "4??", "2", "5", "9??"]
    page.get_by_role("link", name="Play").click()
    expect(page.locator(".play-view .move-list .move-step")).to_have_count(7)
    expect_reviewed(page, "75%", "0%")


@pytest.mark.slow
def test_ones_own_moves_are_judged_while_one_plays_if_one_wants_that(go):
    page = go("#play/tic_tac_toe?first=solver&second=human&moves=1")
    expect(page.locator(".own-move .mistake-text")).to_have_count(0)
    page.get_by_label("Judge each of my moves").check()
    said = page.locator(".own-move .mistake-text")
    cell(page, "2").click()
    expect(said).to_have_text(re.compile("^Move 2: O played 2, a blunder: .*a draw into a loss"))
    expect(page.locator(".move-list .move-sign")).to_have_text("??")
    button(page, "Take back").click()
    cell(page, "5").click()
    expect(page.locator(".move-list li")).to_have_count(3)
    expect(said).to_have_text("5 was a good move.")
    page.reload()
    expect(page.get_by_label("Judge each of my moves")).to_be_checked()


@pytest.mark.slow
def test_the_graph_and_the_sentence_have_one_viewpoint(go):
    page = go(f"#play/tic_tac_toe?first=human&second=best*20&moves={BLUNDERS}&ply=5")
    expect_reviewed(page, "75%", "0%")
    plot, text = page.get_by_role("slider", name="over the game"), page.locator(".mistake-text")
    for side, value, lost in (
        ("X", "\u22121.00 for X", "a loss into a win for X"),
        ("O", "+1.00 for O", "a win into a loss"),
    ):
        page.get_by_label("Whose mistakes").select_option(f"Mistakes of {side}")
        expect(plot.locator("text").first).to_have_text(f"Value for {side}")
        expect(plot).to_have_attribute("aria-valuetext", re.compile(re.escape(value)))
        expect(text).to_have_text(re.compile(rf"{lost}\."))


def review_with_many_mistakes(route):
    """Answer that all but every fourth move loses something."""
    moves = route.request.post_data_json["moves"]
    num = len(moves)
    plies = [
        {
            "type": "ply",
            "ply": ply,
            "value": (-1) ** (ply // 3) * 0.9,
            "exact": False,
            "best": None,
            "played": moves[ply] if ply < num else None,
            "loss": ply % 4 * 0.5 if ply < num else None,
            "score_loss": None,
            "better": [],
            "answer": [],
        }
        for ply in range(num + 1)
    ]
    lines = [json.dumps(one) for one in [*plies, {"type": "done"}]]
    route.fulfill(body="\n".join(lines) + "\n", content_type="application/x-ndjson")


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_the_marks_of_many_mistakes_do_not_hide_each_other(go, width):
    page = go(viewport={"width": width, "height": 844})
    page.route("**/api/review", review_with_many_mistakes)
    page.evaluate(f"location.hash = '#play/othello:6?{PEOPLE}&moves={OTHELLO}'")
    expect(page.locator(".plot-point.is-mistake")).to_have_count(24)
    for marks in (".plot-mistake", ".plot-point.is-mistake"):
        boxes = [one.bounding_box() for one in page.locator(marks).all()]
        assert len(boxes) == 24
        for one, other in itertools.combinations(boxes, 2):
            across, down = (
                min(one[at] + one[size], other[at] + other[size]) - max(one[at], other[at])
                for at, size in (("x", "width"), ("y", "height"))
            )
            assert across <= 1 or down <= 1  # a pixel: the edges of squares


# --- learning from one's own mistakes -------------------------------------------------------------


def said(page, pattern):
    """Wait until a screen reader has been told this."""
    told = page.locator("p.visually-hidden[aria-live=polite]")
    expect(told).to_have_text(re.compile(pattern))


def is_focused(page, selector):
    return page.evaluate(f"document.activeElement.closest('{selector}') !== null")


def test_ones_own_mistake_is_a_puzzle_that_is_solved_on_the_board(go):
    page = go(f"#play/tic_tac_toe?first=human&second=best*20&moves={BLUNDERS}")
    expect_reviewed(page, "75%", "0%")
    button(page, "Learn from your mistakes").click()
    expect(page.locator(".step-place")).to_have_text("4 / 7")
    said(page, "9 was a blunder. Find a better move for X")
    expect(page.get_by_role("gridcell", name="hint")).to_have_count(0)
    page.wait_for_timeout(100)
    assert is_focused(page, "[role=grid]")
    cell(page, "6").click()
    said(page, "No: 6 is a .*turned a win into a draw")
    expect(cell(page, "6")).to_have_attribute("aria-label", re.compile("tried, a blunder"))
    cell(page, "3").click()
    said(page, "Right: 3")
    expect(page.locator(".move-note.is-good")).to_have_count(1)
    page.wait_for_timeout(100)
    assert is_focused(page, ".mistake-steps")
    assert page.locator(".move-list li").count() == 7  # the game is as it was
    page.keyboard.press("Enter")
    said(page, "You found 1 of 1 better moves, 0 at the first try")
    assert findings(page) == []
    button(page, "Back to the review").click()
    expect(button(page, "Learn from your mistakes")).to_be_focused()
    page.get_by_label("Whose mistakes").select_option("Mistakes of O")
    expect(button(page, "Learn from your mistakes")).to_have_count(0)  # O is no person


def test_the_puzzles_of_all_games_are_kept_those_not_solved_first(go):
    seats = "#play/tic_tac_toe?first=human&second=best*20&moves="
    page = go(f"{seats}1,5,2,3,9,7")  # a game that was played elsewhere
    expect(page.locator(".accuracies")).to_be_visible()
    button(page, "New game").click()
    expect(page.locator("button.learn")).to_have_count(0)
    before, _, last = BLUNDERS.rpartition(",")
    for moves, move in ((before, last), ("1,5,2,3", "9")):
        page.evaluate(f"location.hash = '{seats}{moves}'")
        expect(page.locator(".accuracies")).to_have_count(0)
        cell(page, move).click()
        learn = button(page, "Learn from your mistakes")
        expect(learn).not_to_have_attribute("aria-disabled", "true")
    place, status = page.locator(".step-place"), page.locator(".review-status")
    learn = page.locator("button.learn")
    for num, places, solution in ((2, ("4 / 6", "4 / 7"), "7"), (1, ("4 / 7", "4 / 6"), "3")):
        button(page, "New game").click()
        expect(learn).to_have_text(f"Learn from your mistakes ({num} unsolved)")
        learn.click()
        expect(place).to_have_text(places[0])
        expect(status).to_have_text(re.compile("^1 of 2, game of"))
        cell(page, solution).click()
        said(page, f"Right: {solution}")
        button(page, "Next \u2192").click()
        expect(place).to_have_text(places[1])
        button(page, "Skip").click()
        said(page, "You found 1 of 2 better moves")
        button(page, "Back to the review").click()
        expect(page.locator(".accuracies")).to_be_visible()
        page.reload()
    button(page, "New game").click()
    expect(learn).to_have_text("Learn from your mistakes (0 unsolved)")


@pytest.mark.slow
def test_another_move_that_gives_nothing_away_solves_a_puzzle(go):
    # O answers the centre at an edge; all corners would have held the draw.
    page = go("#play/tic_tac_toe?first=best*20&second=human&moves=5,2,1,9,4,6,7")
    expect(page.locator(".accuracies")).to_be_visible()
    button(page, "Learn from your mistakes").click()
    for corner in ("3", "9"):
        cell(page, corner).click()
        said(page, f"Right: {corner}")
        button(page, "Next \u2192").click()
        button(page, "Once more").click()


@pytest.mark.slow
def test_puzzles_are_skipped_shown_and_returned_to(go):
    page = go(f"#play/tic_tac_toe?first=best*20&second=human&moves={BLUNDERS}")
    expect_reviewed(page, "75%", "0%")
    button(page, "Learn from your mistakes").click()
    place, status = page.locator(".step-place"), page.locator(".review-status")
    expect(place).to_have_text("1 / 7")
    expect(status).to_have_text(re.compile("^1 of 2"))
    button(page, "To the end").click()
    button(page, "To the puzzle").click()
    expect(place).to_have_text("1 / 7")
    button(page, "Show me").click()
    said(page, "The best move is 5")
    assert page.locator(".grid-cell.is-legal").count() == 0
    button(page, "Next \u2192").click()
    expect(place).to_have_text("5 / 7")
    button(page, "Skip").click()
    said(page, "You found 0 of 2 better moves, 0 at the first try")
    button(page, "New game").click()
    expect(page.locator(".review")).to_have_count(0)


@pytest.mark.slow
def test_a_try_waits_for_a_lost_connection(go):
    page = go(f"#play/tic_tac_toe?first=human&moves={BLUNDERS}", expects_errors=True)
    expect_reviewed(page, "75%", "0%")
    button(page, "Learn from your mistakes").click()
    page.route("**/api/review", lambda route: route.abort())
    cell(page, "6").click()
    expect(page.locator(".mistake-text")).to_have_text(re.compile("^Looking at 6"))
    expect(page.locator(".lost")).not_to_be_empty()
    page.unroute("**/api/review")
    said(page, "No: 6")


@pytest.mark.slow
def test_the_value_graph_steps_through_the_game(go):
    page = go(f"#analyse/tic_tac_toe?moves={BLUNDERS}")
    expect_reviewed(page, "75%", "0%")
    plot, place = (
        page.get_by_role("slider", name="Value for O over the game"),
        page.locator(".step-place"),
    )
    assert plot.locator("rect.plot-point").count() == 8  # all values are exact
    plot.focus()
    for key, shown in (("ArrowLeft", "6 / 7"), ("ArrowLeft", "5 / 7"), ("ArrowRight", "6 / 7")):
        page.keyboard.press(key)
        expect(place).to_have_text(shown)
        assert plot.get_attribute("aria-valuenow") == shown[0]
    box = plot.bounding_box()
    page.mouse.click(box["x"] + 0.1 * box["width"], box["y"] + box["height"] / 2)
    expect(place).to_have_text("0 / 7")


@pytest.mark.slow
@pytest.mark.parametrize("view", ["play", "analyse"])
def test_one_tries_again_from_a_mistake_against_the_same_opponent(go, view):
    seats = "first=human&second=best*20"
    page = go(f"#play/tic_tac_toe?{seats}&moves={BLUNDERS}")
    expect_reviewed(page, "75%", "0%")
    if view == "analyse":
        button(page, "Analyse this game").click()
        expect(page.locator(".analysis-view")).to_be_visible()
        expect_reviewed(page, "75%", "0%")
    button(page, "Worst move").click()
    button(page, "Try again from here").click()
    expect(page.locator("#status")).to_have_text("Your turn: X to move.")
    if view == "play":  # the button is gone, and the focus is on the board
        assert page.evaluate("document.activeElement.closest('[role=grid]') !== null")
    cell(page, "3").click()
    expect(page.locator("#status")).to_have_text("You won: X wins.")
    expect(page.locator(".move-list li")).to_have_text(["1.1", "2.4??", "3.2", "4.5", "5.3"])
    expect(page.locator("#seat-1")).to_have_value("player.best")
    expect_reviewed(page, "100%", "0%")


@pytest.mark.slow
def test_another_side_is_taken_over_at_its_mistake(go):
    page = go(f"#play/tic_tac_toe?first=human&second=best*20&moves={BLUNDERS}")
    expect_reviewed(page, "75%", "0%")
    page.get_by_label("Whose mistakes").select_option("Mistakes of O")
    button(page, "Try again there").click()  # from the turning point, which the text names
    expect(page.locator("#status")).to_have_text("Your turn: O to move.")
    expect(page.locator("#seat-0")).to_have_value("player.best")


@pytest.mark.slow
def test_the_analyst_of_the_address_also_reviews(go):
    page = go("#analyse/connect_four?moves=4,4&analyst=uct&simulations=50")
    with page.expect_request("**/api/review") as asked:
        button(page, "Review the game").click()
    assert asked.value.post_data_json["player"] == {"id": "uct"}


# --- variations -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_moves_that_are_tried_stay_as_variations(go):
    page = go("#analyse/tic_tac_toe?moves=1,5,9&ply=1")
    cell(page, "2").click()
    expect(page.locator(".variation .move-step")).to_have_text(["2.2"])
    cell(page, "3").click()
    expect(page.locator(".variation .move-step")).to_have_text(["2.2", "3.3"])
    assert main_moves(page) == ["1", "5", "9"]
    expect(page.locator(".step-place")).to_have_text("3 / 3")
    button(page, "Make main line").click()
    expect(page.locator(".variation .move-step")).to_have_text(["2.5", "3.9"])
    assert main_moves(page) == ["1", "2", "3"]
    page.get_by_label("Name of the move").fill("tried")
    page.keyboard.press("Enter")
    expect(page.locator(".move-name")).to_have_text("tried")
    button(page, "One move back").click()
    button(page, "Delete from here").click()
    expect(page.locator(".variation")).to_have_count(0)
    assert main_moves(page) == ["1", "5", "9"]
    button(page, "Undo").click()
    expect(page.locator(".variation .move-step")).to_have_text(["2.5", "3.9"])
    expect(page.locator(".move-name")).to_have_text("tried")
    assert main_moves(page) == ["1", "2", "3"]


@pytest.mark.slow
def test_the_focus_goes_to_a_move_that_is_brought_back(go):
    page = go("#analyse/tic_tac_toe?moves=1,5")
    move = button(page, "Move 2, 5")
    button(page, "Delete from here").click()
    expect(move).to_have_count(0)
    button(page, "Undo").click()
    expect(move).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".step-place")).to_have_text("1 / 2")


@pytest.mark.slow
def test_variations_stay_on_the_way_back_and_forth(go):
    page = go(f"#play/tic_tac_toe?{PEOPLE}&moves=1,5")
    button(page, "Analyse this game").click()
    expect(page.locator(".analysis-view")).to_be_visible()
    button(page, "To the start").click()
    cell(page, "9").click()
    expect(page.locator(".variation .move-step")).to_have_text(["1.9"])
    page.go_back()
    page.go_back()
    expect(page.locator(".play-view")).to_be_visible()
    page.go_forward()
    expect(page.locator(".variation .move-step")).to_have_text(["1.9"])


@pytest.mark.slow
def test_a_game_taken_back_keeps_what_was_played_for_the_analysis(go):
    page = go(f"#play/tic_tac_toe?{PEOPLE}&moves=1,5")
    button(page, "Take back").click()
    cell(page, "2").click()
    expect(page.locator(".move-list li")).to_have_text(["1.1", "2.2"])
    page.get_by_role("link", name="Analyse").click()
    expect(page.locator(".variations .move-step")).to_have_count(3)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tic_tac_toe", "othello"])
def test_a_file_holds_the_game_with_its_variations(go, tmp_path, game):
    moves = {"tic_tac_toe": "1,5,9", "othello": "f5,d6,c3"}[game]
    page = go(f"#analyse/{game}?moves={moves}&ply=1")
    cell(page, {"tic_tac_toe": "3", "othello": "f4"}[game]).click()
    expect(page.locator(".variation")).to_have_count(1)
    page.get_by_label("Name of the move").fill("a {trap} ]")
    page.keyboard.press("Enter")
    with page.expect_download() as download:
        button(page, "Save").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.suffix == ".sgf" and ("GM[2]" in path.read_text()) == (game == "othello")
    written = page.locator(".variation-box").inner_text()
    button(page, "To the start").click()
    button(page, "One move on").click()
    button(page, "Delete from here").click()
    expect(page.locator(".variation-box .move-step")).to_have_count(0)
    page.set_input_files("[aria-label='A game to open']", path)
    expect(page.locator(".variation")).to_have_count(1)
    read = page.locator(".variation-box").inner_text()
    assert read.split() == written.split() and "a {trap} ]" in read


@pytest.mark.slow
def test_files_of_other_programs_keep_all_their_moves(browser):
    # Black must pass after the first four moves, and White near the end: nobody writes it down.
    passes = "b1 c1 d3 a1 pass a3 a2 b4 a4 c4 d2 pass d4".split()
    with (
        running(make_backend(game="othello:4")) as client,
        opened(browser, f"{client.base_url}#analyse/othello:4", expects_errors=True) as page,
    ):
        for text, moves in (
            ("b1c1d3a1a3a2b4a4c4d2d4", passes),
            ("1. b1 c1 2. d3 a1 3. -- a3 4. a2 b4", passes[:8]),
            ("(;GM[2]B[b1];W[c1];B[d3];W[a1](;W[a3];B[a2])(;W[d4]N[a trap]))", passes[:7]),
            ("(;GM[Othello]B[b1//1]W[c1]B[d3]W[a1]B[pa]W[a3])", passes[:6]),
        ):
            open_text(page, text)
            steps = [f"{number}.{move}" for number, move in enumerate(moves, 1)]
            expect(page.locator(MAIN_MOVES)).to_have_text(steps)
            expect(page.locator(".variation")).to_have_text(["6.d4a trap"] * ("trap" in text))
        for text, reason in (("", "no moves"), ("b1c1b1", "move 3.*b1"), ("(;GM[2])", "no moves")):
            open_text(page, text)
            expect(page.locator(".notice")).to_have_text(re.compile(reason))
            assert main_moves(page) == passes[:6]


@pytest.mark.slow
def test_what_a_file_says_of_a_move_is_shown_and_written_again(go):
    page = go("#analyse/othello")
    open_text(page, "(;GM[2];B[f5];W[d6]C[bold \\]]TE[1];B[c3])")
    button(page, "Move 2, d6").click()
    expect(page.locator(".variations .hint-text")).to_have_text("bold ]")
    with page.expect_download() as download:
        button(page, "Save").click()
    assert "C[bold \\]]TE[1]" in download.value.path().read_text()
    page.reload()
    expect(page.locator(".variations .hint-text")).to_have_text("bold ]")


@pytest.mark.slow
@pytest.mark.parametrize("text, reason", [("1 1", "legal"), ("(;FF[4]GM[1];B[aa])", "Othello")])
def test_a_file_that_holds_no_game_is_refused_and_nothing_is_lost(go, text, reason):
    page = go("#analyse/tic_tac_toe?moves=1,5", expects_errors=True)
    open_text(page, text)
    expect(page.locator(".notice")).to_have_text(re.compile(reason))
    assert main_moves(page) == ["1", "5"]


# --- while playing --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tic_tac_toe", "othello:6"])
def test_a_hint_points_out_a_move(go, game):
    moves = "1,4,2,5" if game == "tic_tac_toe" else ""
    page = go(f"#play/{game}?first=human&second=random&moves={moves}")
    button(page, "Hint").click()
    expect(page.locator(".now-note")).to_have_text(re.compile("^Hint: "))
    hinted = page.get_by_role("gridcell", name="hint")
    expect(hinted).to_have_count(1)
    if game == "tic_tac_toe":
        expect(page.locator(".now-note")).to_have_text("Hint: 3, a win with best play.")
    hinted.click()
    expect(page.locator(".now-note")).not_to_have_text(re.compile("Hint"))
    expect(page.locator(".move-list li").first).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("game", ["connect_four", "othello:6"])
def test_a_position_is_set_up_by_clicking(go, game):
    page = go(f"#play/{game}?{PEOPLE}")
    button(page, "Set up\u2026").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Empty the board").click()
    if game == "connect_four":
        clicks = ["column 4, row 6", "column 5, row 3"]  # pieces fall
    else:
        clicks = ["a1", "b1", "b1", "b1", "b1"]  # White, Black, none, White
    for label in clicks:
        cell(dialog, label).click()
    dialog.get_by_label("Side to move").select_option("0")
    text = dialog.get_by_label("Board as text").input_value()
    assert sum(letter in "XOBW" for letter in text) == 2
    assert findings(page) == []
    dialog.get_by_role("button", name="Start here").click()
    expect(dialog).to_have_count(0)
    expect(page.locator(".pieces .piece")).to_have_count(2)


# --- the address and the connection ---------------------------------------------------------------


@pytest.mark.slow
def test_the_way_back_waits_for_a_lost_connection(go):
    page = go(f"#play/tic_tac_toe?{PEOPLE}&moves=1,5", expects_errors=True)
    button(page, "Analyse this game").click()
    expect(page.locator(".analysis-view")).to_be_visible()
    page.route("**/api/*", lambda route: route.abort())
    page.go_back()
    expect(page.locator(".lost")).not_to_be_empty()
    page.unroute("**/api/*")
    expect(page.locator(".play-view")).to_be_visible()
    assert "#play/" in page.url
    cell(page, "9").click()
    expect(page.locator(".move-list li")).to_have_text(["1.1", "2.5", "3.9"])
    expect(page.locator(".pieces .piece")).to_have_count(3)


# --- for everyone ---------------------------------------------------------------------------------

VIEWS = (
    f"#play/connect_four?{PEOPLE}&moves=4,4",
    f"#play/othello?{PEOPLE}&moves=f5d6",
    f"#play/tic_tac_toe?{PEOPLE}&moves={BLUNDERS}",
    "#analyse/connect_four?moves=4,4&simulations=200",
    f"#analyse/tic_tac_toe?moves={BLUNDERS}&ply=4",
    "#runs",
)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_in_any_view(go, view, scheme):
    page = go(view, color_scheme=scheme, viewport={"width": 390, "height": 844})
    page.wait_for_timeout(2_500)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_figures_on_the_board_of_a_phone_can_be_read(go):
    page = go("#analyse/othello?moves=f5d6c3", viewport={"width": 390, "height": 844})
    expect(page.locator(".move-mark.is-best")).to_have_count(1)
    page.wait_for_timeout(1_000)
    sizes = page.evaluate(
        """() => [...document.querySelectorAll(".board-drawing text")].map((text) => {
            const scale = text.getScreenCTM().a;
            return scale * parseFloat(getComputedStyle(text).fontSize);
        })"""
    )
    assert len(sizes) > 16 and min(sizes) >= 11


@pytest.mark.slow
def test_the_keyboard_alone_plays_reviews_and_tries_again(go):
    page = go("#play/tic_tac_toe?first=human&second=human")

    def reach(name):
        for _ in range(60):
            page.keyboard.press("Tab")
            focused = "document.activeElement.ariaLabel || document.activeElement.innerText || ''"
            if page.evaluate(focused).startswith(name):
                return
        raise AssertionError(f"the Tab key does not reach {name}")

    reach("5: empty")
    steps = ["Up Left", "Down", "Up Right", "Down", "Down Right", "Left Left", "Up Up Right Right"]
    for number, keys in enumerate(steps, 1):  # 1, 4, 2, 5, 9, 7, 3
        for key in keys.split():
            page.keyboard.press(f"Arrow{key}")
        page.keyboard.press("Enter")
        expect(page.locator(".move-list li")).to_have_count(number)
    expect(page.locator("#status")).to_have_text("X wins.")
    expect_reviewed(page, "75%", "0%")
    reach("Turning point")
    page.keyboard.press("Enter")
    reach("Try again from here")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("O to move.")
