"""Build the documentation site: `make docs`.

In: docs/, zensical.toml. Out: site/. Zensical renders Markdown, so the notebook and the embedded
boards are first converted to Markdown in build/docs.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import browser_page
import notebook_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PREPARED = ROOT / "build" / "docs"
SITE = ROOT / "site"


def prepare(folder: Path = PREPARED) -> None:
    """Write the input of Zensical into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("runs", ".*"))
    for path in folder.rglob("*.ipynb"):
        text, images = notebook_page.render(json.loads(path.read_text("utf-8")), path.stem)
        path.with_suffix(".md").write_text(text, encoding="utf-8")
        for name, data in images.items():
            (path.parent / name).write_bytes(data)
    for path in folder.rglob("*.md"):
        text = browser_page.place_boards(path.read_text("utf-8"), path.relative_to(folder))
        text = re.sub(r"\]\(([\w/]+)\.ipynb(?=[#)])", r"](\1.md", text)  # the page made from it
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Build the site; return the exit status."""
    prepare()
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    if status := subprocess.run(command, cwd=ROOT).returncode:
        return status
    browser_page.build(SITE / browser_page.SITE_FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
