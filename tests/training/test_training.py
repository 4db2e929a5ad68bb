"""The training loop: a resumed run equals one that never stopped; what is stored, when it ends."""

import dataclasses
import os
import sys

import numpy as np
import pytest
import torch
from python_games import SMALL
from run_samples import TINY, assert_same, figures, make_trainer, reports, run_until

from alphazero.boards.notation import read_moves
from alphazero.boards.skin import skin_of
from alphazero.network.weights import load_network, network_arrays
from alphazero.own_games.registry import make_game
from alphazero.players.network import load_module
from alphazero.runtime.errors import ConfigError
from alphazero.selfplay.games_in_progress import Moves
from alphazero.storage.checkpoint import load_state
from alphazero.training import trainer as training
from alphazero.training.events import IterationReport, StageProgress
from alphazero.training.loggers.tensorboard import _game_text
from alphazero.training.run_config import compose
from alphazero.training.settings import check_resumable, check_run

# --- stop and resume ------------------------------------------------------------------------------

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
        "selfplay.random_opening_fraction=0.5 learner.precision=bfloat16 "
        "evaluator.precision=bfloat16",
    ),
    "two threads": ("connect_four", "run.num_threads=2"),
    "int8 on two threads": (
        "connect_four",
        "run.num_threads=2 evaluator.engine=openvino evaluator.precision=int8",
    ),
    "averaged weights and a pit": (
        "othello_4x4",
        "learner.ema_half_life_steps=3 pit.every=1 pit.acceptance=0.5",
    ),
    "muon and an average": ("connect_four", "learner=muon learner.ema_half_life_steps=3"),
    "growing searches and random openings": (
        "connect_four",
        "selfplay.initial_num_simulations=3 selfplay.random_opening_fraction=0.5",
    ),
    "iterations that grow": ("connect_four", "selfplay.initial_games_per_iteration=1"),
    "a game in plain Python": (SMALL, "selfplay.random_opening_fraction=0.5 run.num_threads=1"),
    "boards in turn, and a window that forgets": (
        "connect_x:4x4x3",
        "network=windows game.also=[connect_x:4x5x3,connect_x:6x5x3] run.num_iterations=8 "
        "replay.window_start=60 replay.window_max=90",
    ),
    "averaged weights, and measured in between": (
        "tic_tac_toe",
        "learner.ema_half_life_steps=3 evaluation.every=2 evaluation.num_games=2 "
        "evaluation.uct_simulations=9 evaluation.num_simulations=3",
    ),
}
#: The one that uses most parts of a run's state; `make test-slow` tests the others.
QUICK_CASE = "averaged weights, and measured in between"


@pytest.mark.parametrize(
    "case",
    [name if name == QUICK_CASE else pytest.param(name, marks=pytest.mark.slow) for name in CASES],
)
def test_a_resumed_run_is_the_run_that_never_stopped(tmp_path, case):
    game, words = CASES[case]
    whole = make_trainer(tmp_path / "whole", *words.split(), game=game)
    expected = {report.iteration: figures(report) for report in reports(whole)}
    resumed = make_trainer(tmp_path / "parts", *words.split(), game=game)
    for stop, stored in ((between_games, 2), (while_learning, 2), (before_storing, 3)):
        run_until(resumed, stop)
        resumed = make_trainer(tmp_path / "parts", *words.split(), game=game)
        resumed.restore()
        assert resumed.iteration == stored
    found = {report.iteration: figures(report) for report in reports(resumed)}
    for iteration in found:
        assert_same(found[iteration], expected[iteration], str(iteration))
    assert_same(stored_state(resumed), stored_state(whole))
    for kind in ("networks", "games"):
        names, others = (sorted(os.listdir(tmp_path / run / kind)) for run in ("whole", "parts"))
        assert names and names == others
    for name in names:
        found, expected = (
            load_state(tmp_path / run / "games" / name) for run in ("parts", "whole")
        )
        assert_same(found, expected, name)


def between_games(event):
    is_progress = isinstance(event, StageProgress) and event.stage == "self-play"
    return is_progress and event.iteration == 3 and event.done >= 2


def while_learning(event):
    return isinstance(event, StageProgress) and event.iteration == 3 and event.stage == "learning"


def before_storing(event):
    return isinstance(event, IterationReport) and event.iteration == 4


def stored_state(trainer):
    """Return a run's state without the time, and without moves left over from older games."""
    state = load_state(trainer.folder.state)
    stored = {str(int(path.stem)) for path in (trainer.folder.path / "games").iterdir()}
    state["games"] = {number: state["games"][number] for number in stored}
    for board in state["selfplay"].values():
        for games in board.values():
            left_over = np.arange(games["actions"].shape[1]) >= games["plies"][:, None]
            for name in Moves._fields:
                games[name][left_over] = 0
    return {key: value for key, value in state.items() if key not in ("elapsed_s", "network")}


@pytest.mark.slow
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


# --- what is stored, and when the run ends --------------------------------------------------------


