"""`alphazero train`: help, bad input, sweeps, Ctrl-C, resume, and what the loggers write."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from tensorboard.util import tensor_util

import alphazero as az
from alphazero.cli import main
from alphazero.cli.train import program
from alphazero.config import settings as config
from alphazero.games.registry import make_game
from alphazero.learner.report import LearnerReport
from alphazero.network.weights import load_network, save_network
from alphazero.players.base import PlayerSettings
from alphazero.players.network import load_network_player
from alphazero.runtime.errors import ConfigError
from alphazero.storage.checkpoint import load_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.events import IterationReport, flat
from alphazero.training.loggers.console import ConsoleLogger
from alphazero.training.reports import SelfPlayReport
from alphazero.training.run_config import compose, config_groups
from alphazero.training.settings import TrainSettings

TINY = (
    "network.blocks=1 network.channels=4 network.value_units=4 evaluation.opening_plies=2 "
    "evaluation.num_games=2 evaluation.final_num_games=2 pit.num_games=2 evaluator.engine=torch "
    "evaluator.precision=float32 learner.precision=float32 device=cpu run.num_threads=1"
).split()
_UNMEASURED = "evaluation.prove=false evaluation.every=0 evaluation.final_num_games=0 pit.every=0"
QUICK = ["experiment=dummy_run", *TINY, *_UNMEASURED.split()]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def train(capsys, *words):
    """Return (exit status, standard output, standard error)."""
    status = main(["train", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    """A run of three iterations, of which the last was made by a resume."""
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("runs")
    words = [
        "game=tic_tac_toe",
        "experiment=dummy_run",
        *TINY,
        f"run.root={root}",
        "run.name=tiny",
        "run.num_iterations=2",
        "evaluation.every=2",
    ]
    assert main(["train", *words]) == 0
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


def test_the_help_of_a_section_has_its_settings_alone(capsys):
    status, out, _ = train(capsys, "game=connect_four", "--help", "learner")
    keys = re.findall(r"^  ([\w.]+)=", out, re.MULTILINE)
    of_learner = [row for row in config.rows(TrainSettings()) if row.key.startswith("learner.")]
    assert status == 0 and keys == [row.key for row in of_learner if row.value not in (None, "")]
    status, _, err = train(capsys, "--help", "lerner")
    assert status == 2 and "lerner" in err and "learner" in err


def test_the_help_is_one_page(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = train(capsys, "--help")
    assert len(out.splitlines()) <= 62
    sections = {row.key.partition(".")[0] for row in config.rows(TrainSettings()) if "." in row.key}
    assert sections <= set(out.split())


def test_the_help_has_every_choice_and_examples(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = train(capsys, "--help")
    assert max(map(len, out.splitlines())) <= 80
    words = set(out.replace(",", " ").split())
    for group, choices in config_groups().items():
        assert len(choices) == 1 or {group, *choices} <= words
    assert "alphazero train resume=latest" in out


def test_help_shows_the_values_of_the_words_before_it(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    values = {
        key: text.split()[0]
        for key, text in help_of(capsys, "game=connect_four", "seed=77").items()
        if text
    }
    assert (values["seed"], values["game.name"]) == ("77", "connect_four")


@pytest.mark.parametrize(
    "words",
    (
        "foo=1",
        "+foo=1",
        "experiment=typo",
        "selfplay.num_simulations=0",
        "device=cuda:99",
        "network=tiny network.kernel_size=9",
        "run.name=..",
        "game.name=chess",
        "--nonsense",
        "--multirun seed=1,2,x",
        "--multirun seed=1 learner=adam,rmsprop",
        "resume=latest",
        "resume=nowhere",
    ),
)
def test_bad_words_are_refused_in_one_line_and_nothing_is_made(
    tmp_path, monkeypatch, capsys, words
):
    monkeypatch.chdir(tmp_path)
    status, out, err = train(capsys, *words.split())
    assert (status, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_is_refused(tmp_path, capsys):
    (tmp_path / "tic_tac_toe" / "mine").mkdir(parents=True)
    status, _, err = train(capsys, f"run.root={tmp_path}", "run.name=mine")
    assert status == 2 and "run.name=mine" in err
    assert list((tmp_path / "tic_tac_toe" / "mine").iterdir()) == []


def test_a_resume_that_cannot_begin_leaves_the_run_as_it_was(finished_run, capsys, monkeypatch):
    from alphazero.inference.engines import openvino_engine

    before = (finished_run.path / "config.yaml").read_bytes()
    monkeypatch.setattr(openvino_engine, "openvino", None)
    status, _, err = train(
        capsys, f"resume={finished_run.path}", "evaluator.engine=openvino", "run.num_iterations=9"
    )
    assert status == 2 and "OpenVINO" in err and err.count("\n") == 1
    assert (finished_run.path / "config.yaml").read_bytes() == before


def test_the_module_is_the_command(tmp_path):
    command = [sys.executable, "-m", "alphazero", "train", "foo=1"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("error: ") and "foo" in found.stderr
    assert os.listdir(tmp_path) == []


# --- runs -----------------------------------------------------------------------------------------


def test_a_sweep_makes_a_run_for_each_combination(tmp_path, capsys):
    words = [*QUICK, f"run.root={tmp_path}", "run.name=s", "run.num_iterations=1"]
    status, out, _ = train(capsys, "--multirun", *words, "seed=3,4", "learner=adam,sgd")
    assert status == 0
    folders = sorted((tmp_path / "tic_tac_toe").iterdir())
    combinations = [f"seed={seed}_learner={name}" for seed in (3, 4) for name in ("adam", "sgd")]
    assert [folder.name for folder in folders] == [f"s_{text}" for text in combinations]
    configs = [RunFolder(folder).read_config() for folder in folders]
    made = [(config["seed"], config["learner"]["optimizer"]) for config in configs]
    assert made == [(3, "adam"), (3, "sgd"), (4, "adam"), (4, "sgd")]
    assert "4 of 4" in out


def test_a_run_prints_its_place_its_strength_and_further_commands(tmp_path, capsys):
    words = ["experiment=dummy_run", *TINY, f"run.root={tmp_path}", "run.name=one"]
    status, out, _ = train(capsys, *words, "run.num_iterations=1", "evaluation.prove=false")
    folder = tmp_path / "tic_tac_toe" / "one"
    assert status == 0
    text = " ".join(out.split())
    assert f"tic_tac_toe in {folder}" in text
    assert "weights on cpu" in text and "torch float32" in text
    assert "% against uct" in text.lower() and "95% interval" in text
    assert f"alphazero train resume={folder} run.num_iterations=2" in text
    assert f"alphazero play game=tic_tac_toe second={folder}/networks/000001.safetensors" in text


class Interrupt:
    """Stops a run by a signal, that of Ctrl-C or another, at its n-th event of a kind."""

    def __init__(self, monkeypatch, method, count, number=signal.SIGINT):
        self.count, original = count, getattr(ConsoleLogger, method)

        def stopping(logger, event):
            original(logger, event)
            self.count -= 1
            if self.count == 0:
                signal.raise_signal(number)

        monkeypatch.setattr(ConsoleLogger, method, stopping)


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM), ids=("Ctrl-C", "SIGTERM"))
def test_a_stopped_run_keeps_what_is_finished_and_the_resumed_run_is_the_same(
    number, tmp_path, capsys, monkeypatch
):
    words = [*QUICK, f"run.root={tmp_path}", "run.num_iterations=3"]
    assert train(capsys, *words, "run.name=whole")[0] == 0
    folder = tmp_path / "tic_tac_toe" / "parts"
    with monkeypatch.context() as patch:
        Interrupt(patch, "progress", 25, number)  # an iteration has nine: games and learning
        status, out, _ = train(capsys, *words, "run.name=parts")
    assert status == 130
    kept = load_state(folder / "state.safetensors")["iteration"]
    assert 1 <= kept <= 2
    assert f"Iteration {kept}" in out and f"alphazero train resume={folder}" in out
    status, out, _ = train(capsys, f"resume={folder}")
    assert status == 0 and f"iteration {kept} of tic_tac_toe" in out
    runs = [RunFolder(tmp_path / "tic_tac_toe" / name) for name in ("parts", "whole")]
    ours, theirs = (load_network(run.network(3)).arrays for run in runs)
    assert all((ours[name] == theirs[name]).all() for name in theirs)
    assert [line["iteration"] for line in metrics(runs[0])] == [1, 2, 3]


def test_ctrl_c_in_the_first_iteration_leaves_nothing_to_resume(tmp_path, capsys, monkeypatch):
    Interrupt(monkeypatch, "progress", 2)
    status, out, _ = train(capsys, *QUICK, f"run.root={tmp_path}", "run.name=x")
    assert status == 130 and "resume=" not in out
    assert not tmp_path.exists() or not list(tmp_path.iterdir())


def test_a_stopped_run_removes_nothing_of_other_runs(finished_run, capsys, monkeypatch):
    root = finished_run.path.parents[1]
    before = sorted(root.rglob("*"))
    Interrupt(monkeypatch, "progress", 2)
    status, _, _ = train(capsys, *QUICK, f"run.root={root}", "run.name=x")
    assert status == 130 and sorted(root.rglob("*")) == before


def test_a_stopped_run_keeps_the_files_that_its_folder_held(tmp_path, capsys, monkeypatch):
    (tmp_path / "notes.txt").write_text("mine")
    Interrupt(monkeypatch, "progress", 2)
    status, _, _ = train(capsys, *QUICK, f"hydra.run.dir={tmp_path}")
    assert status == 130 and (tmp_path / "notes.txt").read_text() == "mine"


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
    folder.state.write_bytes(folder.state.read_bytes()[:1000])
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
    return re.search(r"(?i)train it further: +\S*alphazero (train .+)", out)[1].split()


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


def test_a_run_is_not_resumed_as_another_game(finished_run, capsys):
    status, out, err = train(capsys, f"resume={finished_run.path}", "game=othello")
    assert (status, out) == (2, "")
    assert "game=othello" in err and "tic_tac_toe" in err


@pytest.mark.parametrize("word", ("network=4x48", "experiment=dummy_run", "pit=on"))
def test_a_resumed_run_takes_no_choice_of_a_config_group(finished_run, word, capsys):
    status, out, err = train(capsys, f"resume={finished_run.path}", word)
    assert (status, out) == (2, "") and err.count("\n") == 1
    assert f"{word.partition('=')[0]}=" in err and "resume=" in err and "mean" not in err


@pytest.mark.parametrize(
    "word",
    (
        "network.channels=8",
        "learner.optimizer=sgd",
        "selfplay.num_parallel_games=2",
        "run.num_iterations=0",
        "run.num_iterations=many",
        "pit.num_games=5",
        "evaluation.opening_plies=9",
        "learner=sgd",
        "foo=1",
        "foo",
    ),
)
def test_what_a_resumed_run_cannot_change_is_refused_and_its_settings_stay(
    finished_run, capsys, word
):
    before = finished_run.config.read_bytes()
    status, _, err = train(capsys, f"resume={finished_run.path}", word)
    assert status == 2
    assert word.partition("=")[0] in err and err.count("\n") == 1
    assert finished_run.config.read_bytes() == before


def test_resume_latest_looks_among_the_runs_of_the_game(finished_run, capsys):
    root = finished_run.path.parents[1]
    status, out, _ = train(capsys, f"run.root={root}", "resume=latest", "game=tic_tac_toe")
    assert status == 0 and str(finished_run.path) in out
    status, _, err = train(capsys, f"run.root={root}", "resume=latest", "game=othello_6x6")
    assert status == 2 and "othello:6" in err


def test_the_settings_are_stored_with_what_a_resume_changed(finished_run):
    stored = config.from_plain(TrainSettings, finished_run.read_config())
    assert stored.run.num_iterations == 3
    expected = compose(["game=tic_tac_toe", "experiment=dummy_run", *TINY])
    assert (stored.network, stored.selfplay, stored.learner) == (
        expected.network,
        expected.selfplay,
        expected.learner,
    )


# --- what the loggers write -----------------------------------------------------------------------

SCALARS = """
    loss/total loss/policy loss/value policy/entropy_network policy/entropy_search
    value/absolute_error value/calibration_error learner/learning_rate learner/gradient_norm
    learner/weight_norm learner/steps replay/window_samples replay/new_samples games/length_plies
    games/first_player_wins games/draws games/distinct_fraction search/depth search/mean_batch
    speed/positions_per_s speed/simulations_per_s speed/evaluations_per_s
    speed/evaluator_fraction time/selfplay_s time/learner_s time/elapsed_s pit/score
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


