"""The Runs view of the page in Chromium: runs as they appear and grow, charts, comparison."""

import re
import shutil

import pytest
from web_samples import add_rows, copy_run, make_backend, running

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect  # noqa: E402
from web_browser import findings, opened  # noqa: E402

from alphazero.storage.run_folder import RunFolder  # noqa: E402

A, B = "tic_tac_toe/a", "tic_tac_toe/b"


#: The part of a canvas's height in which a line is drawn where it did not go astray.
LINES_HEIGHT = """(canvas) => {
  const { width, height } = canvas;
  const [left, right] = [Math.round(0.3 * width), Math.round(0.6 * width)];
  const { data } = canvas.getContext("2d").getImageData(left, 0, right - left, height);
  const isLine = (k) => data[k + 3] > 200 && Math.max(...data.slice(k, k + 3)) > 100
    && Math.max(...data.slice(k, k + 3)) - Math.min(...data.slice(k, k + 3)) > 80;
  const rows = Array.from({ length: height }, (_, row) => row).filter((row) =>
    Array.from({ length: right - left }, (_, x) => 4 * (row * (right - left) + x)).some(isLine));
  return (Math.max(...rows) - Math.min(...rows)) / height;
}"""


@pytest.fixture
def runs(tmp_path):
    """The root of two runs."""
    copy_run(tmp_path, A)
    copy_run(tmp_path, B)
    return tmp_path


@pytest.fixture
def page(browser, runs):
    """A page whose `show(hash)` opens a view."""
    with running(make_backend(runs), port=0) as client:
        address = str(client.base_url)
        with opened(browser, f"{address}#runs", viewport={"width": 1280, "height": 900}) as page:
            page.show = lambda hash: page.goto(f"{address}#{hash}")
            yield page


def wait_for(page, condition):
    """Wait until a condition, an expression of the page, is true."""
    page.wait_for_function(f"() => {condition}")


def compare(page):
    page.show(f"runs/{A}?with={B}")
    page.locator(".chart").first.wait_for()
    wait_for(
        page, "[...document.querySelectorAll('.chart')].every((one) => one.querySelector('canvas'))"
    )
    return page.locator(".chart").first.get_by_role("slider")


def change_settings(folder, **values):
    """Change settings of the learner, or the game."""
    config = RunFolder(folder).read_config()
    config["game"]["name"] = values.pop("game", config["game"]["name"])
    config["learner"] |= values
    RunFolder(folder).write_config(config)


@pytest.mark.slow
def test_a_run_begun_while_the_page_is_open_appears_and_grows(page, runs):
    for name in (A, B):
        shutil.rmtree(runs / name)
    expect(page.locator(".empty-state")).to_contain_text("alphazero train")
    folder = copy_run(runs, "tic_tac_toe/begun")
    row = page.locator(".runs-table tbody tr")
    expect(row).to_have_count(1)
    expect(row.locator("td").nth(1)).to_have_text("2")
    add_rows(folder, 3)
    expect(row.locator("td").nth(1)).to_have_text("5")


@pytest.mark.slow
def test_two_runs_are_compared_with_the_keyboard_alone(page, runs):
    change_settings(runs / B, learning_rate=0.25)
    for name in "ab":
        page.get_by_role("checkbox", name=f"Compare {name}").focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Compare 2 runs").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="2 runs compared")).to_be_visible()
    # Their stored figures are the same, their settings are not.
    expect(page.locator("section", has_text="Newest figures").first).to_be_visible()
    differing = page.locator(".settings-table tbody tr")
    expect(differing).to_have_count(1)
    expect(differing).to_contain_text("learner.learning_rate")
    expect(differing).to_contain_text("0.25")
    page.get_by_label("Horizontal axis").select_option("games")
    label = page.locator(".chart [role=slider]").first
    expect(label).to_have_attribute("aria-label", re.compile("games"))
    assert page.evaluate("location.hash") == f"#runs/{A}?with={B}&x=games"
    page.go_back()
    expect(page.locator("input:checked")).to_have_count(2)
    page.go_forward()
    expect(page.get_by_label("Horizontal axis")).to_have_value("games")
    assert findings(page) == []


@pytest.mark.slow
def test_arrow_keys_read_the_values_of_all_charts(page):
    slider = compare(page)
    slider.focus()
    page.keyboard.press("End")
    assert slider.get_attribute("aria-valuenow") == slider.get_attribute("aria-valuemax") == "1"
    at_end = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext") != at_end
    for place in page.locator(".chart-place").all_inner_texts():
        assert re.fullmatch(r"iterations 1", place)
    assert all(
        re.search(r"\d|\u2013", text) for text in page.locator(".legend-value").all_inner_texts()
    )


