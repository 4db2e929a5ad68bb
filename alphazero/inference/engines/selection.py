"""The engines that this machine has, their speeds, and the replacements for inaccurate ones.

In: a network, and settings that may be "auto". Out: `EngineChoice`s and their measured speeds.
"""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch

from alphazero.inference.engines.engine import REFERENCE, Engine, EngineChoice
from alphazero.inference.engines.registry import (
    ENGINES,
    load_checked,
    make_engine,
    precisions,
)
from alphazero.inference.evaluator import checked
from alphazero.runtime.errors import ConfigError

_NUM_ROUNDS = 9
_ROUND_S = 0.02  # seconds of one engine's turn


class EngineSpeed(NamedTuple):
    """The measured speed of an engine."""

    choice: EngineChoice
    evaluations_per_s: float  #: positions per second, all threads together


def candidates(engine: str, precision: str, device: torch.device) -> list[EngineChoice]:
    """Return the engines that the settings allow and this machine has.

    "auto" allows every engine or precision. A named engine is returned even if this machine lacks
    it; the error from `make_engine` then says what is missing.
    """
    if engine == "auto":
        found = [EngineChoice(e, one) for e in ENGINES for one in precisions(e, device)]
        return [choice for choice in found if precision in ("auto", choice.precision)]
    if precision == "auto":
        return [EngineChoice(engine, one) for one in precisions(engine, device) or ["float32"]]
    return [EngineChoice(engine, precision)]


def preferred_engine(wanted: EngineChoice, device: torch.device) -> EngineChoice:
    """Choose a player's engine without measuring any, so that the first move comes at once.

    Args:
        wanted: the player's settings. With a named engine, the precision "auto" means float32. With
            the engine "auto", OpenVINO is preferred to torch, in its fastest precision.
    """
    if wanted.engine == "auto":
        available = candidates("auto", wanted.precision, device)
        for precision in ("int8", "bfloat16", "float32"):
            if EngineChoice("openvino", precision) in available:
                return EngineChoice("openvino", precision)
    engine = "torch" if wanted.engine == "auto" else wanted.engine
    return EngineChoice(engine, "float32" if wanted.precision == "auto" else wanted.precision)


def fallbacks(choice: EngineChoice, device: torch.device) -> list[EngineChoice]:
    """Return ``choice``, then the engines that replace it, one after another, if it is inaccurate.

    Each is more precise than the one before; the last one is the reference.
    """
    order = [choice]
    if choice.precision == "int8" and "bfloat16" in precisions(choice.engine, device):
        order.append(choice._replace(precision="bfloat16"))  # some processors have only int8
    order += [choice._replace(precision="float32"), REFERENCE]
    return list(dict.fromkeys(order))


def measure_speeds(
    choices, network: torch.nn.Module, planes: np.ndarray, device: torch.device, num_threads: int
) -> list[EngineSpeed]:
    """Measure the engines' speeds, fastest first, without engines that cannot run the network.

    Each engine keeps ``num_threads`` threads busy with batches of ``planes``. The engines take
    turns and the median counts, so that short bursts of other work do not matter.
    """
    engines = _loaded(choices, network, planes, device, num_threads)
    speeds = _speeds(engines, planes, num_threads)
    return sorted(speeds, key=lambda speed: -speed.evaluations_per_s)


def _loaded(choices, network, planes, device, num_threads) -> dict[EngineChoice, Engine]:
    """Make the engines that can run a network, and load it into them.

    Raises:
        ConfigError: if none can.
        ImpossibleAnswersError: if the reference engine's outputs are impossible.
    """
    reference = _load(REFERENCE, network, planes, device, num_threads)
    logits, values = reference.evaluate(planes)
    checked((logits, values), len(planes), logits.shape[-1])
    engines = {}
    refusal = None
    for choice in choices:
        try:
            engines[choice] = _load(choice, network, planes, device, num_threads)
        except ConfigError as error:
            refusal = refusal or error
    if refusal is not None and not engines:
        raise refusal
    return engines


def _load(choice: EngineChoice, network, planes, device, num_threads) -> Engine:
    engine = make_engine(choice, device, num_threads)
    load_checked(engine, choice, network, planes)
    return engine


def _speeds(engines, planes: np.ndarray, num_threads: int) -> list[EngineSpeed]:
    samples: dict[EngineChoice, list[float]] = {choice: [] for choice in engines}
    batches = [planes] * num_threads
    with ThreadPoolExecutor(num_threads) as pool:
        for round_index in range(_NUM_ROUNDS + 1):
            for choice, engine in engines.items():
                speed = sum(pool.map(_evaluations_per_s, [engine] * num_threads, batches))
                if round_index:  # the first round warms up
                    samples[choice].append(speed)
    return [EngineSpeed(choice, statistics.median(found)) for choice, found in samples.items()]


def _evaluations_per_s(engine, planes: np.ndarray) -> float:
    start = time.perf_counter()
    calls = 0
    while calls == 0 or time.perf_counter() - start < _ROUND_S:
        engine.evaluate(planes)
        calls += 1
    return calls * len(planes) / (time.perf_counter() - start)
