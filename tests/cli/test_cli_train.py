"""`alphazero train`: help, bad input, sweeps, Ctrl-C, resume, and what the loggers write."""

import contextlib
import io
import json
import math
import re
import shlex
import shutil
import signal
from types import SimpleNamespace

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import alphazero as az
from alphazero.cli import main
from alphazero.cli.train import _strength
from alphazero.config import settings as config
from alphazero.config.command_line import from_overrides
from alphazero.inference.engines import openvino_engine
from alphazero.network.weights import load_network
from alphazero.players.base import PlayerSettings
from alphazero.runtime.errors import ConfigError
from alphazero.storage.checkpoint import load_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.loggers.console import ConsoleLogger
from alphazero.training.run_config import config_groups
from alphazero.training.settings import TrainSettings

TINY = (
    "network.blocks=1 network.channels=4 network.value_units=4 evaluation.opening_plies=2 "
    "evaluation.num_games=2 evaluation.final_num_games=2 pit.num_games=2 evaluator.engine=torch "
    "evaluator.precision=float32 learner.precision=float32 device=cpu run.num_threads=1"
).split()
_UNMEASURED = "evaluation.prove=false evaluation.every=0 evaluation.final_num_games=0 pit.every=0"
QUICK = ["experiment=dummy_run", *TINY, *_UNMEASURED.split()]


