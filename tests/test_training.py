"""The training loop: a run that stops and goes on is the run that never stopped, the gate keeps or restores, old files go, time ends it."""

import dataclasses
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from alphazero.cli import main
from alphazero.games.registry import make_game
from alphazero.inference.engines.torch_engine import TorchEngine
from alphazero.inference.network_evaluator import NetworkEvaluator
from alphazero.network.residual import ResidualNetwork
from alphazero.network.weights import load_network, network_arrays
from alphazero.runtime.errors import ConfigError
from alphazero.storage.checkpoint import load_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training import gate, strength
from alphazero.training import trainer as training
from alphazero.training.compose import compose
from alphazero.training.events import IterationReport, StageProgress
from alphazero.training.settings import check_resumable
from alphazero.training.trainer import Trainer

TINY = (
    "network.blocks=1 network.channels=4 network.head_channels=2 network.value_units=4 selfplay.num_parallel_games=6 selfplay.games_per_iteration=6 "
    "selfplay.num_simulations=6 selfplay.num_fast_simulations=3 selfplay.full_search_fraction=0.5 learner.batch_size=16 learner.replay_ratio=2 "
    "pit.num_games=4 pit.num_simulations=4 pit.opening_plies=2 evaluation.every=0 evaluation.num_games=0 evaluation.final_num_games=0 evaluation.exact=false "
    "evaluation.prove=false evaluator.engine=torch evaluator.precision=float32 learner.precision=float32 device=cpu run.num_threads=1 run.num_iterations=4"
).split()


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def make_trainer(path, *words, game="tic_tac_toe"):
    return Trainer(compose([f"game={game}", *TINY, *words]), RunFolder(path))


def reports(trainer):
    return [event for event in trainer.run() if isinstance(event, IterationReport)]


def assert_same(found, expected, where=""):
    if isinstance(expected, dict):
        assert set(found) == set(expected), where
        for key in expected:
            assert_same(found[key], expected[key], f"{where}/{key}")
    else:
        assert np.array_equal(found, expected, equal_nan=np.asarray(expected).dtype.kind == "f"), (
            where
        )


def figures(report):
    """Return what a report says of a run, apart from the clock."""
    clock = (
        "seconds",
        "positions_per_s",
        "simulations_per_s",
        "evaluations_per_s",
        "evaluator_fraction",
        "network_fraction",
    )
    games = {
        key: value for key, value in dataclasses.asdict(report.selfplay).items() if key not in clock
    }
    pit = None if report.pit is None else dataclasses.asdict(report.pit)
    return {
        "games": games,
        "learner": dataclasses.asdict(report.learner),
        "pit": pit,
        "window": report.window,
        "last": report.last,
    }


# --- stop and go on ---------------------------------------------------------------------------------------------------------------------

CASES = {
    "plain": ("tic_tac_toe", ""),
    "with a pit": ("tic_tac_toe", "pit.every=1 pit.acceptance=0.5"),
    "with a rarer pit and sgd": ("tic_tac_toe", "pit.every=3 pit.acceptance=0.4 learner=sgd"),
    "epochs and whole games": (
        "connect_four",
        "learner.epochs=2 selfplay.carry_over=false learner=adam",
    ),
    "a window that forgets": (
        "connect_four",
        "replay.window_start=20 replay.window_max=25 pit.every=2 search.reuse_tree=false",
    ),
    "random openings and bfloat16": (
        "tic_tac_toe",
        "selfplay.random_opening_fraction=0.5 learner.precision=bfloat16 evaluator.precision=bfloat16",
    ),
    "two threads": ("connect_four", "run.num_threads=2"),
    "int8 on two threads": (
        "connect_four",
        "run.num_threads=2 evaluator.engine=openvino evaluator.precision=int8",
    ),
    "the ownership head and averaged weights": (
        "tic_tac_toe",
        "network.ownership_head=true learner.ema_half_life_steps=3",
    ),
    "the ownership head, averaged weights and a pit": (
        "othello_4x4",
        "network.ownership_head=true learner.ema_half_life_steps=3 pit.every=1 pit.acceptance=0.5",
    ),
    "muon and an average": ("connect_four", "learner=muon learner.ema_half_life_steps=3"),
    "growing searches and random openings": (
        "connect_four",
        "selfplay.initial_num_simulations=3 selfplay.random_opening_fraction=0.5",
    ),
    "measured in between": (
        "tic_tac_toe",
        "evaluation.every=1 evaluation.num_games=2 evaluation.uct_simulations=9 evaluation.num_simulations=3",
    ),
}


