"""Alarms: bad runs raise them, healthy ones do not; each begins and ends once."""

import dataclasses
import io
import json
import math

import pytest
import run_samples
from mostly_slow import mostly_slow
from rich.console import Console
from run_samples import TINY, reports
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util

from alphazero.cli import main
from alphazero.config import settings as config
from alphazero.inference.verified_engine import EngineReport
from alphazero.learner.report import HeldOutReport, LearnerReport
from alphazero.storage.run_folder import RunFolder
from alphazero.training.events import Alarm, IterationReport, flat
from alphazero.training.health import HealthMonitor, TrainingDivergedError
from alphazero.training.loggers.console import ConsoleLogger
from alphazero.training.loggers.tensorboard import TensorBoardLogger
from alphazero.training.reports import PitReport, SelfPlayReport, WorkersReport
from alphazero.training.run_config import compose
from alphazero.training.settings import TrainSettings, check_run
from alphazero.training.trainer import Trainer

SMALL = (
    "network=tiny selfplay.num_parallel_games=16 selfplay.games_per_iteration=24 "
    "selfplay.num_simulations=8 selfplay.random_opening_fraction=0 "
    "replay.window_start=20000"
).split()


def make_trainer(path, words, game="tic_tac_toe"):
    group = game if game in ("tic_tac_toe", "connect_four") else "connect_x"
    settings = compose([f"game={group}", f"game.name={game}", *TINY, *SMALL, *words.split()])
    return Trainer(settings, RunFolder(path), check_run(settings))


# --- runs that go wrong ---------------------------------------------------------------------------

#: Some runs that go wrong: alarm -> (game, words, the key that the advice must name).
WRONG = {
    "games_repeat": (
        "tic_tac_toe",
        "selfplay.temperature=0 search.dirichlet_fraction=0 run.num_iterations=2",
        "selfplay.temperature",
    ),
    "entropy_collapsed": (
        "tic_tac_toe",
        "search.pb_c_init=0 search.first_play_urgency=2 search.root_first_play_urgency=2 "
        "search.dirichlet_fraction=0 run.num_iterations=2",
        "search.dirichlet_fraction",
    ),
    "value_head_learns_nothing": (
        "tic_tac_toe",
        "learner.value_weight=0 learner.replay_ratio=32 run.num_iterations=4",
        "learner.learning_rate",
    ),
    "overfitting": (
        "tic_tac_toe",
        "network.channels=64 network.shared_units=256 selfplay.num_parallel_games=4 "
        "selfplay.games_per_iteration=4 learner.learning_rate=5e-3 learner.replay_ratio=100 "
        "replay.symmetries=none learner.root_value_fraction=0 run.num_iterations=5",
        "learner.replay_ratio",
    ),
}


KEYS = {row.key for row in config.rows(TrainSettings())}


@pytest.mark.parametrize("name", mostly_slow(WRONG))
def test_a_run_that_goes_wrong_raises_its_alarm_and_names_what_to_change(tmp_path, name):
    game, words, key = WRONG[name]
    last = reports(make_trainer(tmp_path, words, game))[-1]
    (alarm,) = [alarm for alarm in last.alarms if alarm.name == name]
    assert alarm.key == key
    assert all(
        part and part == part.strip() and not part.endswith(".")
        for part in (alarm.seen, alarm.cause, alarm.advice)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "",
        "network.value_head=scalar",
        "pit.every=1 pit.acceptance=0.4 evaluation.every=1 evaluation.num_games=2",
    ],
)
def test_a_healthy_run_raises_no_alarm(tmp_path, words):
    healthy = (
        "selfplay.num_parallel_games=32 selfplay.games_per_iteration=60 "
        "selfplay.num_simulations=16 learner.batch_size=64 learner.replay_ratio=8 "
        "learner.learning_rate=1e-2 "
        "network.channels=32 evaluation.uct_simulations=20 run.num_iterations=10 "
    )
    found = reports(make_trainer(tmp_path, healthy + words))
    assert len(found) == 10 and [report.alarms for report in found] == [[]] * 10
    # It has learned, so the alarms could have been raised.
    assert found[-1].learner.value_loss < 0.8 * found[-1].learner.uninformed_value_loss


# --- weights that are not finite ------------------------------------------------------------------

DIVERGES = (
    "learner=sgd learner.momentum=0 learner.weight_decay=10 learner.max_gradient_norm=0 "
    "run.num_iterations=5"
)


