"""The cost of checking every network answer in self-play."""

import statistics
import time

from alphazero.inference import verified_engine
from alphazero.inference.evaluator import checked
from alphazero.runtime.device import choose_device
from benchmark_parts import measuring
from benchmark_parts.engines import NETWORKS, fastest, network_of
from benchmark_parts.measuring import Row
from benchmark_parts.selfplay import BATCH, CACHE_MB, Case, SelfPlayRun

RUN_S = 1.0  #: seconds of a run with the check, and of one without it


class TimedCheck:
    """The check of answers, which records its own time and can be switched off."""

    def __init__(self) -> None:
        self.is_on = True
        self.times: list[float] = []  # a list, because several threads append to it

    def __call__(self, answers, *shape):
        """Check and return ``answers`` like `alphazero.inference.evaluator.checked`."""
        if not self.is_on:
            return answers
        start = time.perf_counter()
        checked(answers, *shape)
        self.times.append(time.perf_counter() - start)
        return answers


def measure_checks(repeats: int) -> list[Row]:
    """Measure self-play with and without the check, in turn; on a GPU if there is one."""
    num_cores = measuring.core_counts()[-1]
    rows = []
    for name, network in NETWORKS.items():
        figures = measuring.in_new_process(num_cores, _figures, name, network, num_cores, repeats)
        rows.append(Row(f"{name} {network}", figures))
    return rows


def _figures(name: str, network: str, num_threads: int, repeats: int) -> dict[str, float]:
    device = choose_device("auto")
    _, module, sample = network_of(name, network)
    choice = fastest(network, device)
    case = Case(name, network, num_threads, BATCH)
    run = SelfPlayRun(case, module, sample, choice, CACHE_MB, device)
    timed = verified_engine.checked = TimedCheck()
    run.figures(2 * RUN_S)
    fractions, ratios, speeds = [], [], []
    for index in range(10 * repeats):
        rates = {}
        for is_on in (True, False) if index % 2 else (False, True):
            timed.is_on, timed.times = is_on, []
            rates[is_on] = run.figures(RUN_S)["simulations_per_s"]
            if is_on:
                fractions.append(sum(timed.times) / (RUN_S * len(run.evaluator.streams)))
        speeds.append(rates[True])
        ratios.append(rates[True] / rates[False])
    return {
        "simulations_per_s": statistics.median(speeds),
        "fraction_of_time_in_checks": statistics.median(fractions),
        "ratio_to_unchecked": statistics.median(ratios),
        "standard_error_of_the_ratio": statistics.stdev(ratios) / len(ratios) ** 0.5,
    }
