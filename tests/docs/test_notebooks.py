"""docs/notebooks.md: the published recipes field by field, and the students' training loop."""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from test_code_size import lines_of_code

from alphazero.config.settings import rows as setting_rows
from alphazero.network.weights import load_network
from alphazero.storage.run_folder import RunFolder
from alphazero.training.run_config import compose
from alphazero.training.trainer import Trainer

ROOT = Path(__file__).parents[2]
RECIPES = ("notebook_tic_tac_toe", "notebook_connect_four")


def values_of(*words):
    return {row.key: row.value for row in setting_rows(compose(list(words)))}


# --- the recipes ----------------------------------------------------------------------------------


def recipe_rows(setting):
    """Return the rows of docs/notebooks.md: {name: (tic-tac-toe's cell, Connect Four's)}.

    Args:
        setting: whether the names are settings; otherwise they are those of weights.
    """
    page = (ROOT / "docs" / "notebooks.md").read_text()
    rows = re.findall(r"^\|[^|]*\| `([\w.]+)` \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    is_weight = re.compile(r"\.(weight|bias)$")
    return {name: cells for name, *cells in rows if setting != bool(is_weight.search(name))}


def test_the_page_has_the_numbers_of_the_notebook():
    """Each fact of the notebook stands in the table, and nothing is left to a default silently."""
    rows = {name: tuple(map(yaml.safe_load, cells)) for name, cells in recipe_rows(True).items()}
    facts = {
        "run.num_iterations": (150, 35),
        "selfplay.games_per_iteration": (5, 25),
        "selfplay.num_simulations": (200, 200),
        "selfplay.num_sampled_plies": (4, 14),  # temperature 1 while step < 5 or 15, from step 1
        "search.pb_c_init": (math.sqrt(2),) * 2,
        "search.dirichlet_alpha": (0.3, 0.3),
        "search.dirichlet_fraction": (0.25, 0.25),
        "learner.learning_rate": (3e-3, 3e-3),
        "learner.weight_decay": (1e-4, 1e-4),
        "learner.batch_size": (64, 64),
        "learner.epochs": (10, 10),
        "replay.window_max": (200_000, 200_000),
    }
    assert {key: rows[key] for key in facts} == facts
    changed = {}
    for place, name in enumerate(RECIPES):
        values, game = values_of(f"experiment={name}"), values_of(f"game={name[9:]}")
        changed |= {key: place for key, value in values.items() if game[key] != value}
    measured = ("evaluation.", "run.num_threads", "selfplay.num_parallel_games", "learner.final_")
    shape = ("network.",)  # by the second table
    assert {key for key in changed if not key.startswith((*measured, *shape))} <= rows.keys()


@pytest.mark.parametrize("place, name", list(enumerate(RECIPES)))
def test_the_published_recipes_are_those_of_the_page(place, name):
    values, rows = values_of(f"experiment={name}"), recipe_rows(True)
    expected = {key: yaml.safe_load(cells[place]) for key, cells in rows.items()}
    assert {key: values[key] for key in rows} == expected and len(rows) > 40
    assert values["learner.final_learning_rate"] == values["learner.learning_rate"]
    base = values["search.pb_c_base"]
    assert math.log((1e6 + base + 1) / base) == 0  # c is constant, also after a million visits
    pits = values_of(f"experiment={name}", "pit=notebook")
    assert (pits["pit.every"], pits["pit.num_games"], pits["pit.acceptance"]) == (10, 250, 0.55)
    assert pits["pit.counted"] == "games"


@pytest.mark.parametrize("place, name", list(enumerate(RECIPES)))
def test_the_trained_networks_have_the_layers_of_the_page(place, name, tmp_path):
    words = ["run.num_iterations=1", "selfplay.num_simulations=2", "learner.epochs=1"]
    words += ["evaluation.final_num_games=0", "evaluation.prove=false", "evaluation.exact=false"]
    settings = compose([f"experiment={name}", f"run.root={tmp_path}", *words])
    trainer = Trainer(settings, RunFolder(tmp_path))
    for event in trainer.run():
        report = event
    assert len(report.learner.epoch_losses) == 1
    arrays = load_network(trainer.folder.network(1)).arrays
    expected = {
        weight: tuple(map(int, cells[place].split(",")))
        for weight, cells in recipe_rows(False).items()
    }
    assert {weight: array.shape for weight, array in arrays.items()} == expected


# --- the students' loop ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("which", ("theirs", "ours"))
def test_the_students_loop_trains_and_stores_a_network_that_can_be_proven(which, tmp_path):
    script = ROOT / "examples" / "notebook_training.py"
    done = subprocess.run(
        [sys.executable, script, which, "--iterations", "1", "--seed", "3"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    losses = [float(line.rpartition(" ")[2]) for line in done.stdout.splitlines()]
    assert len(losses) == 1 and 0 < losses[0] < 4
    stored = load_network(tmp_path / f"{which}_3.safetensors")
    assert stored.game == "tic_tac_toe" and stored.arrays["conv.weight"].shape == (16, 1, 2, 2)
    assert stored.settings["kind"] == "notebook"


def test_the_students_loop_is_short():
    source = (ROOT / "examples" / "notebook_training.py").read_text()
    assert lines_of_code(source) <= 80