def train(capsys, *words):
    """Return (exit status, standard output, standard error)."""
    status = main(["train", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("my runs")


@pytest.fixture(scope="module")
def first_output(root):
    """Train two iterations; return what is printed."""
    torch.set_num_threads(1)
    words = ["game=tic_tac_toe", "experiment=dummy_run", *TINY, f"run.root={root}", "run.name=tiny"]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert main(["train", *words, "run.num_iterations=2", "evaluation.every=2"]) == 0
    return output.getvalue()


@pytest.fixture(scope="module")
def finished_run(root, first_output):
    """A run of three iterations, of which the last was made by a resume."""
    assert main(["train", f"run.root={root}", "resume=latest", "run.num_iterations=3"]) == 0
    return RunFolder(root / "tic_tac_toe" / "tiny")


# --- help, refusals -------------------------------------------------------------------------------


def help_of(capsys, *words) -> dict[str, str]:
    """Return what follows each key in the help of `alphazero train`: default, then range."""
    status, out, err = train(capsys, *words, "--help", "all")
    assert (status, err) == (0, "")
    titles = re.findall(r"^  ([\w.]+)(?:=(.*))?$", out, re.MULTILINE)
    return {key: default for key, default in titles}


@pytest.mark.parametrize("columns", ("80", "160"))
def test_the_help_has_every_key_and_its_allowed_values(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    found = help_of(capsys)
    for key, _, _, allowed in config.rows(TrainSettings()):
        assert found[key].endswith(f"[{allowed}]" if allowed else ""), key


def test_the_help_is_short_and_has_every_choice(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = train(capsys, "--help")
    assert max(map(len, out.splitlines())) <= 80 and len(out.splitlines()) <= 80
    words = set(out.replace(",", " ").split())
    for group, choices in config_groups().items():
        assert len(choices) == 1 or {group, *choices} <= words


# --- runs -----------------------------------------------------------------------------------------


def interrupt(monkeypatch, iteration, number=signal.SIGINT):
    """Stop a run while it learns in an iteration, by the signal of Ctrl-C or another."""
    original = ConsoleLogger.show

    def show(logger, event):
        original(logger, event)
        if event.iteration == iteration and getattr(event, "stage", None) == "learning":
            signal.raise_signal(number)

    monkeypatch.setattr(ConsoleLogger, "show", show)


def test_a_stopped_run_keeps_what_is_finished_and_the_resumed_run_is_the_same(
    tmp_path, capsys, monkeypatch
):
    words = [*QUICK, f"run.root={tmp_path}", "run.num_iterations=3"]
    assert train(capsys, *words, "run.name=whole")[0] == 0
    folder = tmp_path / "tic_tac_toe" / "parts"
    with monkeypatch.context() as patch:
        interrupt(patch, 3)
        status, out, _ = train(capsys, *words, "run.name=parts")
    assert status == 130
    kept = load_state(folder / "state.safetensors")["iteration"]
    assert kept == 2
    assert f"Iteration {kept}" in out and f"alphazero train resume={folder}" in out
    status, out, _ = train(capsys, f"resume={folder}")
    assert status == 0 and f"iteration {kept} of tic_tac_toe" in out
    runs = [RunFolder(tmp_path / "tic_tac_toe" / name) for name in ("parts", "whole")]
    ours, theirs = (load_network(run.network(3)).arrays for run in runs)
    assert all((ours[name] == theirs[name]).all() for name in theirs)
    assert [line["iteration"] for line in metrics(runs[0])] == [1, 2, 3]


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM), ids=("Ctrl-C", "SIGTERM"))
def test_a_run_stopped_in_its_first_iteration_leaves_nothing_and_removes_nothing_else(
    number, finished_run, root, capsys, monkeypatch
):
    before = sorted(root.rglob("*"))
    interrupt(monkeypatch, 1, number)
    status, out, _ = train(capsys, *QUICK, f"run.root={root}", "run.name=x")
    assert status == 130 and "resume=" not in out
    assert sorted(root.rglob("*")) == before


def test_an_iteration_is_printed_when_it_is_stored(tmp_path, capsys, monkeypatch):
    save_games = RunFolder.save_games

    def stopped(folder, iteration, records):
        if iteration == 2:
            raise KeyboardInterrupt
        save_games(folder, iteration, records)

    folder = RunFolder(tmp_path / "tic_tac_toe" / "writing")
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "save_games", stopped)
        status, out, _ = train(capsys, *QUICK, f"run.root={tmp_path}", "run.name=writing")
    assert status == 130
    assert "Iteration 1 " in out and numbers_of_lines(out) == [1]
    assert load_state(folder.state)["iteration"] == 1
    assert [line["iteration"] for line in metrics(folder)] == [1, 2]
    status, out, _ = train(capsys, f"resume={folder.path}")
    assert status == 0 and numbers_of_lines(out) == [2]
    assert [line["iteration"] for line in metrics(folder)] == [1, 2]  # iteration 2 only once


def numbers_of_lines(out):
    """Return the iterations whose lines a run has printed."""
    return [int(number) for number in re.findall(r"(?m)^ +(\d+) +\d+\.?\d*", out)]


def test_a_damaged_state_is_refused_and_the_networks_are_named(finished_run, tmp_path, capsys):
    folder = RunFolder(shutil.copytree(finished_run.path, tmp_path / "damaged"))
    for path in folder.states:
        path.write_bytes(path.read_bytes()[:1000])
    status, _, err = train(capsys, f"resume={folder.path}", "run.num_iterations=9")
    assert status == 2
    assert str(folder.state) in err and str(folder.path / "networks") in err


def test_a_run_is_trained_by_one_learner_at_a_time(finished_run, tmp_path, capsys):
    copied = shutil.copytree(finished_run.path, tmp_path / "copied")
    command = [f"resume={copied}", "run.num_iterations=5"]
    settings = az.load_run(copied).settings
    assert settings.run.num_iterations == 3
    with RunFolder(copied).locked():
        status, _, err = train(capsys, *command)
        assert status == 2 and f"resume={copied}" in err
        with pytest.raises(ConfigError) as refused:
            next(az.train(resume=copied))
        assert refused.value.key == "resume"
    assert az.load_run(copied).settings == settings  # the refused command stored nothing
    status, out, _ = train(capsys, *command)
    assert status == 0 and numbers_of_lines(out) == [4, 5]
    assert not (copied / ".lock").exists()


def test_a_finished_run_is_not_continued(finished_run, tmp_path, capsys):
    status, out, _ = train(capsys, f"resume={finished_run.path}")
    assert status == 0
    assert str(finished_run.path) in out and "3 iterations" in out
    copied = shutil.copytree(finished_run.path, tmp_path / "copied")
    status, out, _ = train(capsys, f"resume={copied}", "run.num_iterations=1")
    assert status == 0 and printed_command(out)[2:] == ["run.num_iterations=6"]


def printed_command(out):
    """Return the arguments of the command that trains a run further."""
    return shlex.split(re.search(r"(?i)train it further: +\S*alphazero (train .+)", out)[1])


@pytest.mark.slow
def test_a_sweep_ends_with_the_strength_of_each_run(tmp_path, capsys):
    words = ["--multirun", *QUICK, "run.num_iterations=1", f"run.root={tmp_path}"]
    status, out, _ = train(capsys, *words, "evaluation.final_num_games=2,0")
    assert status == 0
    scores = [metrics(RunFolder(path))[-1].get("strength.score") for path in tmp_path.glob("*/*")]
    (score,) = (score for score in scores if score is not None)
    names = [path.name for path in tmp_path.glob("*/*")]
    rows = [line.split() for line in out.splitlines() if line.split(" ")[0] in names]
    assert [row[1:] for row in rows] == [[f"{100 * score:.1f}"], []]
    row = {"strength.score": 0.5, "exact.accuracy": 0.9}
    assert _strength(SimpleNamespace(read_metrics=lambda: [{}, row])) == "90.0"


@pytest.mark.slow
def test_the_printed_command_trains_a_run_further_whatever_limit_ended_it(tmp_path, capsys):
    words = ["experiment=dummy_run", *TINY, *_UNMEASURED.split(), f"run.root={tmp_path}"]
    limits = ["run.num_iterations=9", "run.time_limit_s=0.01"]
    status, out, _ = train(capsys, *words, "run.name=short", *limits)
    assert status == 0
    command = printed_command(out)
    folder = RunFolder(tmp_path / "tic_tac_toe" / "short")
    assert command[1] == f"resume={folder.path}"
    key, _, limit = command[2].partition("=")
    # The first iteration took longer than its limit: twice the limit would change nothing.
    assert key == "run.time_limit_s" and float(limit) >= 2 * metrics(folder)[-1]["elapsed_s"]
    status, out, _ = train(capsys, *command[1:2])
    assert status == 0 and "run.time_limit_s=0.01" in out
    assert printed_command(out)[:2] == command[:2]
    status, out, _ = train(capsys, *command[1:2], "run.time_limit_s=1000", "run.num_iterations=2")
    assert status == 0 and "Resuming after iteration 1 " in out
    assert printed_command(out)[2:] == ["run.num_iterations=4"]


@pytest.mark.parametrize(
    "word",
    (
        "network.channels=8",
        "learner.optimizer=sgd",
        "run.num_iterations=many",
        "evaluation.opening_plies=9",
        "network=4x48",
        "experiment=dummy_run",
        "seed=5",
        "run.num_iterations=1000001",
        "foo=1",
        "foo",
    ),
)
def test_what_a_resumed_run_cannot_change_is_refused_and_its_settings_stay(
    finished_run, capsys, word
):
    before = finished_run.config.read_bytes()
    status, out, err = train(capsys, f"resume={finished_run.path}", word)
    assert (status, out) == (2, "")
    assert word.partition("=")[0] in err and err.count("\n") == 1
    assert finished_run.config.read_bytes() == before


def test_a_run_that_was_moved_prints_commands_for_its_new_place(
    finished_run, tmp_path, capsys, monkeypatch
):
    shutil.copytree(finished_run.path, tmp_path / "new" / "tic_tac_toe" / "tiny")
    monkeypatch.chdir(tmp_path / "new")
    for folder, root in (("tic_tac_toe/tiny", "."), ("../new/tic_tac_toe/tiny", "../new")):
        words = [f"resume={folder}", f"run.num_iterations={4 + root.count('new')}"]
        status, out, _ = train(capsys, *words, *_UNMEASURED.split())
        assert status == 0 and str(finished_run.path.parent) not in out
        assert f"runs={root}\n" in out and f"--logdir {root}\n" in out


def test_the_advice_without_openvino_works_when_it_is_typed(
    finished_run, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(openvino_engine, "openvino", None)
    folder = tmp_path / "tic_tac_toe" / "run"
    shutil.copytree(finished_run.path, folder)
    settings = finished_run.read_config()
    settings["evaluator"] |= {"engine": "openvino", "precision": "int8"}
    RunFolder(folder).write_config(settings)
    words = [f"resume={folder}", "run.num_iterations=4", *_UNMEASURED.split()]
    status, _, err = train(capsys, *words)
    assert status == 2 and "openvino" in err
    advice = re.findall(r"(\S+=auto)\b", err)
    assert train(capsys, *words, *(word for word in advice if "." in word))[0] == 0
    own = [word for word in advice if "." not in word]
    from_overrides(PlayerSettings, own, "alphazero match")
    assert len(own) == 2


# --- what the loggers write -----------------------------------------------------------------------

SCALARS = """
    loss/total loss/policy loss/value policy/entropy_network policy/entropy_search
    value/absolute_error value/calibration_error learner/learning_rate learner/gradient_norm
    learner/steps replay/window_samples replay/new_samples games/length_plies
    games/first_player_wins games/draws games/distinct_fraction search/depth search/mean_batch
    speed/positions_per_s speed/simulations_per_s speed/evaluations_per_s
    time/selfplay_s time/learner_s time/elapsed_s pit/score
    pit/accepted
""".split()


@pytest.fixture(scope="module")
def events(finished_run):
    accumulator = EventAccumulator(str(finished_run.path))
    accumulator.Reload()
    return accumulator


def metrics(folder):
    return [
        json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        for line in folder.metrics.read_text().splitlines()
    ]


def test_tensorboard_has_every_promised_figure_of_every_iteration(events):
    tags = events.Tags()["scalars"]
    assert set(SCALARS) <= set(tags)
    for tag in SCALARS:
        assert [event.step for event in events.Scalars(tag)] == [1, 2, 3], tag
        assert all(math.isfinite(event.value) for event in events.Scalars(tag)), tag


def test_every_line_of_the_metrics_is_json_and_agrees_with_tensorboard(finished_run, events):
    lines = metrics(finished_run)
    assert [line["iteration"] for line in lines] == [1, 2, 3]
    assert [line["last"] for line in lines] == [False, True, True]
    for tag, key in {
        "loss/total": "learner.loss",
        "games/length_plies": "selfplay.game_length",
        "pit/score": "pit.score",
    }.items():
        assert [line[key] for line in lines] == pytest.approx(
            [event.value for event in events.Scalars(tag)]
        )
    assert "strength.score" in lines[1] and "strength.score" not in lines[0]
    for line in lines:
        assert not any(isinstance(value, (list, dict)) for value in line.values())
