"""What Hydra reads of the command line of `alphazero train`: its options, folders and sweeps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from alphazero.cli import COMMANDS, main, train
from alphazero.runtime.errors import ConfigError
from alphazero.storage.run_folder import RunFolder
from alphazero.training import run_config
from alphazero.training.run_config import compose

QUICK = (
    "experiment=dummy_run network.blocks=1 network.channels=4 network.value_units=4 device=cpu "
    "evaluation.prove=false evaluation.every=0 evaluation.final_num_games=0 pit.every=0 "
    "run.num_iterations=1 run.num_threads=1 evaluator.engine=torch evaluator.precision=float32 "
    "learner.precision=float32"
).split()


@pytest.fixture
def own_configs(tmp_path, monkeypatch):
    """Return a folder with an experiment and a learner of the user's own, below the working one."""
    monkeypatch.chdir(tmp_path)
    files = {
        "experiment/mine": (
            "# @package _global_\n"
            "defaults:\n  - override /game: connect_four\n"
            "learner:\n  batch_size: 48\n"
        ),
        "learner/wild": "optimizer: sgd\nlearning_rate: 0.5\n",
        "experiment/low": "# @package _global_\nlearner:\n  batch_size: 0\n",
    }
    for name, text in files.items():
        path = tmp_path / "mine" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "mine"


def config_of(capsys, *words):
    """Return the config that ``--cfg job`` prints."""
    assert main(["train", *words, "--cfg", "job"]) == 0
    return OmegaConf.create(capsys.readouterr().out)


def names_in(folder) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ("--config-dir mine", "--config-dir=mine", "-cd mine"))
def test_config_files_of_ones_own(option, own_configs, capsys):
    config = config_of(capsys, *option.split(), "experiment=mine", "learner=wild")
    assert (config.game.name, config.learner.optimizer) == ("connect_four", "sgd")
    assert (config.learner.learning_rate, config.learner.batch_size) == (0.5, 48)


def test_a_search_path_is_found_on_the_command_line_and_from_python(own_configs, capsys):
    words = [f"hydra.searchpath=[file://{own_configs}]", "experiment=mine", "seed=3"]
    config = config_of(capsys, *words)
    settings = compose(words)
    for found in (config, settings):
        assert (found.game.name, found.learner.batch_size, found.seed) == ("connect_four", 48, 3)


