"""The console command itself: the list of subcommands, unknown ones, and the process it sets up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from alphazero.cli import COMMANDS, main
from alphazero.runtime.process import limit_spinning


@pytest.mark.parametrize("words", ([], ["--help"], ["help"]))
def test_the_help_lists_every_command_in_80_columns(words, capsys):
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert set(COMMANDS) <= {line.split()[0] for line in lines if line}
    assert max(map(len, lines)) <= 80


def test_the_module_is_the_command_and_an_unknown_one_is_refused():
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "alphazero", "trian"]
    found = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (2, "") and "mean train?" in found.stderr


def test_openmp_variables_of_the_user_are_kept(monkeypatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    limit_spinning()
    assert (os.environ["OMP_WAIT_POLICY"], os.environ["GOMP_SPINCOUNT"]) == ("ACTIVE", "1000")


def test_the_help_loads_no_heavy_library():
    heavy = {"torch", "numba", "hydra", "omegaconf"}
    code = (
        f"import sys; from alphazero.cli import main; main([]); print({heavy} & {{*sys.modules}})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
