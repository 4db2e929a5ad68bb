"""Choose the fastest values on this machine for settings left to "auto", within seconds.

In: settings, a game, a new network. Out: the same settings with every "auto" that affects speed
filled in, and a `Tuning` with the measured speeds. Each machine, game and network is measured once;
the tuning is kept in the user's cache folder, so that later runs start at once and make the same
choices. If a stored tuning is damaged, edited or from another version, it is measured again.
"""

import contextlib
import dataclasses
import hashlib
import json
import platform
import time
from pathlib import Path

import numpy as np
import torch

from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import sample_positions
from alphazero.inference.engines.engine import EngineChoice
from alphazero.inference.engines.selection import candidates, measure_speeds
from alphazero.inference.network_evaluator import NetworkEvaluator, num_streams
from alphazero.network.registry import identity_of
from alphazero.own_games.registry import canonical_name
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import read_text, with_checksum, write_atomically
from alphazero.runtime.jit import cache_directory, make_private
from alphazero.runtime.process import version_of
from alphazero.selfplay.threads import ParallelSelfPlay
from alphazero.training.settings import TrainSettings

LOCKSTEP_SIZES = (64, 128, 256, 512)
GPU_LOCKSTEP_SIZES = (512, 1024, 2048, 4096)
_LOCKSTEP_S = 0.8  # seconds of self-play with each number of games, after as long a warm-up
_GOOD_ENOUGH = 0.97  # fraction of the best speed: with fewer parallel games, games finish sooner
_NUM_SAMPLE_POSITIONS = 256
_ENGINE_BATCH = 64
_LEARNER_CHOICES = (EngineChoice("torch", "float32"), EngineChoice("torch", "bfloat16"))
_MIN_BFLOAT16_SPEEDUP = 1.1  # with a smaller speedup, the learner keeps float32
_LIBRARIES = ("torch", "openvino", "numba", "alphazero-selfplay")


@dataclasses.dataclass
class Tuning:
    """The speeds measured for settings left to "auto", and the chosen values."""

    engine_speeds: dict[str, float]  #: evaluations per second, all threads together, by engine
    engine: str
    precision: str
    learner_precision: str = ""
    #: simulations per second in self-play, by number of parallel games
    lockstep_speeds: dict[str, float] = dataclasses.field(default_factory=dict)
    num_parallel_games: int = 0
    seconds: float = 0.0  #: duration of the measurement
    remembered: bool = False  #: whether the measurement is from an earlier run


def tune(
    settings: TrainSettings,
    game: Game,
    network: torch.nn.Module,
    device: torch.device,
    num_threads: int,
) -> Tuning | None:
    """Fill in the settings left to "auto"; return the tuning, or None if there were none.

    Raises:
        ConfigError: if no engine has the requested precision on this machine.
    """
    check_device(settings, device)
    if not _has_auto(settings):
        return None
    path = _tuning_path(settings, game, device, num_threads)
    tuning = None if settings.run.retune else read_tuning(path)
    if tuning is None:
        tuning = _measure(settings, game, network, device, num_threads)
        text = json.dumps(dataclasses.asdict(tuning), indent=1) + "\n"
        with contextlib.suppress(OSError):  # the next run measures again
            make_private(path.parent)
            write_atomically(path, with_checksum(text).encode())
    settings.evaluator.engine = tuning.engine
    settings.evaluator.precision = tuning.precision
    if settings.learner.precision == "auto":
        settings.learner.precision = tuning.learner_precision
    if not settings.selfplay.num_parallel_games:
        settings.selfplay.num_parallel_games = tuning.num_parallel_games
    return tuning


def check_device(settings: TrainSettings, device: torch.device) -> None:
    """Check that some allowed engine has the requested precision on the device.

    Raises:
        ConfigError: if none has it.
    """
    evaluator = settings.evaluator
    if not candidates(evaluator.engine, evaluator.precision, device):
        allowed = ["auto", "float32", "bfloat16"]
        reason = "int8 needs OpenVINO (pip install openvino) and a CPU that supports it"
        raise ConfigError.of("evaluator.precision", evaluator.precision, allowed, reason)


def _has_auto(settings: TrainSettings) -> bool:
    """Return whether any setting is left to "auto"."""
    evaluator = settings.evaluator
    precisions = (evaluator.engine, evaluator.precision, settings.learner.precision)
    return "auto" in precisions or not settings.selfplay.num_parallel_games