def test_tensorboard_has_the_strength_the_proof_and_their_steps(events):
    for tag in (
        "strength/score",
        "strength/elo",
        "interval/strength_score_low",
        "interval/strength_score_high",
        "strength/distinct_games",
        "proof/misplayed_positions",
        "proof/lost_games",
    ):
        assert [event.step for event in events.Scalars(tag)] == [2, 3], tag


def test_tensorboard_shows_sample_games(events):
    texts = events.Tensors("sample_game/text_summary")
    assert [event.step for event in texts] == [1, 2, 3]
    for event in texts:
        text = tensor_util.make_ndarray(event.tensor_proto).item().decode()
        assert "plies" in text and text.startswith("```")


def test_tensorboard_has_the_changed_settings_and_metrics_that_are_curves(events):
    contents = {
        name: HParamsPluginData.FromString(
            events.summary_metadata[f"_hparams_/{name}"].plugin_data.content
        )
        for name in ("experiment", "session_start_info", "session_end_info")
    }
    changed = contents["session_start_info"].session_start_info.hparams
    assert changed["game"].string_value == "tic_tac_toe"
    assert changed["network.channels"].number_value == 4
    assert not {"learner.weight_decay", "evaluator.engine", "run.root"} & set(changed)
    metrics = {info.name.tag for info in contents["experiment"].experiment.metric_infos}
    assert {"proof/misplayed_positions", "strength/elo", "loss/policy"} <= metrics
    assert metrics <= set(events.Tags()["scalars"])


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


