"""How the benchmark measures: medians of runs that take turns, on a given number of cores.

Knows nothing of what is measured. Imports no library that starts threads, so that a new process can
be limited to some cores before such a library is loaded.
"""

import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measured case."""

    name: str
    figures: dict[str, float]  #: names end in the unit, such as "simulations_per_s"


def in_turn(runs: dict[str, Callable[[int], float]], repeats: int) -> dict[str, float]:
    """Return the median of each run.

    The runs take turns, so that a busy moment of the machine affects all of them. Each is called
    once more than counted: the first call compiles or loads compiled code.

    Args:
        runs: functions from a seed to a figure.
    """
    found: dict[str, list[float]] = {name: [] for name in runs}
    for seed in range(repeats + 1):
        for name, run in runs.items():
            found[name].append(run(seed))
    return {name: statistics.median(numbers[1:]) for name, numbers in found.items()}


def in_new_process(num_cores: int, function: Callable, *arguments):
    """Return ``function(*arguments)``, computed in a new process that has ``num_cores`` cores.

    A new process, because libraries count the cores once, when they are loaded.
    """
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    with context.Pool(1, initializer=_limit_process, initargs=(num_cores,)) as pool:
        return pool.apply(function, arguments)


def _limit_process(num_cores: int) -> None:
    """Limit this process to some cores, where the system can, and torch to as many threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:num_cores])
    from alphazero.runtime.device import set_num_threads

    set_num_threads(num_cores)


def core_counts() -> list[int]:
    """Return 1 and, if it is larger, the number of this machine's cores."""
    from alphazero.runtime.device import num_cores

    return sorted({1, num_cores()})


def cores_label(num_cores: int) -> str:
    """Return "1 core" or "4 cores"."""
    return f"{num_cores} core{'s' * (num_cores > 1)}"
