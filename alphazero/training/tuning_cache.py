"""Tunings of earlier runs: what was measured on this machine, kept in the user's cache folder.

In: settings, a game, a device. Out: the file that a tuning for them belongs to, and its contents.
"""

import dataclasses
from pathlib import Path

import torch

from alphazero.games.batched_game import Game
from alphazero.games.registry import canonical_name
from alphazero.inference.measurements import (
    measurement_path,
    read_measurement,
    write_measurement,
)
from alphazero.training.settings import TrainSettings


@dataclasses.dataclass
class Tuning:
    """What was measured for the settings left to "auto", and the choice for each of them."""

    #: network evaluations/s of each engine, of all threads together
    engine_speeds: dict[str, float] = dataclasses.field(default_factory=dict)
    #: simulations/s of self-play with each number of parallel games
    lockstep_speeds: dict[str, float] = dataclasses.field(default_factory=dict)
    engine: str = ""
    precision: str = ""
    learner_precision: str = ""
    num_parallel_games: int = 0
    seconds: float = 0.0  #: duration of the measurement
    remembered: bool = False  #: whether an earlier run made it


def tuning_path(
    settings: TrainSettings, game: Game, device: torch.device, num_threads: int
) -> Path:
    """Return the file of a tuning; its name is a digest of all that the speeds depend on."""
    depends_on = [
        canonical_name(game.name),
        game.planes_shape,
        dataclasses.asdict(settings.network),
        dataclasses.asdict(settings.evaluator),
        dataclasses.asdict(settings.selfplay),
        settings.learner.precision,
    ]
    return measurement_path("tuning", device, num_threads, depends_on)


def read_tuning(path: Path, settings: TrainSettings) -> Tuning | None:
    """Return a stored tuning; None if there is none that has what ``settings`` leave to "auto"."""
    try:
        tuning = Tuning(**(read_measurement(path) or {}) | {"remembered": True})
    except TypeError:
        return None
    has_all = (
        tuning.engine
        and tuning.precision
        and (tuning.num_parallel_games or settings.selfplay.num_parallel_games)
        and (tuning.learner_precision or settings.learner.precision != "auto")
    )
    return tuning if has_all else None


def write_tuning(path: Path, tuning: Tuning) -> None:
    """Store a tuning; where the folder cannot be written, the next run measures again."""
    write_measurement(path, dataclasses.asdict(tuning))
