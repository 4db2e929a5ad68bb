"""Tuning: settings that are left to "auto" get the values that are fastest on this machine, by a measurement of a few seconds, once.

In: settings, a game, a fresh network. Out: the same settings with every "auto" of the speed filled in, and `Tuning`, which says what was measured. The
result is kept in the user's cache folder for each machine, game and network, so that later runs start at once and repeat.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import platform
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import torch

from alphazero.games.registry import canonical_name
from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.engine import EngineChoice
from alphazero.inference.engines.selection import candidates, measure_speeds
from alphazero.inference.network_evaluator import NetworkEvaluator, num_streams
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.jit import cache_directory
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.training.settings import TrainSettings

LOCKSTEP_SIZES = (64, 128, 256, 512)
GPU_LOCKSTEP_SIZES = (512, 1024, 2048, 4096)
_LOCKSTEP_S = 0.8  # of self-play with each number of games, after as much to warm up
_GOOD_ENOUGH = 0.97  # of the best speed: fewer games in lockstep are newer games
_ENGINE_BATCH = 64
_BFLOAT16_GAIN = 1.1  # below it the learner keeps float32


@dataclasses.dataclass
class Tuning:
    """What was measured for the settings that were left open."""

    engine_speeds: dict[str, float] = dataclasses.field(
        default_factory=dict
    )  #: evaluations/s of each engine, all threads together
    lockstep_speeds: dict[str, float] = dataclasses.field(
        default_factory=dict
    )  #: simulations/s with each number of games in lockstep
    engine: str = ""
    precision: str = ""
    learner_precision: str = ""
    num_parallel_games: int = 0
    seconds: float = 0.0  #: that the measurement took
    remembered: bool = False  #: whether it was made by an earlier run


def tune(
    settings: TrainSettings, game, network: torch.nn.Module, device: torch.device, num_threads: int
) -> Tuning | None:
    """Fill in what ``settings`` leave to "auto"; return what was measured, None if nothing was left open."""
    check_device(settings, device)
    if not _is_open(settings):
        return None
    path = _path(settings, game, device, num_threads)
    tuning = None if settings.run.retune else _remembered(path, settings)
    if tuning is None:
        tuning = _measure(settings, game, network, device, num_threads)
        _remember(path, tuning)
    settings.evaluator.engine, settings.evaluator.precision = tuning.engine, tuning.precision
    if settings.learner.precision == "auto":
        settings.learner.precision = tuning.learner_precision
    settings.selfplay.num_parallel_games = (
        settings.selfplay.num_parallel_games or tuning.num_parallel_games
    )
    return tuning


def check_device(settings: TrainSettings, device: torch.device) -> None:
    """Refuse an engine that does not run on the device; raises ConfigError with a sentence."""
    evaluator = settings.evaluator
    if not candidates(evaluator.engine, evaluator.precision, device):
        raise ConfigError(
            f"evaluator.precision={evaluator.precision} is not available on this machine; "
            "use auto, float32 or bfloat16. int8 needs OpenVINO (pip install openvino) and a CPU "
            "that supports it.",
            key="evaluator.precision",
            value=evaluator.precision,
            allowed=["auto", "float32", "bfloat16"],
        )


def _is_open(settings: TrainSettings) -> bool:
    evaluator = settings.evaluator
    return (
        "auto" in (evaluator.engine, evaluator.precision, settings.learner.precision)
        or not settings.selfplay.num_parallel_games
    )


def _measure(settings, game, network, device, num_threads) -> Tuning:
    start = time.perf_counter()
    sample = sample_positions(game, 256, np.random.default_rng(0))
    choices = candidates(settings.evaluator.engine, settings.evaluator.precision, device)
    both = (
        [EngineChoice("torch", "float32"), EngineChoice("torch", "bfloat16")]
        if settings.learner.precision == "auto"
        else []
    )
    speeds = measure_speeds(
        list(dict.fromkeys(choices + both)),
        network,
        sample.planes[:_ENGINE_BATCH],
        device,
        num_streams(device, num_threads),
    )
    by_choice = dict(speeds)
    best = next(choice for choice, _ in speeds if choice in choices)
    tuning = Tuning(
        {str(choice): round(speed) for choice, speed in speeds},
        engine=best.engine,
        precision=best.precision,
    )
    if both:
        tuning.learner_precision = (
            "bfloat16" if by_choice[both[1]] > _BFLOAT16_GAIN * by_choice[both[0]] else "float32"
        )
    if not settings.selfplay.num_parallel_games:
        _measure_lockstep(
            tuning,
            settings,
            game,
            NetworkEvaluator(network, sample, game, best, settings.evaluator, device, num_threads),
        )
    tuning.seconds = round(time.perf_counter() - start, 1)
    return tuning


def _measure_lockstep(tuning: Tuning, settings, game, evaluator: NetworkEvaluator) -> None:
    """Play with each number of games and take the smallest that is about as fast as the fastest."""
    sizes = GPU_LOCKSTEP_SIZES if evaluator.device.type == "cuda" else LOCKSTEP_SIZES
    allowed = [
        size for size in sizes if size <= max(settings.selfplay.games_per_iteration, sizes[0])
    ]
    few = dataclasses.replace(
        settings.selfplay,
        num_parallel_games=allowed[0],
        num_simulations=2,
        num_fast_simulations=2,
        carry_over=True,
    )
    for _ in ParallelSelfPlay(
        game, evaluator.streams, few, settings.search, np.random.default_rng(0)
    ).play(1):
        pass  # whole games, so that every kernel is compiled before the first of them is timed
    for size in allowed:
        options = dataclasses.replace(settings.selfplay, num_parallel_games=size, carry_over=True)
        selfplay = ParallelSelfPlay(
            game, evaluator.streams, options, settings.search, np.random.default_rng(0)
        )
        selfplay.run_for(_LOCKSTEP_S)
        before, start = selfplay.counts.num_simulations, time.perf_counter()
        selfplay.run_for(_LOCKSTEP_S)
        tuning.lockstep_speeds[str(size)] = round(
            (selfplay.counts.num_simulations - before) / (time.perf_counter() - start)
        )
    best = max(tuning.lockstep_speeds.values())
    tuning.num_parallel_games = next(
        size for size in allowed if tuning.lockstep_speeds[str(size)] >= _GOOD_ENOUGH * best
    )


def _path(settings, game, device, num_threads: int) -> Path:
    """Return the file of this machine, game and network; its name is a digest of all that the speeds depend on."""
    versions = [_version(name) for name in ("torch", "openvino", "numba", "alphazero-selfplay")]
    processor = (
        torch.cuda.get_device_name(device)
        if device.type == "cuda"
        else platform.processor() + _model_name()
    )
    parts = [
        processor,
        num_streams(device, num_threads),
        versions,
        canonical_name(game.name),
        game.planes_shape,
        dataclasses.asdict(settings.network),
    ]
    parts += [
        dataclasses.asdict(settings.evaluator),
        dataclasses.asdict(settings.selfplay),
        settings.learner.precision,
    ]
    digest = hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]
    return cache_directory().parent / f"tuning-{digest}.json"


def _model_name() -> str:
    lines = (
        Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []
    )
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), ""
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _remembered(path: Path, settings: TrainSettings) -> Tuning | None:
    """Return what an earlier run measured; None if there is nothing, nothing that can be read, or less than ``settings`` leave open."""
    try:
        tuning = Tuning(**json.loads(path.read_text()) | {"remembered": True})
    except (OSError, ValueError, TypeError):
        return None
    games = tuning.num_parallel_games or settings.selfplay.num_parallel_games
    return (
        tuning
        if tuning.engine
        and tuning.precision
        and games
        and (tuning.learner_precision or settings.learner.precision != "auto")
        else None
    )


def _remember(path: Path, tuning: Tuning) -> None:
    with contextlib.suppress(
        OSError
    ):  # where the folder cannot be written, the next run measures again
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(dataclasses.asdict(tuning), indent=1) + "\n")
        fresh.replace(path)
