"""What TensorBoard shows of a run: curves, charts, texts, changed settings."""

import pytest
import torch
from run_samples import make_trainer
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from alphazero.training.events import IterationReport
from alphazero.training.loggers.charts import hparams, layout, metrics
from alphazero.training.loggers.tensorboard import TensorBoardLogger
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


def hparams_of(events, name):
    content = events.summary_metadata[f"_hparams_/{name}"].plugin_data.content
    return getattr(HParamsPluginData.FromString(content), name)


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


def test_a_run_without_measurements_has_no_charts_of_them():
    quiet = "evaluation.num_games=0 evaluation.final_num_games=0 evaluation.prove=false".split()
    settings = compose(["game=tic_tac_toe", *quiet])
    assert "Strength" not in layout(settings) and "Mistakes" not in layout(settings)
    assert not {"strength/elo", "exact/error_search"} & set(metrics(settings))


def test_a_stopped_run_has_its_settings_and_metrics_but_no_end(stopped):
    trainer, events = stopped
    values = hparams_of(events, "session_start_info").hparams
    assert values["game"].string_value == "connect_x:5x5x4" and values["seed"].string_value == "0"
    assert values["learner.batch_size"].number_value == 16
    names = {info.name.tag for info in hparams_of(events, "experiment").metric_infos}
    assert names == set(metrics(trainer.settings)) <= set(events.Tags()["scalars"])
    assert "_hparams_/session_end_info" not in events.summary_metadata


def test_hyper_parameters_are_what_differs_from_the_recipe_and_what_a_sweep_varies():
    recipe = compose(["game=connect_four"])
    words = ["game=connect_four", "seed=7", "learner.learning_rate=0.5", "run.name=x"]
    settings = compose([*words, "evaluator.engine=torch", "network.value_head=scalar"])
    expected = {"game": "connect_four", "seed": "7", "learner.learning_rate": 0.5}
    expected["network.value_head"] = "scalar"
    assert hparams(settings, recipe, {}) == expected
    varied = {"learner.batch_size": "256", "learner": "sgd"}
    added = {"learner.batch_size": settings.learner.batch_size, "learner": "sgd"}
    assert hparams(settings, recipe, varied) == expected | added


# --- parts ----------------------------------------------------------------------------------------
