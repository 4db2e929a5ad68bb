"""What TensorBoard shows of a run: curves, charts and texts."""

import math

import pytest
import torch
from run_samples import make_trainer, reports
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from alphazero.training.curves import CURVES
from alphazero.training.events import IterationReport, flat
from alphazero.training.loggers.tensorboard import TensorBoardLogger, layout
from alphazero.training.reports import SelfPlayReport, StrengthReport
from alphazero.training.run_config import compose

MEASURED = (
    "evaluation.every=1 evaluation.num_games=4 evaluation.final_num_games=4 "
    "evaluation.num_simulations=4 evaluation.uct_simulations=4 evaluation.opening_plies=2 "
    "pit.every=1 run.num_iterations=3"
).split()


def read(folder):
    events = EventAccumulator(str(folder))
    events.Reload()
    return events


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that is stopped in its third iteration: the trainer and its events."""
    torch.set_num_threads(1)
    path = tmp_path_factory.mktemp("run")
    trainer = make_trainer(path, *MEASURED, "evaluation.exact=true", game="connect_x:5x5x4")
    logger = TensorBoardLogger(trainer)
    for event in trainer.run():
        if isinstance(event, IterationReport):
            logger.iteration(event)
        if trainer.iteration == 3:
            break
    return trainer, read(path)


def test_every_curve_has_a_description(stopped):
    events = stopped[1]
    tags = events.Tags()["scalars"]
    assert len(tags) > 40
    for tag in tags:
        assert events.summary_metadata[tag].summary_description, tag
        assert events.summary_metadata[tag].data_class, tag  # the data server needs it


def test_tags_have_a_group_and_one_value_in_each_iteration(stopped):
    events = stopped[1]
    for tag in events.Tags()["scalars"]:
        steps = [event.step for event in events.Scalars(tag)]
        assert len(set(steps)) == len(steps) and tag.count("/") == 1, tag


def test_the_charts_show_curves_that_the_run_writes(stopped):
    trainer, events = stopped
    charts = [chart for one in layout(trainer.settings).values() for chart in one.values()]
    assert 10 <= len(charts) <= 14
    assert {kind for kind, _ in charts} == {"Margin", "Multiline"}
    shown = {tag.removesuffix("$") for _, tags in charts for tag in tags}
    assert shown <= set(events.Tags()["scalars"])


def test_bands_contain_their_curve(stopped):
    trainer, events = stopped
    charts = [chart for one in layout(trainer.settings).values() for chart in one.values()]
    bands = [tags for kind, tags in charts if kind == "Margin"]
    assert len(bands) == 4  # exact errors, score against UCT, pit
    for tags in bands:
        middle, low, high = ([event.value for event in events.Scalars(tag)] for tag in tags)
        assert len(middle) == 2
        assert all(a <= b <= c and a < c for a, b, c in zip(low, middle, high)), tags


def test_a_run_without_measurements_has_no_charts_of_them():
    quiet = "evaluation.num_games=0 evaluation.final_num_games=0 evaluation.prove=false".split()
    settings = compose(["game=tic_tac_toe", *quiet])
    assert "Strength" not in layout(settings) and "Mistakes" not in layout(settings)


def test_the_metrics_hold_figures_alone(tmp_path):
    trainer = make_trainer(tmp_path, "run.num_iterations=1")
    (report,) = reports(trainer)
    assert report.sample_game is not None
    assert all(isinstance(value, (int, float, str, type(None))) for value in flat(report).values())


def test_a_run_of_an_earlier_version_goes_on(tmp_path):
    trainer = make_trainer(tmp_path / "new", "run.num_iterations=3")
    found = reports(trainer)
    with SummaryWriter(str(tmp_path / "old")) as writer:
        for step in (1, 2, 3):
            writer.add_scalar("loss/policy", 100 + step, step)
        writer.add_hparams({"learner.batch_size": 16}, {"result/loss": 1.0}, run_name=".")
    for number, file in enumerate(sorted((tmp_path / "old").glob("events*"))):
        # Files are read in the order of their names, which begin with the second they were made in.
        file.rename(file.with_name(f"events.out.tfevents.100000000{number}.old"))
    old = make_trainer(tmp_path / "old")
    old.iteration = 2
    logger = TensorBoardLogger(old)
    logger.iteration(found[2])
    values = [event.value for event in read(tmp_path / "old").Scalars("loss/policy")]
    assert values == [101, 102, pytest.approx(found[2].learner.policy_loss)]


# --- parts ----------------------------------------------------------------------------------------


def test_an_elo_rating_is_finite_and_grows_with_the_number_of_games_won():
    def of(wins, losses):
        score = wins / (wins + losses)
        match = dict(opponent="uct:1", num_simulations=1, wins=wins, draws=0, losses=losses)
        report = IterationReport(1, SelfPlayReport(), strength=StrengthReport(**match, score=score))
        return CURVES["strength/elo"].figure(flat(report))

    assert of(10, 0) == pytest.approx(-of(0, 10)) and 0 < of(10, 0) < of(100, 0) < math.inf
    assert of(3, 1) == pytest.approx(400 * math.log10(3))
