"""The tutorial notebook: valid, executed, free of local paths; its cells run but for the training.

`make notebook` executes all of it. What it says of the training is compared with the recipe.
"""

import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from test_docs import accept, commands

import alphazero

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
MAX_BYTES = 1_500_000


@pytest.fixture(scope="module")
def notebook():
    return nbformat.read(NOTEBOOK, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def is_training(cell):
    return "training" in cell.metadata.get("tags", [])


def headings(page):
    """Return the addresses of a page's headings."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in found]


def test_the_notebook_is_valid_and_small(notebook):
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert NOTEBOOK.stat().st_size < MAX_BYTES


def test_every_cell_was_executed_in_order_without_an_error(notebook):
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert "error" not in {output.output_type for output in outputs}
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) >= 3


def test_its_commands_are_accepted_and_its_links_exist(notebook):
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    found = commands(text)
    assert len(found) >= 4
    for words in found:
        accept(*words)
    links = re.findall(r"\]\(([^)#:]+)(?:#([^)]*))?\)", text)
    assert len(links) > 5
    for page, heading in links:
        assert (NOTEBOOK.parent / page).exists()
        assert not heading or heading in headings(NOTEBOOK.parent / page)


def test_the_first_cell_installs_the_package_from_its_address_where_it_is_missing(
    notebook, monkeypatch
):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    address, commands = project["urls"]["Repository"], []
    cell = compile(code_cells(notebook)[0].source, "the first cell", "exec")
    monkeypatch.setattr("subprocess.run", lambda command, check: commands.append(command))
    exec(cell, {})
    assert commands == []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    exec(cell, {})
    assert commands[0][-1] == f"{project['name']}[notebook] @ git+{address}"
    assert "notebook" in project["optional-dependencies"]
    page = f"github{urlsplit(address).path}/blob/main/docs/tutorial.ipynb"
    assert f"](https://colab.research.google.com/{page})" in notebook.cells[0].source


@pytest.mark.slow
def test_the_cells_run_with_a_tiny_run_in_place_of_the_training(notebook, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)  # where the run is stored
    names = {}
    for number, cell in enumerate(code_cells(notebook)):
        if is_training(cell):
            compile(cell.source, "the training cell", "exec")
            names["run"], names["reports"] = _tiny_run()
            names["draw_training"](names["plt"].subplots(1, 2)[1], names["reports"])
            continue
        exec(compile(cell.source, f"cell {number}", "exec"), names)
        names |= {"NUM_SIMULATIONS": 4, "NUM_GAMES": 2}
    names["plt"].close("all")
    assert len(names["match"].games) == 2
    assert len(names["verdicts"]) == 3 and names["analysis"].num_simulations == 4
    assert names["shares"][-1] > 0.7  # UCT finds the two moves that hold the draw


def _tiny_run():
    """Return a stored run of Connect Four of one iteration, and its reports."""
    words = ("experiment=dummy_run", "game=connect_four", "network=tiny", "run.num_iterations=1")
    reports = list(alphazero.train(*words, "pit.every=0", "evaluation.exact=true"))
    return alphazero.load_run("latest"), reports