@pytest.mark.slow
def test_a_run_that_diverges_stops_and_keeps_the_iteration_before(tmp_path):
    trainer = make_trainer(
        tmp_path, DIVERGES + " learner.learning_rate=1e-3 learner.final_learning_rate=100"
    )
    with pytest.raises(TrainingDivergedError) as error:
        reports(trainer)
    assert (error.value.iteration, error.value.stored_iteration) == (2, 1)
    assert (error.value.key, error.value.value) == ("learner.final_learning_rate", "0.05")
    assert f"resume={tmp_path}" in str(error.value)
    assert sorted(path.stem for path in (tmp_path / "networks").iterdir()) == ["000001"]
    again = make_trainer(
        tmp_path, DIVERGES + " learner.learning_rate=1e-3 learner.final_learning_rate=1e-3"
    )
    again.restore()
    assert [report.iteration for report in reports(again)] == [2, 3, 4, 5]


@pytest.mark.slow
def test_the_command_line_reports_diverged_training_in_one_line(tmp_path, capsys):
    words = [*TINY, *SMALL, *DIVERGES.split(), "learner.learning_rate=100"]
    words += ["learner.schedule=constant", f"run.root={tmp_path}", "run.name=bad"]
    assert main(["train", "game=tic_tac_toe", *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "learner.learning_rate=0.05" in error


def spoil(trainer, which, change, monkeypatch):
    """Let the second iteration of a run end with other weights in one of the learner's networks."""
    learn = trainer.learner.learn

    def spoiled(batches, progress):
        yield from learn(batches, progress)
        if trainer.iteration == 2:
            change(getattr(trainer.learner, which).state_dict())

    monkeypatch.setattr(trainer.learner, "learn", spoiled)


#: Networks that diverged with finite losses: the one concerned, and a change of weights by name.
SPOILED = {
    "infinite statistics": (
        "network",
        lambda weights: weights["stem.norm.running_mean"].fill_(math.inf),
    ),
    "negative variance": (
        "played_network",
        lambda weights: weights["stem.norm.running_var"].fill_(-1.0),
    ),
    "huge weights": (
        "played_network",
        lambda weights: [
            w.mul_(1e25) for name, w in weights.items() if name.endswith("conv.weight")
        ],
    ),
}
SLOW_CASES = (
    ("negative variance", ""),
    ("huge weights", "learner.ema_half_life_steps=0"),
    ("huge weights", "pit.every=1"),
    ("huge weights", "evaluator.engine=openvino evaluator.precision=int8"),
)


@pytest.mark.parametrize(
    "change, words",
    [
        ("infinite statistics", ""),
        ("huge weights", "run.num_threads=2"),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW_CASES),
    ],
)
def test_a_network_that_cannot_play_is_not_stored(change, words, tmp_path, monkeypatch):
    """Its losses and the weights that are trained may be finite all the same."""
    words = ["learner.ema_half_life_steps=5", *words.split()]
    trainer = run_samples.make_trainer(tmp_path, *words)
    spoil(trainer, *SPOILED[change], monkeypatch)
    with pytest.raises(TrainingDivergedError) as error:
        reports(trainer)
    assert (error.value.iteration, error.value.stored_iteration) == (2, 1)
    assert [path.stem for path in (tmp_path / "networks").iterdir()] == ["000001"]
    again = run_samples.make_trainer(tmp_path, *words)
    again.restore()
    assert [report.iteration for report in reports(again)] == [2, 3, 4]


# --- each limit, with invented figures ------------------------------------------------------------

FIGURES = dict(
    num_games=100,
    num_samples=1000,
    window=9000,
    distinct_games=0.95,
    first_player_wins=0.5,
    draws=0.2,
    num_steps=200,
    loss=2.0,
    policy_entropy=1.0,
    target_entropy=0.9,
    value_loss=0.7,
    uninformed_policy_loss=1.8,
    uninformed_value_loss=1.0,
    gradient_norm=1.0,
    weight_size=0.1,
    held_out=2.0,
    pit=None,
    num_workers=4,
    num_lost=0,
    games_per_s=9.0,
    staleness=0.5,
    stale_fraction=0.0,
)


def made_up(iteration, **changes):
    figures = FIGURES | changes
    figures["policy_loss"] = figures["loss"] - figures["value_loss"]

    def take(cls):
        names = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: figures[name] for name in names & figures.keys()})

    games, learned, window = take(SelfPlayReport), take(LearnerReport), figures["window"]
    report = IterationReport(iteration, games, learned, window, elapsed_s=60.0)
    report.workers = take(WorkersReport)
    report.held_out = HeldOutReport(loss=figures["held_out"])
    if figures["pit"] is not None:
        match = dict(score=0.5, wins=1, draws=0, losses=1)
        report.pit = PitReport(**match, accepted=figures["pit"])
    return report


