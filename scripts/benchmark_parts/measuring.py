"""How the benchmark measures: medians of runs that take turns, on a given number of cores.

This file imports no library that starts threads, so that a new process can be limited to some cores
before such a library is loaded.
"""

import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """The figures of one measured case."""

    name: str
    figures: dict[str, float]  #: figures by name; names end in the unit: "simulations_per_s"


def in_turn(runs: dict[str, Callable[[int], float]], repeats: int) -> dict[str, float]:
    """Return the median figure of each run.

    The runs take turns, so that a busy moment of the machine affects all of them. The first call of
    each is not counted, because it compiles or loads compiled code.

    Args:
        runs: functions from a seed to a figure.
    """
    figures: dict[str, list[float]] = {name: [] for name in runs}
    for seed in range(repeats + 1):
        for name, run in runs.items():
            figures[name].append(run(seed))
    return {name: statistics.median(numbers[1:]) for name, numbers in figures.items()}


def in_new_process(num_cores: int, function: Callable, *arguments):
    """Return ``function(*arguments)``, computed in a new process with ``num_cores`` cores.

    The process is new because libraries count the cores only once, when they are loaded.
    """
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    with context.Pool(1, initializer=_limit_process, initargs=(num_cores,)) as pool:
        return pool.apply(function, arguments)


def _limit_process(num_cores: int) -> None:
    """Limit this process to some cores, if the system can, and torch to as many threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:num_cores])
    from alphazero.runtime.device import set_num_threads

    set_num_threads(num_cores)


def core_counts() -> list[int]:
    """Return the numbers of cores to measure with: 1, and all cores of this machine."""
    from alphazero.runtime.device import num_cores

    return sorted({1, num_cores()})


def cores_label(num_cores: int) -> str:
    """Return a number of cores as text: "1 core" or "4 cores"."""
    return f"{num_cores} core{'s' * (num_cores > 1)}"
