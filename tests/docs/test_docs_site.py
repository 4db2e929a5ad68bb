"""The site: what is made ready for its generator, and what that does not check."""

import tomllib
from pathlib import Path

import docs_site
import notebook_page

ROOT = Path(__file__).parents[2]
CELLS = [
    {"cell_type": "markdown", "source": ["# Title\n", "\n", "Text."]},
    {
        "cell_type": "code",
        "source": ["print(1)\n"],
        "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
            {"output_type": "display_data", "data": {"image/png": "aGVsbG8=", "text/plain": "x"}},
        ],
    },
]


def pages_of(entries):
    """Return the pages of the navigation."""
    for entry in entries:
        for value in entry.values():
            yield from pages_of(value) if isinstance(value, list) else [value]


def test_every_page_is_once_in_the_navigation(tmp_path):
    docs_site.prepare(tmp_path / "docs")
    pages = [path.relative_to(tmp_path / "docs") for path in tmp_path.rglob("*.md")]
    navigation = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    assert sorted(pages_of(navigation)) == sorted(page.as_posix() for page in pages)


def test_pages_lead_to_the_page_of_the_notebook(tmp_path):
    docs_site.prepare(tmp_path)
    assert "](tutorial.md)" in (tmp_path / "index.md").read_text("utf-8")
    named = [path.name for path in tmp_path.rglob("*.md") if ".ipynb)" in path.read_text("utf-8")]
    assert named == ["tutorial.md"] and (tmp_path / "tutorial.ipynb").is_file()
    assert len(list(tmp_path.glob("tutorial_*.png"))) > 1


def test_a_notebook_becomes_a_page():
    text, images = notebook_page.render({"cells": CELLS}, "name")
    assert images == {"name_0.png": b"hello"}
    place = [text.index(part) for part in ("# Title", "name.ipynb", "Text.", "print(1)", "\n1\n")]
    assert place == sorted(place) and text.index("name_0.png") > place[-1]
