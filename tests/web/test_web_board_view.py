"""What one sees of a board on the page, in Chromium: how large it is, what stands on it and beside
it, from which side, and the rules of its game.
"""

import itertools
import json
import re

import pytest
from game_samples import BREAKTHROUGH, BREAKTHROUGH_PYTHON
from web_samples import make_backend, running

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect  # noqa: E402
from web_browser import findings, opened  # noqa: E402

from alphazero.own_games.registry import OFFERED  # noqa: E402

#: X misses the win with 9, O misses its own with 7, X has 3 at last.
BLUNDERS = "1,4,2,5,9,7,3"
TALL, LAPTOP, PHONE = (
    {"width": width, "height": height} for width, height in ((1280, 900), (1366, 657), (390, 844))
)
BOXES = "nodes => nodes.map((node) => node.getBoundingClientRect().toJSON())"
#: Where the texts that are seen begin and end, in each cell of each row of a table.
TEXTS = """rows => rows.map((row) => [...row.cells].map((cell) => {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const ends = [];
    while (walker.nextNode()) {
        if (walker.currentNode.parentElement.closest(".visually-hidden, .tree-toggle")) continue;
        range.selectNode(walker.currentNode);
        const { left, right } = range.getBoundingClientRect();
        if (right > left) ends.push(left, right);
    }
    return ends.length ? [Math.min(...ends), Math.max(...ends)] : null;
}).filter(Boolean))"""


@pytest.fixture(scope="module")
def breakthrough():
    """Return the address of a server with Breakthrough, and its hash."""
    with running(make_backend(game=BREAKTHROUGH)) as client:
        yield str(client.base_url)


def boxes(page, selector):
    return page.locator(selector).evaluate_all(BOXES)


def overlap(one, other):
    """Return by how many pixels two boxes overlap; 0 or less: they do not."""
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return min(across, down)


def answer(page, shares, best, **facts):
    """Answer analyses with these shares of 10,000 visits, {action: share}."""
    known = {"prior": 0.99, "value": -0.94, "proven": None}
    actions = [{"action": one, "visits": int(1e4 * share)} | known for one, share in shares.items()]
    message = {"type": "analysis", "final": True, "num_simulations": 10_000, "total": 10_000}
    message |= {"value": 0.5, "proven": None, "line": [], "tree": [], "network": None}
    message |= {"best": best, "actions": actions} | facts
    body = json.dumps(message) + "\n"
    content = {"content_type": "application/x-ndjson", "body": body}
    page.route("**/api/analyse", lambda route: route.fulfill(**content))


def analyse(go, view, shares, best, **settings):
    """Open the analysis of a position, with the shares of its moves."""
    page = go(**settings)
    answer(page, shares, best)
    page.evaluate(f"location.hash = '#analyse/{view}'")
    expect(page.locator(".move-mark.is-best")).to_have_count(1)
    expect(page.locator(".search-status")).to_have_text(re.compile("^10,000"))
    return page


# --- how large it is ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("game", ["connect_four?moves=4,4", "othello?moves=f5d6c3"])
@pytest.mark.parametrize("size", [TALL, LAPTOP, PHONE], ids=["tall", "laptop", "phone"])
def test_the_board_comes_first_and_what_is_needed_stays_on_the_screen(go, game, size):
    page = go(f"#analyse/{game}&simulations=50", viewport=size)
    expect(page.locator(".best-mark")).to_have_count(1)
    board = page.locator(".board").bounding_box()
    share = {1280: board["width"] / 1280, 1366: board["height"] / 657, 390: board["width"] / 390}
    assert share[size["width"]] >= {1280: 0.46, 1366: 0.7, 390: 0.97}[size["width"]]
    needed = [".board", ".step", ".verdict"]
    if size is not PHONE:
        needed += [".game-row > *", ".variations .button-row > *:not([hidden])", "tr.is-best"]
    for selector in needed:
        for box in boxes(page, selector):
            assert box["top"] >= 0 and box["bottom"] <= size["height"], selector
    assert findings(page) == []