def test_reports_agree_with_the_stored_games(tmp_path):
    trainer = make_trainer(tmp_path, "run.num_iterations=2")
    first, second = reports(trainer)
    records = trainer.folder.load_games(1, trainer.game)
    results = [record.first_player_result for record in records]
    games = first.selfplay
    assert games.num_games == len(records)
    assert games.num_positions == sum(len(record.actions) for record in records)
    assert games.num_samples == sum(record.is_target.sum() for record in records) == first.window
    assert games.game_length == games.num_positions / games.num_games
    assert games.first_player_wins == results.count(1) / len(results)
    assert games.draws == results.count(0) / len(results)
    distinct = {record.actions.tobytes() for record in records}
    assert games.distinct_games == len(distinct) / len(records)
    assert (first.iteration, first.last, second.iteration, second.last) == (1, False, 2, True)
    assert first.sample_game is not None and second.sample_game is not None
    stored = load_network(trainer.folder.network(2))
    assert (stored.game, stored.info["iteration"]) == ("tic_tac_toe", 2)
    assert stored.settings == dataclasses.asdict(trainer.settings.network)
    assert_same(stored.arrays, network_arrays(trainer.learner.network))


def test_old_networks_and_games_out_of_the_window_are_dropped(tmp_path):
    trainer = make_trainer(
        tmp_path, "run.keep_networks=2", "replay.window_start=20", "replay.window_max=20"
    )
    rows = [report.selfplay.num_samples for report in reports(trainer)]
    assert min(rows) >= 20  # one iteration fills the window
    networks = sorted(path.stem for path in (tmp_path / "networks").iterdir())
    assert networks == ["000002", "000003", "000004"]
    games = sorted(path.stem for path in (tmp_path / "games").iterdir())
    assert games == ["000003", "000004"]  # those that the newest two states need
    assert trainer.board.replay.window == 20


def test_boards_are_played_in_turn_and_share_the_network_and_the_window(tmp_path):
    also = ("connect_x:4x5x3", "connect_x:6x5x3")
    trainer = make_trainer(
        tmp_path,
        "network=windows",
        f"game.also=[{','.join(also)}]",
        "run.num_iterations=7",
        "replay.window_start=36",
        "replay.window_max=36",
        game="connect_x:4x4x3",
    )
    shapes, seen = [], set()
    learn = trainer.learner._update

    def observed(batch):
        seen.add(batch.planes.shape[2:])
        return learn(batch)

    trainer.learner._update = observed
    for event in trainer.run():
        if isinstance(event, IterationReport):
            assert event.selfplay.num_samples >= 12 == event.window  # its board's third
            shapes.append(sorted(seen))
            seen.clear()
    boards = [(4, 4), (4, 5), (6, 5)]
    assert shapes == [boards[:1], boards[:2], *[boards] * 5]
    stored = {path.stem for path in (tmp_path / "games").iterdir()}
    assert stored == {"000004", "000005", "000006", "000007"}  # the newest and the one before it
    for board, name in zip(trainer.boards, ("connect_x:4x4x3", *also)):
        assert board.game.name == name
        stored = load_module(board.game, trainer.folder.network(7)).module
        planes = board.newest_positions().planes
        with torch.inference_mode():
            expected = stored(torch.from_numpy(planes)).prior_logits.numpy()
        np.testing.assert_allclose(board.evaluator.evaluate(planes)[0], expected, atol=1e-4)


@pytest.mark.parametrize(
    "words, key, value",
    (
        ("network=windows game.also=[othello]", "game.also", "othello"),
        ("network=windows game.also=[connect_four]", "game.also", "connect_four"),
        ("network=windows game.also=[connect_x:5x5x4,connect_x:5x5x4]", "game.also", None),
        ("network=4x48 game.also=[connect_x:5x5x4]", "network.kind", "resnet"),
        ("network=windows game.also=[antigravity:GAME]", "game.also", "antigravity:GAME"),
        ("network=windows game.also=[connect_x:5x5x4] learner.epochs=1", "learner.epochs", 1),
        (
            "network=windows game.also=[connect_x:5x5x4] workers.kind=processes",
            "workers.kind",
            None,
        ),
    ),
)
def test_boards_that_a_run_cannot_play_in_turn_are_refused(words, key, value):
    with pytest.raises(ConfigError) as raised:
        check_run(compose(["game=connect_four", *words.split()]))
    assert raised.value.key == key and value in (None, raised.value.value)
    assert "antigravity" not in sys.modules  # naming a game in a list runs nothing


class Clock:
    """A clock that goes on by a millisecond with each look, and where a test turns it."""

    now_s = 0.0

    def monotonic(self):
        self.now_s += 0.001
        return self.now_s


@pytest.fixture
def clock(monkeypatch):
    """The clock that the training loop looks at."""
    made = Clock()
    monkeypatch.setattr(training, "time", made)
    return made


