"""Tunings of earlier runs: what was measured on this machine, kept in the user's cache folder.

In: settings, a game, a device. Out: the file that a tuning for them belongs to, and its contents.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import platform
from importlib import metadata
from pathlib import Path

import torch

from alphazero.games.batched_game import Game
from alphazero.games.registry import canonical_name
from alphazero.inference.network_evaluator import num_streams
from alphazero.runtime.jit import cache_directory
from alphazero.training.settings import TrainSettings

_LIBRARIES = ("torch", "openvino", "numba", "alphazero-selfplay")


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
    parts = [
        _processor(device),
        num_streams(device, num_threads),
        [_version(name) for name in _LIBRARIES],
        canonical_name(game.name),
        game.planes_shape,
        dataclasses.asdict(settings.network),
        dataclasses.asdict(settings.evaluator),
        dataclasses.asdict(settings.selfplay),
        settings.learner.precision,
    ]
    digest = hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]
    return cache_directory().parent / f"tuning-{digest}.json"


def read_tuning(path: Path, settings: TrainSettings) -> Tuning | None:
    """Return a stored tuning; None if there is none that has what ``settings`` leave to "auto"."""
    try:
        tuning = Tuning(**json.loads(path.read_text()) | {"remembered": True})
    except (OSError, ValueError, TypeError):
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
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(dataclasses.asdict(tuning), indent=1) + "\n")
        temporary.replace(path)


def _processor(device: torch.device) -> str:
    """Return the name of the GPU, or of the processor."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    name = platform.processor()
    with contextlib.suppress(OSError):  # there is no such file outside Linux
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        name += models[0] if models else ""
    return name


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