def _tuning_path(
    settings: TrainSettings, game: Game, device: torch.device, num_threads: int
) -> Path:
    """Return the path of a stored tuning, named by a digest of all that affects the speeds."""
    depends_on = [
        _processor(device),
        num_streams(device, num_threads),
        [version_of(name) for name in _LIBRARIES],
        canonical_name(game.name),
        game.planes_shape,
        *identity_of(settings.network),
        dataclasses.asdict(settings.evaluator),
        dataclasses.asdict(settings.selfplay),
        settings.learner.precision,
    ]
    digest = hashlib.sha256(json.dumps(depends_on, default=str).encode()).hexdigest()[:16]
    return cache_directory().parent / f"tuning-{digest}.json"


def _processor(device: torch.device) -> str:
    """Return the name of the GPU or, for other devices, of the processor."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    with contextlib.suppress(OSError):  # only Linux has this file
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line
    return platform.processor()


def read_tuning(path: Path) -> Tuning | None:
    """Read a stored tuning; None if it is missing, damaged, edited or from another version."""
    try:
        stored = json.loads(read_text(path).partition("\n")[2])
        return Tuning(**stored | {"remembered": True})
    except (ValueError, TypeError):  # TypeError: unexpected or missing fields
        return None


def _measure(
    settings: TrainSettings,
    game: Game,
    network: torch.nn.Module,
    device: torch.device,
    num_threads: int,
) -> Tuning:
    """Measure the engines' speeds, then that of self-play with the fastest one."""
    start = time.perf_counter()
    sample = sample_positions(game, _NUM_SAMPLE_POSITIONS, np.random.default_rng(0))
    evaluator = settings.evaluator
    choices = candidates(evaluator.engine, evaluator.precision, device)
    is_open = settings.learner.precision == "auto" and device.type != "mps"  # on mps: float32
    measured = [*choices, *(_LEARNER_CHOICES if is_open else ())]
    planes = sample.planes[:_ENGINE_BATCH]
    num_calls = num_streams(device, num_threads)
    speeds = measure_speeds(list(dict.fromkeys(measured)), network, planes, device, num_calls)
    # If none of the choices can run the network, the evaluator's error says why.
    best = next((choice for choice, _ in speeds if choice in choices), choices[0])
    tuning = Tuning({str(choice): round(speed) for choice, speed in speeds}, *best)
    if settings.learner.precision == "auto":
        tuning.learner_precision = _learner_precision(dict(speeds)) if is_open else "float32"
    if not settings.selfplay.num_parallel_games:
        runner = NetworkEvaluator(network, sample, game, best, evaluator, device, num_threads)
        _measure_parallel_games(tuning, settings, game, runner)
    tuning.seconds = round(time.perf_counter() - start, 1)
    return tuning


def _learner_precision(speeds: dict[EngineChoice, float]) -> str:
    """Choose the learner's precision by the measured speeds of torch's forward pass."""
    float32, bfloat16 = (speeds.get(choice, 0.0) for choice in _LEARNER_CHOICES)
    return "bfloat16" if bfloat16 > _MIN_BFLOAT16_SPEEDUP * float32 else "float32"


def _measure_parallel_games(
    tuning: Tuning, settings: TrainSettings, game: Game, evaluator: NetworkEvaluator
) -> None:
    """Measure self-play with several numbers of parallel games; choose the smallest fast one."""
    known = GPU_LOCKSTEP_SIZES if evaluator.device.type == "cuda" else LOCKSTEP_SIZES
    largest = max(settings.selfplay.games_per_iteration, known[0])
    sizes = [size for size in known if size <= largest]

    def make_selfplay(size: int, **changes: int) -> ParallelSelfPlay:
        options = dataclasses.replace(
            settings.selfplay, num_parallel_games=size, carry_over=True, **changes
        )
        generator = np.random.default_rng(0)
        return ParallelSelfPlay(game, evaluator.streams, options, settings.search, generator)

    # One whole game compiles every kernel before anything is timed.
    for _ in make_selfplay(sizes[0], num_simulations=2).play(1):
        pass
    for size in sizes:
        tuning.lockstep_speeds[str(size)] = round(_simulations_per_s(make_selfplay(size)))
    best = max(tuning.lockstep_speeds.values())
    fast = [size for size in sizes if tuning.lockstep_speeds[str(size)] >= _GOOD_ENOUGH * best]
    tuning.num_parallel_games = fast[0]


def _simulations_per_s(selfplay: ParallelSelfPlay) -> float:
    """Measure the simulations per second of self-play, after a warm-up."""
    selfplay.run_for(_LOCKSTEP_S)
    before = selfplay.counts.num_simulations
    start = time.perf_counter()
    selfplay.run_for(_LOCKSTEP_S)
    return (selfplay.counts.num_simulations - before) / (time.perf_counter() - start)
