"""Tiny training runs for tests, and what their reports say."""

import dataclasses

import numpy as np

from alphazero.storage.run_folder import RunFolder
from alphazero.training.events import IterationReport
from alphazero.training.run_config import compose
from alphazero.training.settings import check_run
from alphazero.training.trainer import Trainer

#: Settings with which a run of tic-tac-toe takes less than a second, without measurements.
TINY = [
    "network=2x32",
    "network.blocks=1",
    "network.channels=4",
    "network.head_channels=2",
    "network.value_units=4",
    "selfplay.num_parallel_games=6",
    "selfplay.games_per_iteration=6",
    "selfplay.num_simulations=6",
    "learner.batch_size=16",
    "learner.replay_ratio=2",
    "learner.precision=float32",
    "evaluator.engine=torch",
    "evaluator.precision=float32",
    "evaluator.cache_mb=2",
    "pit.num_games=4",
    "pit.num_simulations=4",
    "pit.opening_plies=2",
    "evaluation.every=0",
    "evaluation.num_games=0",
    "evaluation.final_num_games=0",
    "evaluation.exact=false",
    "evaluation.prove=false",
    "run.num_threads=1",
    "run.num_iterations=4",
    "device=cpu",
]
#: Figures of a `SelfPlayReport` that depend on the clock.
_CLOCK = {
    "seconds",
    "positions_per_s",
    "simulations_per_s",
    "evaluations_per_s",
    "evaluator_fraction",
    "network_fraction",
}


def make_trainer(path, *words, game="tic_tac_toe"):
    """Return the trainer of a tiny run of a game's config in the folder ``path``."""
    settings = compose([f"game={game}", *TINY, *words])
    return Trainer(settings, RunFolder(path), check_run(settings))


def reports(trainer):
    """Run to the end; return the report of each iteration."""
    return [event for event in trainer.run() if isinstance(event, IterationReport)]


def run_until(trainer, stop):
    """Run until ``stop(event)``, and leave everything as a killed process does."""
    for event in trainer.run():
        if stop(event):
            return
    raise AssertionError("the run ended before it was stopped")


def figures(report):
    """Return what a report says of a run, apart from the clock."""
    games = dataclasses.asdict(report.selfplay)
    return {
        "games": {name: value for name, value in games.items() if name not in _CLOCK},
        "learner": dataclasses.asdict(report.learner),
        "pit": None if report.pit is None else dataclasses.asdict(report.pit),
        "window": report.window,
        "last": report.last,
    }


def assert_same(found, expected, where=""):
    """Assert that nested dictionaries of arrays and numbers are equal; NaN equals NaN."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), where
        for key in expected:
            assert_same(found[key], expected[key], f"{where}/{key}")
    else:
        is_float = np.asarray(expected).dtype.kind == "f"
        assert np.array_equal(found, expected, equal_nan=is_float), where
