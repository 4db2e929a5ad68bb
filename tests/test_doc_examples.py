"""The Python examples of the pages run, in the order in which they stand."""

import re
from pathlib import Path

import pytest

from alphazero.inference.engines import selection
from alphazero.training import autotune

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/tour.md", "docs/python.md")


def examples(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    found = examples(page)
    assert found
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "snort.py").write_text((ROOT / "examples" / "snort.py").read_text())
    monkeypatch.chdir(tmp_path)  # where runs are stored
    monkeypatch.setattr(selection, "_ROUND_S", 1e-3)  # a run measures the engines at its start
    monkeypatch.setattr(autotune, "_LOCKSTEP_S", 0.01)
    names = {}
    for example in found:
        exec(compile(example, page, "exec"), names)
    assert capsys.readouterr().out
