"""The script that measures targets against the solver: its tables on a run of tic-tac-toe, and sentences for what cannot be measured."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from alphazero.cli import train
from alphazero.games.registry import make_game
from alphazero.solvers.base import values_of
from alphazero.solvers.registry import make_solver
from alphazero.storage.run_folder import RunFolder

SCRIPT = Path(__file__).parents[1] / "scripts" / "target_quality.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("target_quality", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    assert (
        train.main(["experiment=dummy_run", "game=tic_tac_toe", f"run.root={root}", "run.name=r"])
        == 0
    )
    return root / "tic_tac_toe" / "r"


def test_the_tables_name_every_target_and_every_search(script, run, capsys):
    assert script.main([str(run), "--rows", "30", "--simulations", "8"]) == 0
    printed = capsys.readouterr().out
    assert (
        all(name in printed for name in ("result", "half and half", "PUCT", "Gumbel"))
        and "nan" not in printed
    )


def test_the_targets_are_those_of_the_records_and_exact_ones_have_no_error(script, run):
    game = make_game("tic_tac_toe")
    folder = RunFolder.find(str(run), str(run), None)
    records = folder.load_games(
        max(int(file.stem) for file in (folder.path / "games").iterdir()), 10**9
    )
    rows = script.drawn_rows(records, 20, 2, np.random.default_rng(0))
    assert rows and all(ply >= 2 and records[index].is_target[ply] for index, ply in rows)
    targets = script.value_targets(records, rows)
    assert targets["result"].tolist() == [records[index].outcomes[ply] for index, ply in rows]
    exact = values_of(
        make_solver(game)
        .scores(np.stack([records[index].states[ply] for index, ply in rows]))
        .max(axis=1)
    )
    table = script.value_table(
        {"exact": exact, "wrong": exact + 2.0}, exact, np.array([ply for _, ply in rows])
    )
    assert list(table.columns[1].cells) == ["0.0000", "4.0000"]


@pytest.mark.parametrize(
    "words", [["--first-ply", "99"], ["--rows", "0"], ["--network", "nosuch.safetensors"]]
)
def test_what_cannot_be_measured_is_one_sentence(script, run, capsys, words):
    assert script.main([str(run), *words]) == 2
    assert capsys.readouterr().err.startswith("error: ")