@pytest.mark.slow
def test_on_a_phone_the_value_the_board_and_the_mistake_are_on_one_screen(go):
    page = go(f"#analyse/tic_tac_toe?moves={BLUNDERS}&ply=4", viewport=PHONE)
    expect(page.locator(".mistake-text")).to_have_text(re.compile("9"))
    expect(page.locator(".verdict-best")).to_have_text(re.compile("3"))
    order = [boxes(page, one)[0] for one in (".verdict", ".board", ".mistake-steps")]
    for above, below in itertools.pairwise(order):
        assert above["bottom"] <= below["top"]
    assert order[0]["top"] >= 0 and order[-1]["bottom"] <= PHONE["height"]


# --- what stands on it and beside it --------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [TALL, LAPTOP, PHONE], ids=["tall", "laptop", "phone"])
def test_the_numbers_of_the_table_do_not_touch(go, size):
    shares = {3: 0.9998, 2: 0.0001, 4: 0.0001}
    page = analyse(go, "connect_four?moves=4,3,4,6,6,4,2,3", shares, 3, viewport=size)
    rows = page.locator(".analysis-table tbody tr").evaluate_all(TEXTS)
    assert len(rows) == 3 and min(map(len, rows)) > 4
    for texts in rows:
        for (_, end), (start, _) in itertools.pairwise(texts):
            assert start - end >= 2


@pytest.mark.slow
@pytest.mark.parametrize("size", [TALL, PHONE], ids=["tall", "phone"])
@pytest.mark.parametrize("game", ["gomoku?moves=h8,h9", "othello?moves=f5d6c3"])
def test_a_share_is_within_its_disc(go, game, size):
    legal = [one for one in range(225) if one not in (112, 97)]
    if game.startswith("othello"):
        page = go(f"#analyse/{game}&simulations=50", viewport=size)
        expect(page.locator(".best-mark")).to_have_count(1)
        legal = [int(one.get_attribute("data-action")) for one in page.locator(".move-mark").all()]
    shares = dict(zip(legal, [0.5, 0.1, 0.1, 0.08, 0.07, *[0.006] * 25]))
    page = analyse(go, game, shares, legal[0], viewport=size)
    marks = page.locator(".move-mark:has(.move-share)").all()
    assert marks
    for mark in marks:
        disc, text = (mark.locator(one).bounding_box() for one in (".move-disc", ".move-share"))
        assert text["width"] <= disc["width"] + 0.5
    texts = [box for box in boxes(page, ".move-share") if box["width"]]
    assert all(overlap(*pair) <= 0 for pair in itertools.combinations(texts, 2))


@pytest.mark.slow
def test_the_sign_of_a_move_covers_no_score(go):
    page = go(f"#analyse/tic_tac_toe?moves={BLUNDERS}&ply=4", viewport=PHONE)
    expect(page.locator(".move-note rect")).to_have_count(1)
    expect(page.locator(".badge")).to_have_count(5)
    (sign,) = boxes(page, ".move-note rect")
    assert all(overlap(sign, badge) <= 0 for badge in boxes(page, ".badge"))


@pytest.mark.slow
def test_the_best_move_is_the_exact_one_and_that_of_the_search_is_named_as_such(go):
    page = go(viewport=TALL)
    answer(page, {8: 0.9, 2: 0.1}, best=8)
    page.evaluate("location.hash = '#analyse/tic_tac_toe?moves=1,4,2,5'")
    expect(page.locator(".verdict-best")).to_have_text(re.compile("move: 3, exact; .* search .* 9"))
    expect(page.locator("tr.is-best .move-button")).to_have_text("3")
    page.evaluate("location.hash = '#analyse/connect_four?moves='")
    answer(page, {3: 0.9, 2: 0.1}, best=3)
    expect(page.locator(".verdict-best")).to_have_text(
        re.compile(r"move: 4(, exact; search \+0\.50)?$")
    )


