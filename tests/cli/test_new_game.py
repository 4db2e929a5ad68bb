"""A package that `alphazero new_game` writes has right rules, passes its tests and trains."""

import subprocess
import sys
from pathlib import Path

import pytest

from alphazero.cli import main
from alphazero.own_games.checks.report import CheckOptions
from alphazero.own_games.rule_check import check_rules

NAME = "written_game"


def write(kind: str, folder: Path, monkeypatch) -> Path:
    """Write a package, and work in its folder."""
    monkeypatch.chdir(folder)
    assert main(["new_game", NAME, f"kind={kind}"]) == 0
    monkeypatch.chdir(folder / NAME)
    return folder / NAME


@pytest.mark.slow
@pytest.mark.parametrize("kind", ("python", "compiled"))
def test_the_rules_obey_the_laws_and_agree_with_their_twin(kind, tmp_path, monkeypatch):
    write(kind, tmp_path, monkeypatch)
    report = check_rules(CheckOptions(f"{NAME}.py", f"{NAME}_twin.py", num_positions=300))
    assert report.fault is None and not report.notes


@pytest.mark.slow
@pytest.mark.parametrize("kind", ("python", "compiled"))
def test_the_package_passes_its_tests_and_trains(kind, tmp_path, monkeypatch):
    write(kind, tmp_path, monkeypatch)
    repository = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", repository)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    assert subprocess.run(command, check=False).returncode == 0
    settings = ["experiment=" + NAME, "run.num_iterations=1", "selfplay.games_per_iteration=4"]
    settings += ["selfplay.num_simulations=4", "evaluation.final_num_games=0"]
    command = [sys.executable, "-m", "alphazero", "train", "--config-dir", "configs", *settings]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize(
    "name", ("Upper", "1st", "tic_tac_toe", "json", "class", "alphazero", "numpy", "numba")
)
def test_a_name_that_cannot_be_one_is_refused(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new_game", name]) == 2 and name in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
