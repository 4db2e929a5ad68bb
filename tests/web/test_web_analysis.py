"""The Analyse view of the page, in Chromium, against a server in a thread."""

import functools
import itertools
import json
import re
import time

import pytest
from web_browser import PATIENCE_S
from web_samples import collect, make_backend, running

#: Simulations of UCT in a search that lasts until it is stopped.
LONGEST = "200000"
#: X has 1 and 2, and would win with 3.
WINNING = "1,4,2,5"


class Scripted:
    """A backend whose longest searches last until they are stopped, and whose mistake is known."""

    def __init__(self, backend):
        self._backend = backend
        self.stopped = []

    def __getattr__(self, name):
        return getattr(self._backend, name)

    def analyse(self, request):
        job = self._backend.analyse(request)
        return functools.partial(self._endless, job) if LONGEST in str(request) else job

    def _endless(self, job, emit):
        last = collect(job)[-1]
        try:
            for num in itertools.count(1):
                tree = last["tree"][: 3 + num]  # rows are added while one has the focus
                emit(last | {"final": False, "num_simulations": num, "tree": tree})
                time.sleep(0.02)
        finally:
            self.stopped.append(last["num_simulations"])


@pytest.fixture(scope="module")
def server():
    with running(Scripted(make_backend()), port=0) as client:
        yield client


@pytest.fixture
def page(browser, server):
    """Return a page whose `show(hash)` opens a view; at the end, no script has failed."""
    page, errors = browser.new_page(viewport={"width": 1280, "height": 900}), []
    page.set_default_timeout(PATIENCE_S * 1000)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.show = lambda view: page.goto(f"{server.base_url}#{view}")
    yield page
    page.close()
    assert errors == []


def text(page, selector):
    return page.locator(selector).first.inner_text()


def wait_for_text(page, selector, pattern):
    """Wait until the text of an element matches; return the match."""
    found = []
    wait_until(lambda: found.append(re.search(pattern, text(page, selector))) or found[-1], page)
    return found[-1]


def wait_until(condition, page):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)


def endless(page):
    """Begin a search that lasts; return the number of simulations that it shows first."""
    page.select_option(".analysis-controls select >> nth=0", "uct")
    page.select_option(".analysis-controls select >> nth=1", LONGEST)
    return wait_for_text(page, ".search-status", r"^([\d,]+) of 200,000")[1]


def scripted(page, *messages):
    """Answer analyses with these messages, whose values are those of an "analysis"."""
    defaults = {"type": "analysis", "final": True, "num_simulations": 100, "total": 100}
    defaults |= {"value": 0.0, "proven": None, "line": [], "tree": [], "network": None}
    body = "\n".join(json.dumps(defaults | message) for message in messages) + "\n"
    answer = {"content_type": "application/x-ndjson", "body": body}
    page.route("**/api/analyse", lambda route: route.fulfill(**answer))


# --- the search -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_numbers_arrive_while_it_searches_and_leaving_stops_it(page, server):
    page.show("analyse/connect_four?moves=4,4")
    first = endless(page)
    page.locator(".tree-toggle:not([aria-disabled])").first.click()
    wait_for_text(page, ".search-status", rf"^(?!{first} )[\d,]+ of 200,000")
    opened = page.locator(".tree-toggle[aria-expanded=true]")
    assert opened.count() == 1 and opened.evaluate("row => row === document.activeElement")
    assert page.locator("[style*='--level: 1']").count() > 1
    server.backend.stopped.clear()
    page.evaluate("location.hash = '#runs'")
    wait_until(lambda: len(server.backend.stopped) == 1, page)


@pytest.mark.slow
def test_another_position_is_searched_instead(page, server):
    page.show("analyse/connect_four")
    endless(page)
    server.backend.stopped.clear()
    with page.expect_request("**/api/analyse") as asked:
        page.locator(".move-button").first.click()
    assert len(asked.value.post_data_json["moves"]) == 1
    wait_until(lambda: len(server.backend.stopped) == 1, page)
    page.get_by_role("button", name="To the start").click()
    wait_until(lambda: len(server.backend.stopped) == 2, page)
    assert text(page, ".step-place") == "0 / 1"