# --- from which side it is seen -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("view", ["play", "analyse"])
def test_the_board_is_turned_by_the_keyboard_and_stays_so_for_its_game(browser, breakthrough, view):
    hash_ = f"#{view}/{BREAKTHROUGH}?first=human&second=human&moves=a2a3"
    with opened(browser, f"{breakthrough}{hash_}", viewport=TALL) as page:
        cells, turn = page.get_by_role("gridcell"), page.get_by_title("Turn the board")
        names = page.locator(".edge-label")
        expect(cells.first).to_have_attribute("aria-label", re.compile("^a5: Black"))
        before = names.all_text_contents()
        assert before == [*"abcde", *"54321"]
        turn.focus()
        page.keyboard.press("Enter")
        expect(turn).to_have_attribute("aria-pressed", "true")
        expect(cells.first).to_have_attribute("aria-label", re.compile("^e1: White"))
        assert names.all_text_contents() == [*"edcba", *"12345"]
        for piece in page.locator(".piece[data-cell]").all():  # pieces lie in their cells
            place = piece.get_attribute("data-cell")
            drawn, cell = (
                one.bounding_box()
                for one in (piece, page.locator(f".grid-cell[data-cell='{place}']"))
            )
            for at, size in (("x", "width"), ("y", "height")):
                middle = drawn[at] + drawn[size] / 2
                assert middle == pytest.approx(cell[at] + cell[size] / 2, abs=1)
        (last,), (a3,) = boxes(page, ".mark-on-light"), boxes(page, ".grid-cell[aria-label^=a3]")
        assert overlap(last, a3) > 5
        page.locator(".grid-cell[aria-label^=b4]").click()
        page.locator(".grid-cell[aria-label^=b4]").press("ArrowUp")  # towards White's side
        expect(page.locator(".grid-cell:focus")).to_have_attribute(
            "aria-label", re.compile("^b3: .*legal move")
        )
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator(".move-step").last).to_have_text(re.compile("b4a3"))
        page.reload()
        expect(cells.first).to_have_attribute("aria-label", re.compile("^e1: White"))
        turn.click()
        expect(cells.first).to_have_attribute("aria-label", re.compile("^a5"))
        turn.click()
        page.get_by_role("combobox", name="Game", exact=True).select_option("othello")
        expect(cells.first).to_have_attribute("aria-label", re.compile("^a1"))
        page.get_by_role("combobox", name="Game", exact=True).select_option("connect_four")
        expect(cells.first).to_have_attribute("aria-label", re.compile("^column 1, row 6"))
        expect(turn).to_have_count(0)
        assert findings(page) == []


# --- the rules ------------------------------------------------------------------------------------


def test_every_game_offered_states_its_rules_with_its_own_numbers():
    games = {game["name"]: game for game in make_backend().games()["games"]}
    for name in OFFERED:
        assert 40 < len(games[name]["rules"]) < 220, name
    for name, length in {"connect_four": "4", "connect_x:5x5x4": "4", "gomoku": "5"}.items():
        assert re.search(rf"\b{length}\b", games[name]["rules"])


def test_the_rules_of_a_users_game_are_the_first_paragraph_of_its_file():
    compiled, plain = (
        make_backend(game=name).games()["games"][0]["rules"]
        for name in (BREAKTHROUGH, BREAKTHROUGH_PYTHON)
    )
    assert compiled == plain and "\n" not in plain
    assert "diagonally" in plain and "wins" in plain
    adapted = make_backend(game="plain_games:Promotion").games()["games"][0]["rules"]
    assert "\n\n" not in adapted


@pytest.mark.slow
def test_the_rules_and_what_is_said_of_players_are_shown_beside_the_game(browser, breakthrough):
    with opened(browser, f"{breakthrough}#play/connect_four", viewport=LAPTOP) as page:
        told = page.locator(".players details")
        expect(told.locator("p").first).not_to_be_visible()
        told.locator("summary").press("Enter")
        games = page.evaluate("fetch('api/games').then((answer) => answer.json())")["games"]
        rules = {game["name"]: game["rules"] for game in games}
        expect(told).to_contain_text(rules["connect_four"])
        for word in ("Solver", "UCT", "\u00b1"):
            expect(told).to_contain_text(word)
        page.get_by_role("combobox", name="Game", exact=True).select_option("breakthrough.py")
        expect(told).to_contain_text(rules["breakthrough.py"])


# --- without its script ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("body", [None, "throw new Error('of a script');"])
def test_a_page_without_its_script_says_so(browser, address, body):
    page = browser.new_page()
    page.route("**/page.js", lambda route: route.fulfill(body=body) if body else route.abort())
    page.goto(address)
    expect(page.locator("body")).to_contain_text("page.js")
    page.unroute("**/page.js")
    page.reload()
    expect(page.locator(".page-head")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("page.js")
    page.close()
