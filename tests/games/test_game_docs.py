"""The pages about games: their programs run, their excerpts and drawings are what the code says."""

import re
import runpy
from pathlib import Path

import pytest
from mostly_slow import mostly_slow

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "games").glob("*.md"))
GUIDES = [ROOT / "docs" / name for name in ("ADD_A_GAME.md", "COMPILED_RULES.md")]
HEADINGS = "Rules Board Text Sizes State Planes Actions Symmetries Result Checks".split()


@pytest.mark.parametrize("page", mostly_slow(PAGES + GUIDES, 8), ids=lambda page: page.stem)
def test_programs_run_and_excerpts_are_parts_of_the_example(page, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = ("snort.py", "breakthrough_python.py")
    examples = [(ROOT / "examples" / name).read_text() for name in names]
    for program in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        if not any(program in example for example in examples):
            assert "import" in program
            path = tmp_path / "program.py"
            path.write_text(program)
            runpy.run_path(str(path))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_have_the_same_form(page):
    headings = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
    assert [heading for heading in headings if heading in HEADINGS] == HEADINGS
