"""Which engines there are on this machine, how fast they are, and in which order they stand in for each other.

In: a network and the settings that leave something open. Out: `EngineChoice`s with their measured speeds.
"""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch

from alphazero.inference.engines.engine import REFERENCE, EngineChoice, make_engine

_ROUNDS = 9
_ROUND_S = 0.02  # of one engine in one round


class EngineSpeed(NamedTuple):
    """What the measurement found."""

    choice: EngineChoice
    evaluations_per_s: float


def candidates(engine: str, precision: str, device: torch.device) -> list[EngineChoice]:
    """Return the engines that the settings allow and the machine has; "auto" leaves all open but torch_compile, which takes long to start."""
    from alphazero.inference.engines import openvino_engine

    engines = ["torch", "openvino"] if engine == "auto" else [engine]
    found = []
    for name in engines:
        able = (
            openvino_engine.precisions()
            if name == "openvino" and device.type == "cpu"
            else ["float32", "bfloat16"]
        )
        if engine == "auto" and name == "openvino" and device.type != "cpu":
            continue
        if engine == "openvino":
            able = able or ["float32"]  # where it is not installed, the engine itself says so
        found += [
            EngineChoice(name, one)
            for one in (able if precision == "auto" else [precision])
            if engine != "auto" or one in able
        ]
    return found


def fallbacks(choice: EngineChoice) -> list[EngineChoice]:
    """Return ``choice`` and, after it, what takes its place where its answers are too far from the reference's: ever more precise ones."""
    order = [choice]
    if choice.precision == "int8":
        from alphazero.inference.engines import openvino_engine

        if "bfloat16" in openvino_engine.precisions():  # some processors have int8 but no bfloat16
            order.append(choice._replace(precision="bfloat16"))
    order += [choice._replace(precision="float32"), REFERENCE]
    return list(dict.fromkeys(order))


def measure_speeds(
    choices, network: torch.nn.Module, planes: np.ndarray, device: torch.device, num_threads: int
) -> list[EngineSpeed]:
    """Return the speeds of the engines, the fastest first, each keeping ``num_threads`` threads busy with batches of ``planes``.

    The engines take turns, so that a moment in which the machine is busy does not decide; medians count.
    """
    engines = {}
    for choice in choices:
        engines[choice] = make_engine(choice, device, num_threads)
        engines[choice].load(network, planes)
    samples = {choice: [] for choice in engines}
    with ThreadPoolExecutor(num_threads) as pool:
        for round_index in range(_ROUNDS + 1):
            for choice, engine in engines.items():
                speed = sum(
                    pool.map(_evaluations_per_s, [engine] * num_threads, [planes] * num_threads)
                )
                if round_index:  # the first one makes what is made once
                    samples[choice].append(speed)
    speeds = [EngineSpeed(choice, statistics.median(found)) for choice, found in samples.items()]
    return sorted(speeds, key=lambda speed: -speed.evaluations_per_s)


def _evaluations_per_s(engine, planes: np.ndarray) -> float:
    start, calls = time.perf_counter(), 0
    while calls == 0 or time.perf_counter() - start < _ROUND_S:
        engine.evaluate(planes)
        calls += 1
    return calls * len(planes) / (time.perf_counter() - start)