def run_until(trainer, stop):
    """Run until ``stop(event)``, and leave everything as a killed process does."""
    for event in trainer.run():
        if stop(event):
            return
    raise AssertionError("the run ended before it was stopped")


@pytest.mark.parametrize("case", CASES)
def test_a_run_that_stops_and_goes_on_is_the_run_that_never_stopped(tmp_path, case):
    game, words = CASES[case]
    whole = make_trainer(tmp_path / "whole", *words.split(), game=game)
    expected = {report.iteration: figures(report) for report in reports(whole)}
    moments = (
        lambda event: (
            isinstance(event, StageProgress) and event.iteration == 3 and event.done == 2
        ),  # between two games: iteration 2 is the last kept
        lambda event: (
            isinstance(event, StageProgress) and event.iteration == 3 and event.stage == "learning"
        ),
        lambda event: (
            isinstance(event, IterationReport) and event.iteration == 4
        ),  # told, but not stored: it is made again
    )
    resumed = make_trainer(tmp_path / "parts", *words.split(), game=game)
    for stop, kept in zip(moments, (2, 2, 3)):
        run_until(resumed, stop)
        resumed = make_trainer(tmp_path / "parts", *words.split(), game=game)
        resumed.restore()
        assert resumed.iteration == kept
    found = {report.iteration: figures(report) for report in reports(resumed)}
    for iteration in found:
        assert_same(found[iteration], expected[iteration], str(iteration))
    assert_same(without_clock(resumed.state_dict()), without_clock(whole.state_dict()))
    for kind in ("networks", "games"):
        names = sorted(path.name for path in (tmp_path / "whole" / kind).iterdir())
        assert names and names == sorted(
            path.name for path in (tmp_path / "parts" / kind).iterdir()
        )
    for name in names:
        assert_same(
            load_state(tmp_path / "parts" / "games" / name),
            load_state(tmp_path / "whole" / "games" / name),
            name,
        )


def without_clock(state):
    """Return a run's state without the time, and without what older games left behind the last ply of those under way."""
    for games in state["selfplay"].values():
        behind = np.arange(games["actions"].shape[1]) >= games["plies"][:, None]
        for name, array in games.items():
            if name in (
                "states",
                "actions",
                "action_weights",
                "root_values",
                "players",
                "is_target",
                "surprises",
            ):
                array[behind] = 0
    return {key: value for key, value in state.items() if key != "elapsed_s"}


