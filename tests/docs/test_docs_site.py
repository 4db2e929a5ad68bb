"""The site: what is made ready for its generator, and what that does not check."""

import tomllib
from pathlib import Path

import docs_site

ROOT = Path(__file__).parents[2]


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
