"""The Runs view of the page in Chromium: runs that appear and grow, comparison, networks."""

import json
import re
import time

import pytest
from web_samples import add_rows, copy_run, make_backend, running

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect  # noqa: E402
from web_browser import chromium, findings, opener  # noqa: E402


class Scripted:
    """A backend whose network misplays a position that is known."""

    def __init__(self, backend):
        self._backend = backend

    def __getattr__(self, name):
        return getattr(self._backend, name)

    def misplayed(self, request):
        mistake = {"moves": [0, 3, 1, 4], "played": 8, "best": [2], "value": -1, "best_value": 1}

        def job(stream):
            stream.emit({"type": "progress", "done": 5, "total": 9})
            stream.emit({"type": "misplayed"} | mistake)
            stream.emit({"type": "done", "num_positions": 9, "num_misplayed": 1})

        return job


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def runs(tmp_path):
    """Return a folder of runs that are served."""
    return tmp_path / "runs"


@pytest.fixture
def go(browser, runs):
    """Return a function that opens the Runs view at an address."""
    with running(Scripted(make_backend(runs)), port=0) as client:
        with opener(browser, f"{client.base_url}#runs") as go:
            yield go


def rows_of(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def set_learning_rate(folder, value):
    """Change a setting of a stored run, whose config begins with a checksum of the rest."""
    from alphazero.storage.run_folder import RunFolder

    config = RunFolder(folder).read_config()
    config["learner"]["learning_rate"] = value
    RunFolder(folder).write_config(config)


def names(page):
    return page.locator(".runs-table tbody a").all_inner_texts()


# --- live -----------------------------------------------------------------------------------------


def test_a_run_begun_while_the_page_is_open_appears_and_grows(go, runs):
    page = go()
    expect(page.locator(".empty-state")).to_contain_text("alphazero train")
    folder = copy_run(runs, "tic_tac_toe/begun")
    began = time.monotonic()
    row = page.locator(".runs-table tbody tr")
    expect(row).to_have_count(1)
    # Two seconds are promised; a busy machine gets some more.
    assert time.monotonic() - began < 5
    num = len(rows_of(folder))
    expect(row.locator("td").nth(1)).to_have_text(str(num))
    add_rows(folder, 3)
    expect(row.locator("td").nth(1)).to_have_text(str(num + 3))


@pytest.mark.slow
def test_curves_grow_while_one_looks(go, runs):
    folder = copy_run(runs, "tic_tac_toe/growing")
    page = go("/tic_tac_toe/growing")
    plot = page.locator(".chart [role=slider]").first
    num = len(rows_of(folder))
    expect(plot).to_have_attribute("aria-valuemax", re.compile(r"\d"))
    before = int(plot.get_attribute("aria-valuemax"))
    add_rows(folder, 4)
    expect(plot).to_have_attribute("aria-valuemax", str(before + 4))
    assert before < num


@pytest.mark.slow
def test_ten_thousand_points_a_curve_stay_smooth(go, runs):
    folder = copy_run(runs, "tic_tac_toe/long")
    add_rows(folder, 10_000)
    page = go("/tic_tac_toe/long")
    expect(page.locator(".chart canvas").first).to_be_visible()
    page.wait_for_timeout(2_000)
    # The longest time in which the page did not answer, while the pointer moves and a row comes.
    page.evaluate(
        """() => {
            window.longest = 0;
            let last = performance.now();
            const tick = () => {
                const now = performance.now();
                window.longest = Math.max(window.longest, now - last);
                last = now;
                requestAnimationFrame(tick);
            };
            requestAnimationFrame(tick);
        }"""
    )
    box = page.locator(".chart canvas").first.bounding_box()
    add_rows(folder, 1)
    for step in range(30):
        page.mouse.move(box["x"] + 60 + 5 * step, box["y"] + 80)
        page.wait_for_timeout(50)
    assert page.evaluate("window.longest") < 500  # a second of silence would be felt


# --- curves ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_curve_is_read_with_the_keyboard(go, runs):
    copy_run(runs, "tic_tac_toe/earlier")
    page = go()
    page.locator(".runs-table a").click()
    chart = page.locator(".chart").first
    expect(chart.locator("canvas")).to_be_visible()
    assert page.locator(".chart").count() > 1
    plot = chart.get_by_role("slider")
    plot.focus()
    page.keyboard.press("End")
    assert plot.get_attribute("aria-valuenow") == plot.get_attribute("aria-valuemax")
    assert re.search(r"iterations \d+: .* \d", plot.get_attribute("aria-valuetext"))
    expect(chart.locator(".legend-value").first).to_have_text(re.compile(r"\d"))


def test_two_runs_are_compared_with_the_keyboard_alone(go, runs):
    copy_run(runs, "tic_tac_toe/one")
    set_learning_rate(copy_run(runs, "tic_tac_toe/two"), 0.25)
    page = go()
    expect(page.locator(".runs-table tbody tr")).to_have_count(2)
    for name in ("one", "two"):
        page.get_by_label(f"Compare {name}").focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name=re.compile("^Compare")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="2 runs compared")).to_be_visible()
    # Their stored figures are the same, their settings are not.
    expect(page.locator("section", has_text="Which one plays better").first).to_be_visible()
    differing = page.locator(".settings-table tbody tr")
    expect(differing).to_have_count(1)
    expect(differing).to_contain_text("learner.learning_rate")
    expect(differing).to_contain_text("0.25")
    page.get_by_label("Horizontal axis").select_option("games")
    expect(page.locator(".chart [role=slider]").first).to_have_attribute(
        "aria-label", re.compile("games")
    )
    address = page.url
    assert "x=games" in address and "one" in address and "two" in address
    page.go_back()
    expect(page.locator(".runs-table tbody tr")).to_have_count(2)
    page.goto(address)
    expect(page.get_by_role("heading", name="2 runs compared")).to_be_visible()
    assert findings(page) == []


# --- networks -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_position_that_a_network_misplays_can_be_tried(go, runs):
    copy_run(runs, "tic_tac_toe/earlier")
    page = go("/tic_tac_toe/earlier")
    page.get_by_role("button", name="Positions it misplays").click()
    card = page.locator(".misplayed").first
    card.get_by_role("button", name="Try it").wait_for()
    assert card.locator(".is-played").count() == 1 and card.locator(".is-best").count() >= 1
    assert re.findall("win|draw|loss", card.inner_text()) == ["loss", "win"]
    card.get_by_role("button", name="Analyse").click()
    expect(page.locator(".verdict-result")).to_have_text("win, exact")


@pytest.mark.slow
def test_the_newest_network_plays_itself(go, runs):
    copy_run(runs, "tic_tac_toe/earlier")
    page = go("/tic_tac_toe/earlier")
    board = page.locator("section", has_text="plays itself").last
    board.get_by_role("button", name="Play on").click()  # motion is not asked for
    expect(board.locator(".pieces .piece").nth(3)).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_run(go, runs, scheme):
    copy_run(runs, "tic_tac_toe/earlier")
    page = go("/tic_tac_toe/earlier", color_scheme=scheme)
    expect(page.locator(".chart canvas").first).to_be_visible()
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