def test_a_stored_network_may_lack_a_setting_but_have_none_that_is_unknown(finished_run, tmp_path):
    stored = load_network(finished_run.network(3))
    older = {key: value for key, value in stored.settings.items() if key != "policy_units"}
    assert len(older) == len(stored.settings) - 1
    save_network(tmp_path / "older.safetensors", stored.arrays, stored.game, older, {})
    game = make_game("tic_tac_toe")
    players = [
        load_network_player(game, path, PlayerSettings(num_simulations=8, device="cpu"))
        for path in (tmp_path / "older.safetensors", finished_run.network(3))
    ]
    ours, theirs = (player.choose(game.initial_states(1)) for player in players)
    assert np.array_equal(ours.action_weights, theirs.action_weights)
    save_network(
        tmp_path / "newer.safetensors",
        stored.arrays,
        stored.game,
        stored.settings | {"quantum_head": True},
        {},
    )
    with pytest.raises(ConfigError) as refused:
        load_network_player(
            game, tmp_path / "newer.safetensors", PlayerSettings(num_simulations=8, device="cpu")
        )
    assert refused.value.key == "quantum_head"
    assert "newer.safetensors" in str(refused.value)


def test_what_is_not_a_number_becomes_null():
    row = flat(IterationReport(1, SelfPlayReport(), LearnerReport(loss=math.inf, value_loss=0.5)))
    losses = [row[f"learner.{name}"] for name in ("loss", "policy_loss", "value_loss")]
    assert losses == [None, None, 0.5]


def test_what_next_can_be_typed_where_the_program_is_not_on_the_path(tmp_path, monkeypatch):
    (tmp_path / "alphazero").touch()
    monkeypatch.setattr("sys.argv", [str(tmp_path / "alphazero")])
    monkeypatch.setenv("PATH", "")
    assert program() == str(tmp_path / "alphazero")
    assert program("tensorboard") == "tensorboard"  # which is not beside it
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert program() == "alphazero"