@pytest.mark.slow
def test_a_refusal_is_shown_and_one_can_start_again(page):
    page.route("**/api/analyse", lambda r: r.fulfill(status=422, json={"error": "too busy."}))
    page.show("analyse/tic_tac_toe?moves=5")
    wait_for_text(page, ".analysis-controls [role=alert]", "Too busy")
    page.unroute("**/api/analyse")
    page.get_by_role("button", name="Start", exact=True).click()
    wait_for_text(page, ".search-status", r"\d simulations")
    assert text(page, ".analysis-controls [role=alert]") == ""


@pytest.mark.slow
def test_stop_holds_for_the_positions_that_follow(page):
    page.show("analyse/connect_four?moves=4")
    endless(page)
    page.get_by_role("button", name="Stop", exact=True).click()
    asked = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.get_by_role("button", name="To the start").click()
    page.wait_for_timeout(400)
    assert "exact" in asked and "analyse" not in asked


def test_the_address_follows_the_moves_of_a_game_that_was_opened_by_one(page):
    page.show("analyse/tic_tac_toe?moves=1,4&ply=1")
    page.get_by_role("button", name="To the end").click()
    page.get_by_role("gridcell").nth(8).click()
    wait_until(lambda: page.url.endswith("?moves=1,4,9"), page)


# --- what is known of the moves -------------------------------------------------------------------


@pytest.mark.slow
def test_exact_results_stand_beside_the_moves(page):
    page.show(f"analyse/tic_tac_toe?moves={WINNING}")
    wait_for_text(page, ".verdict-value", "Win")
    wait_for_text(page, ".verdict-result", "exact")
    wait_for_text(page, ".search-status", r"\d simulations")
    moves = page.locator(".move-button").all_inner_texts()
    results = dict(zip(moves, page.locator("td.col-exact").all_inner_texts()))
    assert results["3"].startswith("win") and set(moves) == {"3", "6", "7", "8", "9"}
    assert moves[0] == "3" and results["7"].startswith("loss")
    assert page.locator(".move-mark[data-action='2'] .badge-win").count() == 1
    assert page.locator(".move-mark.is-best").get_attribute("data-action") == "2"


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_the_bar_of_a_move_is_as_long_as_its_share(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    visits = {0: 750, 2: 248, 6: 2, 8: 0}
    unknown = {"prior": None, "value": None, "proven": None}
    actions = [{"action": action, "visits": num} | unknown for action, num in visits.items()]
    scripted(page, {"best": 0, "num_simulations": 1000, "total": 1000, "actions": actions})
    page.show("analyse/tic_tac_toe")
    wait_until(lambda: page.locator(".col-share .share-bar").count() == len(visits), page)
    page.wait_for_timeout(300)  # bars grow
    widths = "nodes => nodes.map((node) => node.getBoundingClientRect().width)"
    tracks, bars = (
        page.locator(f".col-share .share-{part}").evaluate_all(widths) for part in ("track", "bar")
    )
    assert min(tracks) >= 40
    for bar, track, num in zip(bars, tracks, visits.values(), strict=True):
        assert bar == pytest.approx(track * num / 1000, abs=0.1)


@pytest.mark.slow
def test_shares_and_exact_scores_are_legible_on_a_small_board(page):
    page.set_viewport_size({"width": 390, "height": 844})
    unknown = {"prior": None, "value": None, "proven": None}
    actions = [{"action": action, "visits": 10 + action} | unknown for action in range(7)]
    scripted(page, {"best": 6, "actions": actions})
    page.show("analyse/connect_four?moves=4,4,4,4,4,3,3,5")
    wait_until(lambda: page.locator(".badge").count() == len(actions), page)
    wait_until(lambda: page.locator(".move-share").count() == len(actions), page)
    boxes = "nodes => nodes.map((node) => node.getBoundingClientRect().toJSON())"
    badges, shares = (page.locator(name).evaluate_all(boxes) for name in (".badge", ".move-share"))
    for badge, share in zip(badges, shares, strict=True):
        assert badge["left"] < share["right"] and share["left"] < badge["right"]
        middle = (share["top"] + share["bottom"]) / 2
        assert middle > badge["bottom"] + 4  # half of small digits


@pytest.mark.slow
def test_the_best_move_is_the_exact_one_where_the_search_prefers_another(page):
    counted = {"visits": 50, "prior": None, "value": 0.5, "proven": None}
    actions = [{"action": 8} | counted, {"action": 2} | counted]
    scripted(page, {"best": 8, "value": 0.5, "actions": actions})
    page.show(f"analyse/tic_tac_toe?moves={WINNING}")
    wait_for_text(page, ".verdict-value", "Win")
    wait_for_text(page, ".verdict-result", "exact")
    wait_until(lambda: page.locator(".best-mark").count() == 1, page)
    assert page.locator("tr.is-best .move-button").all_inner_texts() == ["3"]
    assert page.locator(".move-mark.is-best").get_attribute("data-action") == "2"


@pytest.mark.slow
def test_the_search_chooses_among_moves_that_are_equally_good(page):
    counted = {"visits": 50, "prior": None, "value": 0.0, "proven": None}
    scripted(page, {"best": 8, "actions": [{"action": action} | counted for action in range(9)]})
    page.show("analyse/tic_tac_toe")  # every first move draws
    wait_for_text(page, ".verdict-value", "Draw")
    wait_until(lambda: page.locator(".best-mark").count() == 1, page)
    assert page.locator("tr.is-best .move-button").all_inner_texts() == ["9"]


@pytest.mark.slow
def test_hovering_or_focusing_a_move_shows_its_line(page):
    page.show("analyse/tic_tac_toe?moves=5")
    wait_for_text(page, ".search-status", r"\d simulations")
    ghosts = page.locator(".ghost-number")
    for row in (0, 1):
        page.locator(".analysis-table tbody tr").nth(row).hover()
        numbers = [int(number) for number in ghosts.all_text_contents()]
        assert len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1))
    page.mouse.move(2, 2)
    assert ghosts.count() == 0
    page.locator(".move-button").first.focus()
    assert ghosts.count() > 1