@pytest.mark.slow
def test_settings_that_differ_between_runs_of_a_game_follow_the_curves_many_folded(page, runs):
    change_settings(runs / B, learning_rate=0.25)
    change_settings(copy_run(runs, "connect_four/c"), game="connect_four", batch_size=7)
    change_settings(copy_run(runs, "tic_tac_toe/d"), **{f"setting_{k}": k for k in range(9)})
    page.show(f"runs/{A}?with={B},connect_four/c")
    rows = page.locator(".settings-table tbody tr")
    expect(page.locator(".settings-table thead th")).to_have_count(4)
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("learner.learning_rate")
    expect(rows).to_be_visible()
    above = page.locator(".run-curves, details").all()
    assert [one.evaluate("one => one.tagName") for one in above] == ["SECTION", "DETAILS"]
    page.show(f"runs/{A}?with=tic_tac_toe/d")
    expect(rows).to_have_count(9)
    expect(rows.first).not_to_be_visible()


def test_a_point_of_a_curve_opens_a_game_against_its_network_and_the_result_stays(page, runs):
    add_rows(runs / A, 4)
    networks = runs / A / "networks"
    for iteration in (2, 4, 5, 6):
        shutil.copy(networks / "000001.safetensors", networks / f"{iteration:06d}.safetensors")
    (networks / "000001.safetensors").unlink()
    page.show(f"runs/{A}")
    kept = page.locator(".network-list button")
    expect(kept).to_have_text([f"{iteration} \u2013" for iteration in (2, 4, 5, 6)])
    expect(page.get_by_text("every 2 iterations")).to_be_visible()
    plot = page.locator(".u-over").first
    width = plot.bounding_box()["width"]
    for iteration in (3, 4):  # the network of the first is not kept
        plot.hover(position={"x": width * (iteration - 1) / 5, "y": 9})
        point = page.locator(".u-cursor-pt").first.bounding_box()
        page.mouse.click(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    player = f"run:{A}/000004"
    wait_for(page, f"location.hash.endsWith('first=human&second={player}*200')")
    page.reload()
    expect(page.locator("#seat-1")).to_have_value(f"player.{player}")
    status = page.locator("#status")
    for _ in range(5):
        expect(status).to_have_text(re.compile("Your turn|wins|draw"))
        if "Your turn" in status.inner_text():
            count = page.locator(".move-list li").count()
            page.locator(".grid-cell.is-legal").first.click()
            expect(page.locator(".move-list li").nth(count)).to_be_visible()
            expect(status).not_to_have_text(re.compile("thinking"))
    result = {"You w": "1 won", "You l": "1 lost", "A dra": "1 drawn"}[status.inner_text()[:5]]
    expect(page.locator(".seat-note", has_text=result)).to_be_visible()
    for _ in range(2):
        page.show(f"runs/{A}")
        expect(kept.nth(1)).to_have_text(f"4 {result}")
        page.reload()
    slider = page.locator(".chart [role=slider]").first
    page.locator(".u-over").first.wait_for()
    slider.press("End")
    slider.press("Enter")
    wait_for(page, "location.hash.includes('000006*200')")


@pytest.mark.slow
def test_new_rows_are_drawn_on_the_same_canvas(page, runs):
    slider = compare(page)
    page.evaluate("document.querySelectorAll('canvas').forEach((one) => (one.isOld = true))")
    add_rows(runs / A, 1500, **{"learner.loss": 7.25})
    losses = page.locator(".chart", has_text="Losses")
    losses.locator(".legend-value").first.get_by_text("7.25").wait_for()
    assert page.evaluate("[...document.querySelectorAll('canvas')].every((one) => one.isOld)")
    wait_for(page, "document.querySelector('.chart [role=slider]').ariaValueMax > 1")
    assert int(slider.get_attribute("aria-valuemax")) <= 500  # means of neighbours


@pytest.mark.slow
def test_dragging_zooms_all_charts_and_a_double_click_ends_that(page, runs):
    add_rows(runs / A, 98)
    compare(page)
    plots = page.locator(".u-over")
    box = plots.first.bounding_box()
    x, y = box["x"], box["y"] + 50
    page.mouse.move(x + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(x + box["width"] * 3 / 4, y, steps=5)
    page.mouse.up()
    plots.nth(1).hover(position={"x": 3, "y": 50})
    wait_for(page, "/iterations (49|5\\d)/.test(document.querySelector('.chart-place').innerText)")
    plots.first.dblclick()
    plots.nth(1).hover(position={"x": 3, "y": 50})
    wait_for(page, "/iterations [12]$/.test(document.querySelector('.chart-place').innerText)")


@pytest.mark.slow
def test_the_figures_of_compared_runs_stand_side_by_side(page, runs):
    add_rows(runs / B, 1, **{"proof.num_accurate": 4000})
    compare(page)
    figures = page.locator(".runs-table tbody tr").locator("td[data-label='Exact accuracy']")
    expect(figures).to_have_count(2)
    expect(figures.nth(1)).to_have_text(re.compile(r"\d%"))
    expect(figures.nth(1)).not_to_have_text(figures.nth(0).inner_text())


@pytest.mark.slow
def test_the_newest_network_plays_itself(page):
    page.show(f"runs/{A}")
    board = page.locator("section", has_text="plays itself").last
    board.get_by_role("button", name="Play on").click()  # motion is not asked for
    expect(board.locator(".pieces .piece").nth(3)).to_be_visible()


def test_a_run_that_stopped_early_says_so_and_how_to_go_on(page, runs):
    config = RunFolder(runs / A).read_config()
    config["run"] |= {"num_iterations": 12, "time_limit_s": 600.0}
    RunFolder(runs / A).write_config(config)
    add_rows(runs / A, 3, last=False)
    rows = page.locator(".runs-table tbody tr")
    expect(rows.filter(has_text="stopped early")).to_have_count(1)
    page.show(f"runs/{A}")
    part = page.locator("section", has_text="Stopped early").last
    expect(part).to_contain_text(re.compile(r"After 5 of 12 iterations and \d+ s of 10 min"))
    expect(part.locator("code")).to_have_text(f"alphazero train resume={runs / A}")
    (runs / A / "state.safetensors").unlink()
    page.reload()
    expect(part).to_contain_text("Nothing is stored")
    with RunFolder(runs / A).locked():
        expect(part).to_be_hidden()
        expect(page.locator(".run-tag")).to_have_text("training")
    page.show(f"runs/{B}")
    expect(page.get_by_role("heading", name="b", exact=True)).to_be_visible()
    expect(part).to_be_hidden()


def test_a_loss_far_above_the_others_does_not_flatten_them(page, runs):
    add_rows(runs / A, 20)
    add_rows(runs / A, 2, **{"learner.loss": 6_262_981.0, "learner.value_loss": 6_262_979.0})
    add_rows(runs / A, 5, **{"learner.loss": 2.5, "learner.value_loss": 0.5})
    page.show(f"runs/{A}")
    chart = page.get_by_role("slider", name=re.compile("^Losses: loss .*6.26M"))
    expect(chart.locator("canvas")).to_be_visible()
    lines = chart.locator("canvas").evaluate(LINES_HEIGHT)
    assert lines > 0.2
    page.show(f"runs/{B}")
    expect(page.get_by_role("slider", name="Losses: loss by iterations")).to_be_visible()


def test_percentages_are_read_out_as_such(page, runs):
    add_rows(runs / A, 1, **{"exact.accuracy": 0.9, "exact.raw_accuracy": 0.75})
    page.show(f"runs/{A}")
    chart = page.locator(".chart", has_text="give away")
    expect(chart.locator(".legend-value")).to_have_text(["10%", "25%"])
    expect(page.locator(".chart", has_text="Losses").locator(".legend-value").first).to_have_text(
        re.compile(r"^[\d.]+$")
    )


def test_a_run_that_is_not_there_and_damage_are_said(page, runs):
    (runs / B / "config.yaml").write_text("game: [")
    page.show("runs/tic_tac_toe/nope")
    page.get_by_role("alert").wait_for()
    assert "nope" in page.get_by_role("alert").inner_text()
    page.locator(".error-line", has_text=B).wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("view", ["runs", f"runs/{A}?with={B}"])
def test_axe_finds_nothing_and_a_phone_needs_no_sideways_scrolling(page, view):
    page.set_viewport_size({"width": 360, "height": 740})
    page.show(view)
    page.locator(".chart canvas, .runs-table").first.wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3')].map((one) => +one.tagName[1])"
    )
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))