def test_another_seed_is_another_run_and_the_same_seed_the_same(tmp_path):
    first, again, other = (
        make_trainer(tmp_path / name, f"seed={seed}", "run.num_iterations=1")
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    for trainer in (first, again, other):
        reports(trainer)
    assert_same(network_arrays(again.learner.network), network_arrays(first.learner.network))
    assert not np.array_equal(
        network_arrays(other.learner.network)["policy.weight"],
        network_arrays(first.learner.network)["policy.weight"],
    )


def test_a_killed_run_loses_its_unfinished_iteration_only(tmp_path, capsys):
    words = [
        "game=tic_tac_toe",
        *TINY,
        "learner.schedule=constant",
        f"run.root={tmp_path}",
        "run.name=killed",
        "run.num_iterations=100000",
    ]
    folder = RunFolder(tmp_path / "tic_tac_toe" / "killed")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "OMP_NUM_THREADS": "1",
    }
    with open(tmp_path / "log", "w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "alphazero", "train", *words],
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            for _ in range(3000):
                if folder.network(3).is_file() or process.poll() is not None:
                    break
                time.sleep(0.1)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    assert process.returncode == -signal.SIGKILL, (tmp_path / "log").read_text()
    kept = load_state(folder.state)["iteration"]
    assert kept >= 2
    assert main(["train", f"resume={folder.path}", f"run.num_iterations={kept + 2}"]) == 0
    assert f"Going on after iteration {kept} of tic_tac_toe" in capsys.readouterr().out
    lines = [line.split(",")[0] for line in folder.metrics.read_text().splitlines()]
    assert lines == [f'{{"iteration": {iteration}' for iteration in range(1, kept + 3)]
    whole = make_trainer(
        tmp_path / "whole", "learner.schedule=constant", f"run.num_iterations={kept + 2}"
    )
    reports(whole)
    assert_same(
        load_network(folder.network(kept + 2)).arrays, network_arrays(whole.learner.network)
    )


# --- the gate -----------------------------------------------------------------------------------------------------------------------------


def score_pits(monkeypatch, scores):
    """Let the pits end with these scores, without playing; return the networks that met, as (new, old) priors of the start position."""
    met, scores = [], iter(scores)

    def play_match(game, new_player, old_player, *_, **__):
        met.append(
            tuple(
                player.analyse(game.initial_states()[0]).value
                for player in (new_player, old_player)
            )
        )
        return SimpleNamespace(score=next(scores), wins=0, draws=0, losses=0)

    monkeypatch.setattr(gate, "play_match", play_match)
    return met


def test_a_rejected_network_is_gone_and_an_accepted_one_stays(tmp_path, monkeypatch):
    met = score_pits(monkeypatch, [0.55, 0.54, 0.0, 1.0])
    trainer = make_trainer(tmp_path, "pit.every=1", "learner.learning_rate=0.05")
    start = network_arrays(trainer.learner.network)
    found = reports(trainer)
    assert [report.pit.accepted for report in found] == [True, False, False, True]
    weights = [load_network(trainer.folder.network(iteration)).arrays for iteration in (1, 2, 3, 4)]
    assert not np.array_equal(weights[0]["policy.weight"], start["policy.weight"])
    assert_same(weights[1], weights[0])
    assert_same(weights[2], weights[0])
    assert not np.array_equal(weights[3]["policy.weight"], weights[0]["policy.weight"])
    assert all(new != old for new, old in met)
    assert (
        met[1][1] == met[2][1] == met[3][1] == met[0][0]
    )  # the opponent is the last accepted network


def test_a_rejection_restores_the_optimiser_and_self_play_goes_on_with_the_old_network(
    tmp_path, monkeypatch
):
    score_pits(monkeypatch, [1.0, 0.0])
    trainer = make_trainer(tmp_path, "pit.every=1", "run.num_iterations=2")
    states = []
    for event in trainer.run():
        if isinstance(event, IterationReport):
            states.append(trainer.learner.state_dict())
    assert_same(states[1], states[0])
    planes = trainer.game.observe(trainer.game.initial_states())
    logits = trainer.learner.network.eval()(torch.from_numpy(planes)).prior_logits.detach().numpy()
    np.testing.assert_allclose(trainer.evaluator.evaluate(planes)[0], logits, atol=1e-4)


def test_averaged_weights_play_are_stored_and_come_back_with_a_rejection(tmp_path, monkeypatch):
    met = score_pits(monkeypatch, [1.0, 0.0])
    trainer = make_trainer(
        tmp_path,
        "pit.every=1",
        "run.num_iterations=2",
        "learner.ema_half_life_steps=20",
        "learner.learning_rate=0.05",
    )
    states = []
    for event in trainer.run():
        if isinstance(event, IterationReport):
            states.append(trainer.learner.state_dict())
    assert_same(states[1], states[0])  # the average of the accepted network too
    played, trained = (
        network_arrays(trainer.learner.played_network),
        network_arrays(trainer.learner.network),
    )
    assert not np.array_equal(played["policy.weight"], trained["policy.weight"])
    assert_same(load_network(trainer.folder.network(2)).arrays, played)
    planes = trainer.game.observe(trainer.game.initial_states())
    logits = trainer.learner.played_network(torch.from_numpy(planes)).prior_logits.numpy()
    np.testing.assert_allclose(trainer.evaluator.evaluate(planes)[0], logits, atol=1e-4)
    assert met[1][1] == met[0][0]
    again = make_trainer(
        tmp_path, "pit.every=1", "run.num_iterations=2", "learner.ema_half_life_steps=20"
    )
    again.restore()
    np.testing.assert_array_equal(
        again.evaluator.evaluate(planes)[0], trainer.evaluator.evaluate(planes)[0]
    )


def test_a_gate_that_always_opens_changes_nothing(tmp_path):
    open_gate, none = (
        make_trainer(tmp_path / "gate", "pit.every=1", "pit.acceptance=0"),
        make_trainer(tmp_path / "none"),
    )
    assert all(report.pit.accepted for report in reports(open_gate))
    assert all(report.pit is None for report in reports(none))
    assert_same(open_gate.learner.state_dict(), none.learner.state_dict())


def test_a_pit_leaves_no_evaluator_engine_or_network_behind(tmp_path):
    """Freed by reference counting alone: evaluators hold megabytes, and the collector may wait."""
    kinds = (NetworkEvaluator, TorchEngine, ResidualNetwork)
    trainer = make_trainer(tmp_path, "pit.every=1", "run.num_iterations=4")
    gc.collect()
    gc.disable()
    try:
        counts = [
            tuple(sum(type(one) is kind for one in gc.get_objects()) for kind in kinds)
            for event in trainer.run()
            if isinstance(event, IterationReport)
        ]
    finally:
        gc.enable()
    assert len(counts) == 4 and min(counts[0]) > 0
    assert set(counts) == {counts[0]}


def test_pits_come_every_so_many_iterations(tmp_path, monkeypatch):
    score_pits(monkeypatch, [0.0] * 9)
    trainer = make_trainer(tmp_path, "pit.every=2")
    start = network_arrays(trainer.learner.network)
    assert [report.pit is not None for report in reports(trainer)] == [False, True, False, True]
    assert_same(network_arrays(trainer.learner.network), start)  # nothing was ever accepted
    assert not np.array_equal(
        load_network(trainer.folder.network(3)).arrays["policy.weight"], start["policy.weight"]
    )


def test_a_gate_can_be_set_up_in_a_resumed_run(tmp_path, monkeypatch):
    met = score_pits(monkeypatch, [0.0])
    reports(make_trainer(tmp_path, "run.num_iterations=2"))
    resumed = make_trainer(tmp_path, "run.num_iterations=3", "pit.every=1")
    resumed.restore()
    kept = network_arrays(resumed.learner.network)
    assert [report.pit.accepted for report in reports(resumed)] == [False]
    assert_same(network_arrays(resumed.learner.network), kept)
    assert len(met) == 1


# --- measuring ----------------------------------------------------------------------------------------------------------------------------


def test_exact_moves_are_measured_when_due_and_change_nothing(tmp_path, monkeypatch):
    words = (
        "game.name=connect_x:5x5x4",
        "evaluation.num_simulations=4",
        "evaluation.every=2",
        "run.num_iterations=3",
    )
    plain = make_trainer(tmp_path / "plain", *words, game="connect_x")
    assert [report.exact for report in reports(plain)] == [None, None, None]
    measured = make_trainer(
        tmp_path / "measured", *words, "evaluation.exact=true", game="connect_x"
    )
    clock = iter(
        range(10**9)
    )  # a second passes with every look at it, and a thousand with every measurement
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    measure = strength.measure_accuracy

    def slow_measure(*args, **kwargs):
        for _ in range(1000):
            next(clock)
        return measure(*args, **kwargs)

    monkeypatch.setattr(strength, "measure_accuracy", slow_measure)
    found = reports(measured)
    assert [report.exact is not None for report in found] == [False, True, True]
    assert found[1].exact.num_positions == 500 and 0 < found[1].exact.raw_accuracy < 1
    assert found[1].measure_s > 2000 and found[-1].elapsed_s < 2000
    assert_same(network_arrays(measured.learner.network), network_arrays(plain.learner.network))
    assert_same(measured.selfplay.state_dict(), plain.selfplay.state_dict())


def test_no_exact_moves_are_measured_where_no_set_ships(tmp_path):
    (report,) = reports(make_trainer(tmp_path, "evaluation.exact=true", "run.num_iterations=1"))
    assert report.exact is None


# --- what it leaves behind, and when it ends ----------------------------------------------------------------------------------------------


def test_reports_tell_what_the_stored_games_say(tmp_path):
    trainer = make_trainer(tmp_path, "run.num_iterations=2", "run.sample_game_every=2")
    first, second = reports(trainer)
    records = trainer.folder.load_games(1, 1)
    results = [record.first_player_result for record in records]
    games = first.selfplay
    assert (games.num_games, games.num_positions) == (
        len(records),
        sum(len(record.actions) for record in records),
    )
    assert games.num_samples == sum(record.is_target.sum() for record in records) == first.window
    assert games.game_length == games.num_positions / games.num_games
    assert games.first_player_wins == results.count(1) / len(results)
    assert games.draws == results.count(0) / len(results)
    assert games.distinct_games == len({record.actions.tobytes() for record in records}) / len(
        records
    )
    assert (first.iteration, first.last, second.iteration, second.last) == (1, False, 2, True)
    assert (first.selfplay.sample_game, second.selfplay.sample_game.count("\n")) == (
        "",
        5,
    )  # moves, result, an empty line, three rows
    stored = load_network(trainer.folder.network(2))
    assert (stored.game, stored.info["iteration"]) == ("tic_tac_toe", 2)
    assert stored.settings == dataclasses.asdict(trainer.settings.network)
    assert_same(stored.arrays, network_arrays(trainer.learner.network))


@pytest.mark.parametrize("has_head", (False, True))
def test_the_replay_keeps_owners_for_the_ownership_head_only(tmp_path, has_head):
    words = ["run.num_iterations=1", f"network.ownership_head={has_head}"]
    trainer = make_trainer(tmp_path, *words)
    (report,) = reports(trainer)
    assert (trainer.replay.sample(2).owners is not None) == has_head
    assert (report.learner.ownership_loss is not None) == has_head


def test_old_networks_and_games_out_of_the_window_are_dropped(tmp_path):
    trainer = make_trainer(
        tmp_path,
        "run.keep_networks=2",
        "replay.window_start=20",
        "replay.window_max=20",
        "selfplay.full_search_fraction=1.0",
    )
    rows = [report.selfplay.num_samples for report in reports(trainer)]
    assert min(rows) >= 20  # one iteration fills the window
    assert sorted(path.name for path in (tmp_path / "networks").iterdir()) == [
        "000002.safetensors",
        "000004.safetensors",
    ]
    assert [path.name for path in (tmp_path / "games").iterdir()] == ["000004.safetensors"]
    assert trainer.replay.window == 20


def test_progress_tells_every_stage_and_grows(tmp_path):
    trainer = make_trainer(
        tmp_path,
        "run.num_iterations=2",
        "pit.every=2",
        "evaluation.final_num_games=2",
        "evaluation.uct_simulations=9",
    )
    events = [event for event in trainer.run() if isinstance(event, StageProgress)]
    stages = [event.stage for event in events if event.iteration == 2]
    assert list(dict.fromkeys(stages)) == ["self-play", "learning", "pit", "evaluation"]
    assert all(0 <= event.done <= event.total for event in events)
    assert [event.run_fraction for event in events] == sorted(
        event.run_fraction for event in events
    )
    assert {event.run_fraction for event in events} == {0.0, 0.5}


def test_the_time_limit_ends_a_run_also_over_a_stop(tmp_path, monkeypatch):
    clock = iter(range(10**9))  # a second passes with every look at it
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    looks = [
        report.elapsed_s
        for report in reports(make_trainer(tmp_path / "one", "run.num_iterations=1"))
    ][0]
    limit = f"run.time_limit_s={2.5 * looks}"
    trainer = make_trainer(tmp_path / "whole", limit, "run.num_iterations=12")
    found = reports(trainer)
    assert 1 < len(found) < 12
    assert [report.last for report in found] == [False] * (len(found) - 1) + [True]
    assert found[-1].elapsed_s >= 2.5 * looks > found[-2].elapsed_s
    run_until(
        make_trainer(tmp_path / "parts", limit, "run.num_iterations=12"),
        lambda event: event.iteration == 2,
    )
    resumed = make_trainer(tmp_path / "parts", limit, "run.num_iterations=12")
    resumed.restore()
    assert resumed.run_fraction == pytest.approx(found[0].elapsed_s / (2.5 * looks))
    assert reports(resumed)[-1].elapsed_s < 4 * looks


def test_a_finished_run_has_nothing_to_do_and_goes_on_if_it_may(tmp_path):
    reports(make_trainer(tmp_path, "run.num_iterations=1"))
    resumed = make_trainer(tmp_path, "run.num_iterations=1")
    resumed.restore()
    assert resumed.finished
    assert reports(resumed) == []
    longer = make_trainer(tmp_path, "run.num_iterations=2")
    longer.restore()
    assert not longer.finished
    assert [report.iteration for report in reports(longer)] == [2]


def test_the_measured_precision_is_remembered(tmp_path):
    trainer = make_trainer(tmp_path, "evaluator.precision=auto", "run.num_iterations=1")
    assert trainer.settings.evaluator.precision in ("float32", "bfloat16")
    reports(trainer)
    assert (
        trainer.folder.read_config()["evaluator"]["precision"]
        == trainer.settings.evaluator.precision
    )


@pytest.mark.parametrize(
    "key, value, allowed",
    (
        ("game.name", "connect_four", "tic_tac_toe"),
        ("network.channels", 8, 4),
        ("learner.optimizer", "sgd", "adamw"),
        ("selfplay.num_parallel_games", 5, "6 or more"),
    ),
)
def test_what_a_run_cannot_change_is_refused(key, value, allowed):
    words = ["game=tic_tac_toe", *TINY]
    old, new = compose(words), compose([*words, f"{key}={value}"])
    check_resumable(old, old)
    with pytest.raises(ConfigError) as error:
        check_resumable(old, new)
    assert (error.value.key, error.value.value, error.value.allowed) == (key, value, allowed)


def test_what_a_run_may_change(tmp_path):
    reports(make_trainer(tmp_path, "run.num_iterations=1"))
    words = (
        "run.num_iterations=2 selfplay.num_parallel_games=9 learner.learning_rate=1e-4 learner.weight_decay=0 selfplay.num_simulations=9 "
        "replay.window_max=99999 search.dirichlet_alpha=2 selfplay.carry_over=false pit.every=1 learner.batch_size=8"
    ).split()
    changed = make_trainer(tmp_path, *words)
    check_resumable(compose(["game=tic_tac_toe", *TINY]), changed.settings)
    changed.restore()
    (report,) = reports(changed)
    assert report.iteration == 2 and np.isfinite(report.learner.loss)


def test_the_game_in_the_report_can_be_replayed(tmp_path):
    trainer = make_trainer(tmp_path, "run.num_iterations=1", "run.sample_game_every=1")
    (report,) = reports(trainer)
    game, (moves, result, _, *board) = (
        make_game("tic_tac_toe"),
        report.selfplay.sample_game.split("\n"),
    )
    state = game.play_moves([game.text_to_action(move) for move in moves.split()])
    assert game.over(state[None])[0]
    assert game.state_to_text(state).split("\n") == board
    sign = 1 if game.players(state[None])[0] == 0 else -1
    words = {1: "the first player wins", 0: "a draw", -1: "the second player wins"}[
        int(sign * game.results(state[None])[0])
    ]
    assert result == f"{words} after {len(moves.split())} plies"