def observed(reports_made, settings=None):
    """Return the names of the alarms after each of the reports."""
    monitor = HealthMonitor(settings or TrainSettings())
    for report in reports_made:
        monitor.observe(report)
    return [[alarm.name for alarm in report.alarms] for report in reports_made]


def run_of(length=40, **columns):
    """Return reports; a column is a number, or a list whose last entry is repeated."""

    def of(column, i):
        return column[min(i, len(column) - 1)] if isinstance(column, list) else column

    return [
        made_up(i + 1, **{name: of(column, i) for name, column in columns.items()})
        for i in range(length)
    ]


#: alarm -> a figure, or several that are equal; its values in every iteration: just healthy, just
#: unhealthy, between the two limits; and other figures.
LIMITS = {
    "games_repeat": ("distinct_games", 0.51, 0.49, 0.55, {}),
    "entropy_collapsed": ("policy_entropy", 0.095, 0.085, 0.12, {}),
    "value_head_learns_nothing": ("value_loss", 0.975, 0.985, 0.96, {}),
    "games_end_alike": ("draws", 0.985, 0.995, 0.97, dict(first_player_wins=0.0)),
    "overfitting": ("held_out", 2.49, 2.51, 2.4, {}),
    "learning_rate_too_high": ("loss held_out", 3.35, 3.37, 3.2, {}),
    "games_too_old": ("stale_fraction", 0.19, 0.21, 0.15, {}),
}


def around_limit(name):
    """Return the figures just healthy, just unhealthy, and between the two limits of an alarm."""
    figures, *values, others = LIMITS[name]
    return [dict.fromkeys(figures.split(), value) | others for value in values]


@pytest.mark.parametrize("name", LIMITS)
def test_an_alarm_begins_at_its_limit_and_ends_at_another(name):
    right, wrong, between = around_limit(name)
    assert observed(run_of(**right)) == [[]] * 40
    assert observed(run_of(**between)) == [[]] * 40
    monitor = HealthMonitor(TrainSettings())
    sequence = [*run_of(12, **wrong), *run_of(12, **between), *run_of(12)]
    for number, report in enumerate(sequence):
        report.iteration = number + 1
        monitor.observe(report)
    states = [[alarm.name for alarm in report.alarms] == [name] for report in sequence]
    # Once on, it stays on between the limits.
    assert states.index(True) < 12 and all(states[states.index(True) : 24]) and not states[-1]
    ends = [report.iteration for report in sequence if report.ended_alarms]
    assert len(ends) == 1 and ends[0] > 24 and sequence[ends[0] - 1].ended_alarms == [name]
    alarms = [alarm for report in sequence for alarm in report.alarms]
    assert {alarm.since for alarm in alarms} == {states.index(True) + 1}
    assert {alarm.key for alarm in alarms} <= KEYS


def test_an_alarm_writes_a_large_number_as_a_person_does():
    made = run_of(12, loss=2_262_981.0)
    observed(made)
    text = next(one.seen for one in made[-1].alarms if one.name == "learning_rate_too_high")
    assert "2,262,981" in text and "e+" not in text


#: An alarm, a setting and its value, by which the advice names that setting.
CAUSES = [
    ("entropy_collapsed", "search.dirichlet_fraction", 0.0),
    ("overfitting", "learner.epochs", 3),
]


@pytest.mark.parametrize(("name", "key", "value"), CAUSES)
def test_the_advice_names_the_setting_that_is_the_likely_cause(name, key, value):
    settings = TrainSettings()
    section, field = key.split(".")
    setattr(getattr(settings, section), field, value)
    assert advised(name, around_limit(name)[1], settings) == key


def advised(name, figures, settings):
    """Return the setting that an alarm names after twelve iterations with these figures."""
    made = run_of(12, **figures)
    observed(made, settings)
    (alarm,) = [alarm for alarm in made[-1].alarms if alarm.name == name]
    return alarm.key


def test_a_loss_that_rises_a_little_or_falls_is_no_alarm():
    falling = [2 - 0.02 * i for i in range(25)]
    assert observed(run_of(40, loss=[*falling, 1.7], held_out=1.5)) == [[]] * 40
    # An untrained network's loss is high.
    assert observed(run_of(40, loss=[3.3, 1.8], held_out=1.8)) == [[]] * 40


