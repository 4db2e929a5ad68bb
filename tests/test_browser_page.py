"""The page that plays in the browser: its folder, and what the documentation says without it."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import browser_page  # noqa: E402


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """Have the page and onnxruntime-web be small files."""
    for name, files in (("PAGE", ("page.js",)), ("ONNXRUNTIME", browser_page.ONNXRUNTIME_FILES)):
        folder = tmp_path / name
        folder.mkdir()
        for file in files:
            (folder / file).write_text(f"// {file}")
        monkeypatch.setattr(browser_page, name, folder)


def test_the_lock_file_pins_versions_and_names_no_host():
    lock = json.loads((ROOT / "browser/package-lock.json").read_text())
    wanted = json.loads((ROOT / "browser/package.json").read_text())["dependencies"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", wanted["onnxruntime-web"])
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages["node_modules/onnxruntime-web"]["version"] == wanted["onnxruntime-web"]
    assert all(entry["integrity"] for entry in packages.values())
    assert "://" not in json.dumps(lock)


def test_the_folder_has_all_that_its_files_name(stand_ins, tmp_path):
    pytest.importorskip("onnxscript", reason="the extra [onnx] is not installed")
    folder = tmp_path / "built"
    browser_page.build(folder, ("tic_tac_toe",))
    games = json.loads((folder / "games.json").read_text())
    assert [game["name"] for game in games["games"]] == ["tic_tac_toe"] == [games["default_game"]]
    assert (folder / "networks/tic_tac_toe.onnx").stat().st_size > 100_000
    for path in [*folder.glob("*.js"), folder / "index.html"]:
        text = path.read_text()
        named = re.findall(r"""(?:from |src=|href=)"([^":,]+)\"""", text)
        named += re.findall(r'new URL\("([^"]+)"', text)
        stand_in = {"page/page.css"}
        assert [n for n in named if not (folder / n).is_file() and n not in stand_in] == []
    assert not list(folder.rglob("node_modules")) and not list(folder.rglob("package*.json"))


def test_the_documentation_says_when_the_board_is_missing(stand_ins, monkeypatch):
    page = (ROOT / "docs/browser.md").read_text()
    assert page.count(browser_page.MARK) == 1
    shown = browser_page.on_page_markdown(page)
    assert "<iframe" in shown and browser_page.MARK not in shown
    monkeypatch.setattr(browser_page, "ONNXRUNTIME", Path("nowhere"))
    shown = browser_page.on_page_markdown(page)
    assert "<iframe" not in shown and "npm ci" in shown


def test_without_npm_the_site_is_built_as_it_is(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(browser_page, "ONNXRUNTIME", Path("nowhere"))
    browser_page.on_post_build({"site_dir": str(tmp_path)})
    assert "onnxruntime-web" in capsys.readouterr().out and not any(tmp_path.iterdir())
