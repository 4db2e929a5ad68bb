"""The Python examples of the pages run, in order, and print what the pages say they print."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/tour.md", "docs/python.md", "docs/textbook.md", "docs/notebooks.md", "README.md")
#: An example, and what it prints if a block of text follows at once.
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)


def examples(page):
    return [match.groups() for match in EXAMPLE.finditer((ROOT / page).read_text())]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    found = examples(page)
    assert found
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "snort.py").write_text((ROOT / "examples" / "snort.py").read_text())
    monkeypatch.chdir(tmp_path)  # where runs are stored
    names, printed = {}, ""
    for example, expected in found:
        exec(compile(example, page, "exec"), names)
        output = capsys.readouterr().out
        printed += output
        assert expected in (None, output)
    assert printed