def reports_by(clock, trainer, learning_s, measuring_s=0):
    """Run to the end, each iteration for ``learning_s(iteration)``; return the reports."""
    found = []
    for event in trainer.run():
        if isinstance(event, IterationReport):
            found.append(event)
        elif event.stage == "learning" and event.done == event.total:
            clock.now_s += learning_s(event.iteration)
        elif event.stage == "evaluation":
            clock.now_s += measuring_s
    return found


@pytest.mark.slow
def test_no_iteration_begins_that_the_time_limit_does_not_allow(tmp_path, clock):
    """Also in a resumed run: it knows from the stored metrics how long an iteration takes."""
    for limit_s, number in ((50, 1), (290, 2), (301, 3)):
        path, longest = tmp_path / str(limit_s), "run.num_iterations=9"
        trainer = make_trainer(path, f"run.time_limit_s={limit_s}", longest)
        found = reports_by(clock, trainer, lambda _: 100)
        assert [report.last for report in found] == [False] * (number - 1) + [True]
        assert trainer.elapsed_s == pytest.approx(100 * number, abs=1)
        resumed = make_trainer(path, f"run.time_limit_s={limit_s}", longest)
        resumed.restore()
        assert resumed.reached_limits and resumed.usual_iteration_s == pytest.approx(100, abs=1)
        resumed = make_trainer(path, f"run.time_limit_s={100 * (number + 1) + 1}", longest)
        resumed.restore()
        found = reports_by(clock, resumed, lambda _: 100)
        assert [report.last for report in found] == [True]


@pytest.mark.parametrize("words", ("", "selfplay.carry_over=false", "workers.mode=ordered"))
def test_an_iteration_that_would_exceed_the_time_limit_ends_with_the_games_it_has(
    tmp_path, clock, words
):
    """In the first iteration, learning is expected to take as long as self-play."""
    settings = "run.time_limit_s=50", "selfplay.games_per_iteration=40", "workers.unit_games=2"
    trainer = make_trainer(tmp_path, *settings, *words.split())
    events = []
    for event in trainer.run():
        clock.now_s += 8 * (event.stage == "self-play") if isinstance(event, StageProgress) else 0
        events.append(event)
    report = events[-1]
    assert isinstance(report, IterationReport) and report.last and report.iteration == 1
    assert 4 <= report.selfplay.num_games < 40 and report.learner.num_steps >= 1
    assert 24 < report.selfplay_s < 34 and trainer.elapsed_s < 50
    assert trainer.store.iteration == 1 and trainer.folder.network(1).exists()
    progress = [event.progress for event in events[:-1]]
    assert progress == sorted(progress) and progress[0] < 0.2 and 0.5 < progress[-1] <= 1


def test_learning_ends_at_the_time_limit(tmp_path, clock):
    trainer = make_trainer(tmp_path, "run.time_limit_s=100", "learner.replay_ratio=100")
    for event in trainer.run():
        if isinstance(event, StageProgress) and event.stage == "learning":
            clock.now_s += 60
            num_steps = event.total
    assert 1 < event.learner.num_steps < num_steps and event.last and trainer.elapsed_s < 200


def test_the_measured_precision_is_remembered(tmp_path):
    trainer = make_trainer(tmp_path, "evaluator.precision=auto", "run.num_iterations=1")
    assert trainer.settings.evaluator.precision in ("float32", "bfloat16")
    reports(trainer)
    stored = trainer.folder.read_config()["evaluator"]["precision"]
    assert stored == trainer.settings.evaluator.precision


@pytest.mark.parametrize(
    "key, value, allowed",
    (
        ("game.name", "connect_four", "tic_tac_toe"),
        ("network.channels", 8, 4),
        ("learner.optimizer", "sgd", "adamw"),
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
        "run.num_iterations=2 selfplay.num_parallel_games=9 selfplay.num_simulations=9 "
        "selfplay.carry_over=false search.dirichlet_alpha=2 replay.window_max=99999 pit.every=1 "
        "learner.learning_rate=1e-4 learner.weight_decay=0 learner.batch_size=8"
    ).split()
    changed = make_trainer(tmp_path, *words)
    check_resumable(compose(["game=tic_tac_toe", *TINY]), changed.settings)
    changed.restore()
    (report,) = reports(changed)
    assert report.iteration == 2 and np.isfinite(report.learner.loss)


def test_the_game_in_the_report_can_be_replayed(tmp_path):
    trainer = make_trainer(tmp_path, "run.num_iterations=1")
    (report,) = reports(trainer)
    game = make_game("tic_tac_toe")
    text = _game_text(game, report.sample_game)
    moves, result, _, *board = text.split("\n")
    actions = read_moves(game, skin_of(game).notation, moves)
    state = game.play_moves(actions)
    assert game.over(state[None])[0]
    assert game.state_to_text(state).split("\n") == board
    sign = 1 if game.players(state[None])[0] == 0 else -1
    number = int(sign * game.results(state[None])[0])
    assert {1: "first", 0: "draw", -1: "second"}[number] in result
    assert str(len(actions)) in result