def test_nothing_is_judged_in_the_first_iterations():
    first = dict(value_loss=1.2, loss=4.0, held_out=9.0, window=1000, weight_size=0.1)
    assert observed(run_of(2, **first)) == [[], []]
    # A hundred steps teach a value head nothing yet.
    assert observed(run_of(5, value_loss=1.2, num_steps=20)) == [[]] * 5
    made = [made_up(1, held_out=9.0), made_up(2, held_out=4.5), *(made_up(i) for i in range(3, 12))]
    assert observed(made) == [[]] * 11


def test_five_rejections_in_a_row_are_an_alarm_and_one_acceptance_ends_it():
    pits = [None, False, False, None, False, True] + [False, None] * 20 + [True]
    found = observed(run_of(len(pits), pit=pits))
    begun = found.index(["pit_always_rejects"])
    assert sum(pit is False for pit in pits[6 : begun + 1]) == 5 and pits[begun] is False
    assert all(names == ["pit_always_rejects"] for names in found[begun:-1]) and found[-1] == []


# --- stop and resume ------------------------------------------------------------------------------


def test_a_monitor_goes_on_from_the_metrics():
    made = run_of(
        80, pit=[None, None, False], loss=[1.2] * 40 + [2.0], held_out=[1.2] * 40 + [math.nan]
    )
    whole, second = HealthMonitor(TrainSettings()), HealthMonitor(TrainSettings())
    for report in made:
        whole.observe(report)
    assert made[49].alarms and {alarm.since for alarm in made[49].alarms} != {50}
    second.restore([json.loads(json.dumps(flat(report))) for report in made[:50]])
    for report in made[50:]:
        again = dataclasses.replace(report, alarms=[], ended_alarms=[])
        second.observe(again)
        assert (again.alarms, again.ended_alarms) == (report.alarms, report.ended_alarms)


# --- what the loggers show ------------------------------------------------------------------------

SEEN = "only 3% of the newest games differ"
ALARM = Alarm("games_repeat", 2, SEEN, "no chance", "selfplay.temperature", "1 is usual")


def shown_reports():
    """Five iterations: none, an alarm begins, it continues, it ends, another one begins."""
    found = [made_up(number) for number in (1, 2, 3, 4, 5)]
    for report in found:
        report.engine = EngineReport("torch float32")
    found[1].alarms = found[2].alarms = [ALARM]
    found[3].ended_alarms = ["games_repeat"]
    found[4].alarms = [dataclasses.replace(ALARM, name="games_end_alike", since=5)]
    return found


def printed(reports_made):
    """Return what the console shows of a run, with single spaces for its line breaks."""
    console = Console(file=io.StringIO(), width=70)
    with ConsoleLogger(console, 0.0) as logger:
        for report in reports_made:
            logger.show(report)
    output = console.file.getvalue()
    assert all(len(line) <= 80 for line in output.splitlines())
    return " ".join(output.split())


def test_the_console_prints_an_alarm_when_it_begins_when_it_ends_and_after_the_run():
    text, ended = printed(shown_reports()), printed(shown_reports()[:4])
    # The two alarms as they begin, and at the end of the run the one that is active.
    for part in (SEEN, "no chance", "selfplay.temperature", "1 is usual"):
        assert (text.count(part), ended.count(part)) == (3, 1)
    # It begins, it ends.
    assert (text.count("games repeat"), ended.count("games repeat")) == (2, 2)
    assert text.count("games end alike") == 2
    assert text.rindex("games repeat") < text.index("games end alike")
    assert SEEN not in printed(shown_reports()[:1])


def test_tensorboard_has_the_texts_and_the_number_of_alarms(tmp_path):
    logger = TensorBoardLogger(make_trainer(tmp_path, ""))
    for report in shown_reports():
        logger.iteration(report)
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.value for event in events.Scalars("health/alarms")] == [0, 1, 1, 0, 1]
    begun, ended = events.Tensors("health/games_repeat/text_summary")
    assert (begun.step, ended.step) == (2, 4)
    text = tensor_util.make_ndarray(begun.tensor_proto).item().decode()
    assert SEEN in text and "selfplay.temperature" in text
    assert SEEN not in tensor_util.make_ndarray(ended.tensor_proto).item().decode()


def test_the_metrics_name_the_active_alarms():
    made = shown_reports()
    made[2].alarms = [ALARM, dataclasses.replace(ALARM, name="games_end_alike")]
    rows = [flat(report) for report in made]
    active = ["", "games_repeat", "games_repeat,games_end_alike", "", "games_end_alike"]
    assert [row["alarms"] for row in rows] == active
    assert rows[0]["held_out.loss"] == 2.0