@pytest.mark.slow
@pytest.mark.parametrize("words", ("--info searchpath", "--hydra-help"))
def test_hydra_says_what_it_does_and_nothing_is_made(words, tmp_path):
    # In a process of its own: Hydra closes all handlers of `logging`, those of the tests included.
    command = [sys.executable, "-m", "alphazero", "train", *words.split(), "seed=4"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run(
        command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert "hydra" in found.stdout and names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "parts"),
    {
        "experiment=nowhere": ("experiment=nowhere", "mine", "dummy_run"),
        "--multirun experiment=mine,low": ("learner.batch_size=0",),
        "--multirun seed=1,2 pit.num_games=2,3": ("pit.num_games=3", "even"),
        "--multirun seed=1,2 learner=typo,wild": ("learner=typo", "wild"),
        "--multirun othello": ("othello", "key=value"),
        "--config-dir nowhere": ("nowhere",),
        "--cfg nonsense": ("--cfg", "job"),
        "--cfg job --multirun": ("--cfg", "--multirun"),
        "--nonsense": ("--nonsense", "--hydra-help"),
        "hydra.run.dir=/proc/x": ("/proc/x",),
        "hydra.typo=1": ("hydra.typo",),
        "seed=${typo}": ("seed", "typo"),
        "resume=latest --cfg job": ("--cfg", "resume="),
    }.items(),
)
def test_what_is_wrong_gets_one_line_and_no_folder(words, parts, own_configs, capsys):
    arguments = words.split()
    if "--config-dir" not in arguments:
        arguments += ["--config-dir", "mine"]
    if "resume=latest" in arguments:
        arguments = words.split()
    assert main(["train", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ") and captured.err.count("\n") == 1
    assert [part for part in parts if part not in captured.err] == []
    assert captured.out == "" and names_in(own_configs.parent) == ["mine"]


# --- folders and sweeps ---------------------------------------------------------------------------


@pytest.mark.slow
def test_hydra_run_dir_is_the_folder_of_the_run_and_is_not_taken_twice(tmp_path, capsys):
    words = ["train", *QUICK, f"hydra.run.dir={tmp_path / 'here'}", f"run.root={tmp_path}"]
    assert main(words) == 0
    run = RunFolder.find(str(tmp_path / "here"), "", None)
    assert names_in(tmp_path) == ["here"] and run.network(1).is_file()
    before = run.config.read_bytes()
    capsys.readouterr()
    assert main(words) == 2
    assert str(tmp_path / "here") in capsys.readouterr().err
    assert run.config.read_bytes() == before


@pytest.mark.slow
def test_hydra_sweep_dir_holds_a_folder_for_each_run(tmp_path):
    folder = tmp_path / "sweep"
    words = [*QUICK, f"run.root={tmp_path / 'runs'}", f"hydra.sweep.dir={folder}"]
    assert main(["train", "-m", *words, "seed=range(1,3)"]) == 0
    assert names_in(folder) == ["multirun.yaml", "seed=1", "seed=2"]
    seeds = [RunFolder(folder / f"seed={seed}").read_config()["seed"] for seed in (1, 2)]
    assert seeds == [1, 2] and not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_sweep_over_games_of_every_spelling(tmp_path, monkeypatch):
    trained = []

    def note(settings, folder, resumed, varied):
        assert list(varied) == ["game"]
        trained.append((settings.game.name, folder.path.relative_to(tmp_path).as_posix()))
        return 0

    monkeypatch.setattr(train, "_train", note)
    monkeypatch.setattr(train, "_strength", lambda folder: 0.0)
    monkeypatch.setattr(run_config, "_MADE_CHOICES", {})  # no other test's file has the name
    words = ["game=othello:6,connect_x:4x4x3,examples/snort.py,tic_tac_toe", "run.name=s"]
    monkeypatch.chdir(Path(__file__).parents[2])
    assert main(["train", "--multirun", f"run.root={tmp_path}", *words]) == 0
    assert trained == [
        ("othello:6", "othello_6/s_game=othello_6x6"),
        ("connect_x:4x4x3", "connect_x_4x4x3/s_game=connect_x_4x4x3"),
        ("examples/snort.py", "snort/s_game=snort"),
        ("tic_tac_toe", "tic_tac_toe/s_game=tic_tac_toe"),
    ]


@pytest.mark.slow
def test_a_sweep_chosen_by_hydras_mode_is_named_by_what_differs(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "_train", lambda *_, **__: 0)
    monkeypatch.setattr(train, "_strength", lambda folder: 0.0)
    words = ["hydra.mode=MULTIRUN", f"run.root={tmp_path}", "run.name=s"]
    assert main(["train", *words, "seed=1"]) == 0
    assert main(["train", *words, "seed=1,2", "learner=sgd"]) == 0
    assert names_in(tmp_path / "tic_tac_toe") == ["s", "s_seed=1", "s_seed=2"]


@pytest.mark.slow
def test_a_failing_run_ends_the_sweep_with_its_status(tmp_path, monkeypatch, capsys):
    def fail(settings, folder, resumed, varied):
        if settings.seed == 2:
            raise ConfigError("this run cannot be")
        return 0

    monkeypatch.setattr(train, "_train", fail)
    monkeypatch.setattr(train, "_strength", lambda folder: 0.0)
    assert main(["train", "-m", f"run.root={tmp_path}", "run.name=s", "seed=1,2,3"]) == 2
    assert capsys.readouterr().err == "error: this run cannot be\n"
    assert names_in(tmp_path / "tic_tac_toe") == ["s_seed=1", "s_seed=2"]


# --- grammar --------------------------------------------------------------------------------------


def test_a_plus_before_a_known_key_and_a_tilde_before_a_group_are_understood():
    settings = compose(["++seed=4", "+experiment=dummy_run", "~pit", "+learner.batch_size=7"])
    assert (settings.seed, settings.learner.batch_size, settings.pit.every) == (4, 7, 1)
    assert compose(["experiment=dummy_run", "~experiment"]).pit.every == 0
    assert compose(["experiment=dummy_run", "+game=othello:6"]).game.name == "othello:6"


def test_interpolations_are_resolved():
    settings = compose(["seed=${learner.batch_size}", "learner.batch_size=32"])
    assert settings.seed == 32


# --- shell completion -----------------------------------------------------------------------------


def proposals(capsys, monkeypatch, line) -> list[str]:
    monkeypatch.setenv("COMP_LINE", line)
    assert main(["-sc", "query=bash"]) == 0
    return capsys.readouterr().out.split()


@pytest.mark.slow
def test_the_shell_completes_commands_groups_choices_and_settings(capsys, monkeypatch):
    assert proposals(capsys, monkeypatch, "alphazero tr") == list(COMMANDS)
    assert "game=" in proposals(capsys, monkeypatch, "alphazero train ga")
    found = proposals(capsys, monkeypatch, "alphazero train --multirun game=connect")
    assert {"game=connect_four", "game=connect_x"} <= set(found)
    assert all(text.startswith("game=connect") for text in found)
    found = proposals(capsys, monkeypatch, "alphazero train seed=1 learner.b")
    assert found == ["learner.batch_size="]
    assert proposals(capsys, monkeypatch, "alphazero play se") == []


def test_the_script_for_the_shell_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["alphazero"])
    for words in (["-sc", "install=bash"], ["train", "-sc", "install=bash"]):
        assert main(words) == 0
        assert capsys.readouterr().out.rstrip().endswith("hydra_bash_completion alphazero")