@pytest.mark.slow
def test_the_network_alone_stands_beside_its_search(page):
    both = {"network": {"value": -0.5, "best": 1}, "value": 0.25, "best": 4}
    actions = [
        {"action": a, "visits": 10, "prior": 0.1, "value": 0.1, "proven": None} for a in range(9)
    ]
    scripted(page, both | {"actions": actions})
    page.show("analyse/tic_tac_toe?moves=")
    wait_for_text(page, ".verdict-network", "Network alone: \u22120.50, best move 2$")
    wait_for_text(page, ".verdict-value", "Draw")
    wait_for_text(page, ".verdict-best", "search \\+0.25")


# --- the game and the tree ------------------------------------------------------------------------


@pytest.mark.slow
def test_the_tree_opens_level_by_level_with_the_keyboard(page):
    page.show("analyse/tic_tac_toe?moves=5")
    wait_for_text(page, ".search-status", r"\d simulations")
    below = page.locator("[style*='--level: 1']")
    assert page.locator(".analysis-table tbody tr").count() == 8
    page.locator(".tree-toggle").first.focus()
    page.keyboard.press("Enter")
    wait_until(lambda: below.count() > 0, page)
    for _ in range(3):  # the move of this row, then the first answer
        page.keyboard.press("Tab")
    assert page.locator(".ghost-number").count() >= 2
    page.locator(".tree-toggle").first.press("Enter")
    wait_until(lambda: below.count() == 0, page)
    page.keyboard.press("Enter")
    below.first.locator(".move-button").press("Enter")
    wait_for_text(page, ".step-place", "3 / 3")
