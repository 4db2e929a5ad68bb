"""Self-play with an untrained network (speed, scaling, memory), and search without a network."""

import itertools
import math
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alphazero.inference.engines.registry import EngineChoice
from alphazero.inference.evaluator import UniformEvaluator
from alphazero.inference.network_evaluator import EvaluatorSettings, NetworkEvaluator
from alphazero.own_games.registry import make_game
from alphazero.runtime.random_generators import child_generator
from alphazero.search.batched_search import TreeSearch
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.selfplay.threads import ParallelSelfPlay
from benchmark_parts import measuring
from benchmark_parts.engines import (
    CPU,
    NETWORKS,
    eager_per_s,
    evaluations_per_s,
    fastest,
    network_of,
)
from benchmark_parts.measuring import Row, cores_label, in_turn

BATCH = 256  #: games in lockstep per thread
NUM_SIMULATIONS = 200
RUN_S = 3.0  #: seconds of one run of self-play
SCALING_RUN_S = 1.0
CACHE_MB = 128
NUM_SEARCHES = 256  #: games in lockstep, over all threads, in the search without a network
NUM_MEMORY_GAMES = 1200


@dataclass(frozen=True)
class Case:
    """The game, network and sizes with which self-play is measured."""

    game: str = "connect_four"
    network: str = "4x48"  #: a file of configs/network
    num_threads: int = 1
    batch: int = 128  #: games in lockstep per thread
    num_simulations: int = NUM_SIMULATIONS


class SelfPlayRun:
    """Self-play that can be continued and measured in intervals."""

    def __init__(
        self, case: Case, network, sample, choice: EngineChoice, cache_mb: int, device=CPU
    ):
        game = make_game(case.game)
        self.network, self.num_threads = network.to(device), case.num_threads
        settings = EvaluatorSettings(cache_mb=cache_mb)
        self.evaluator = NetworkEvaluator(
            self.network, sample, game, choice, settings, device, case.num_threads
        )
        options = SelfPlaySettings(
            num_parallel_games=case.batch * case.num_threads,
            num_simulations=case.num_simulations,
        )
        generator = child_generator(0, "benchmark")
        self.selfplay = ParallelSelfPlay(
            game, self.evaluator.streams, options, SearchSettings(), generator
        )
        self._steps = self.selfplay.play_in_steps(10**9, 1.0)
        self.planes = np.resize(sample.planes, (case.batch, *game.planes_shape))

    def figures(self, seconds: float) -> dict[str, float]:
        """Continue for ``seconds`` with an emptied cache, as after new weights; return speeds."""
        self.evaluator.update(self.network)
        before, num_positions = self.selfplay.counts, self._num_positions()
        stream_counts = self._stream_counts()
        started = time.perf_counter()
        while time.perf_counter() - started < seconds:
            next(self._steps)
        seconds = time.perf_counter() - started
        worker_seconds = seconds * len(self.selfplay.workers)
        counts = self.selfplay.counts
        num_requested, num_evaluated, network_s = self._stream_counts() - stream_counts
        num_evaluations = counts.num_evaluations - before.num_evaluations
        figures = {
            "positions_per_s": (self._num_positions() - num_positions) / seconds,
            "simulations_per_s": (counts.num_simulations - before.num_simulations) / seconds,
            "evaluator_fraction": (counts.evaluator_s - before.evaluator_s) / worker_seconds,
            "network_fraction": network_s / worker_seconds,
            "mean_batch": num_evaluations / (counts.num_batches - before.num_batches),
        }
        if self.evaluator.settings.cache_mb:
            figures["hit_rate"] = (num_requested - num_evaluated) / max(num_evaluations, 1)
        return figures

    def engine_alone_per_s(self) -> float:
        """Return evaluations/s of the engine without search, with one full batch per thread."""
        with ThreadPoolExecutor(self.num_threads) as pool:
            streams = self.evaluator.streams
            return sum(pool.map(evaluations_per_s, streams, [self.planes] * len(streams)))

    def _num_positions(self) -> int:
        """Return the number of moves chosen by a search so far, over all threads."""
        return sum(worker.num_positions for worker in self.selfplay.workers)

    def _stream_counts(self) -> np.ndarray:
        """Return the sums of the streams' `EvaluationCounts`."""
        return np.sum([stream.counts for stream in self.evaluator.streams], axis=0)


def measure_selfplay(repeats: int) -> list[Row]:
    """Measure self-play without and with the cache, compared with its engine and eager torch."""
    rows = []
    for name, network in [*NETWORKS.items(), *itertools.product(NETWORKS, ("windows", "patterns"))]:
        for num_cores in measuring.core_counts():
            case = Case(name, network, num_cores, BATCH, NUM_SIMULATIONS)
            figures = measuring.in_new_process(num_cores, _selfplay_figures, case, repeats)
            rows.append(Row(f"{name} {network}, {cores_label(num_cores)}", figures))
    return rows


def _selfplay_figures(case: Case, repeats: int) -> dict[str, float]:
    """Measure all parts in turn; return the medians over all rounds but the first."""
    _, network, sample = network_of(case.game, case.network)
    choice = fastest(case.network)
    plain, cached = (
        SelfPlayRun(case, network, sample, choice, cache_mb) for cache_mb in (0, CACHE_MB)
    )
    rounds = []
    for _ in range(repeats + 1):
        figures = plain.figures(RUN_S)
        speed = figures["simulations_per_s"]
        engine = plain.engine_alone_per_s()
        eager = eager_per_s(network, plain.planes, case.num_threads)
        figures["engine_alone_evaluations_per_s"] = engine
        figures["torch_eager_float32_evaluations_per_s"] = eager
        with_cache = cached.figures(RUN_S)
        figures |= {f"with_cache_{key}": figure for key, figure in with_cache.items()}
        figures["ratio_to_engine_alone"] = speed / engine
        figures["ratio_to_torch_eager_float32"] = speed / eager
        figures["gain_of_the_cache"] = with_cache["simulations_per_s"] / speed
        rounds.append(figures)
    return _medians(rounds[1:])


def measure_search(repeats: int) -> list[Row]:
    """Measure search and game rules with an evaluator that costs nothing."""
    return [
        Row(
            f"{name}, {cores_label(num_cores)}",
            measuring.in_new_process(num_cores, _search_figures, name, num_cores, repeats),
        )
        for name in NETWORKS
        for num_cores in measuring.core_counts()
    ]


def _search_figures(name: str, num_threads: int, repeats: int) -> dict[str, float]:
    game, batch = make_game(name), NUM_SEARCHES // num_threads
    searches = [
        TreeSearch(
            game,
            UniformEvaluator(game.num_actions),
            num_games=batch,
            max_simulations=NUM_SIMULATIONS,
            settings=SearchSettings(),
            generator=child_generator(thread, "benchmark"),
            explores=True,
        )
        for thread in range(num_threads)
    ]
    rows, states = np.arange(batch), game.initial_states(batch)

    def search_once(search) -> int:
        before = search.counts.num_simulations
        search.reset(rows, states, NUM_SIMULATIONS)
        search.run()
        return search.counts.num_simulations - before

    def run(_seed: int) -> float:
        started = time.perf_counter()
        num_simulations = sum(pool.map(search_once, searches))
        return num_simulations / (time.perf_counter() - started)

    with ThreadPoolExecutor(num_threads) as pool:
        return in_turn({"simulations_per_s": run}, repeats)


def measure_scaling(repeats: int) -> list[Row]:
    """Measure self-play with one setting changed at a time."""
    all_cores = measuring.core_counts()[-1]
    base = {"num_threads": all_cores}
    variants: dict[str, dict] = {
        f"{batch} games a thread": {"batch": batch} for batch in (16, 32, 64, 128, 256, 512)
    }
    for number in (50, 200, 800):
        variants[f"{number} simulations"] = {"num_simulations": number}
    for network in ("windows", "patterns", "2x32", "4x48", "5x64", "6x128"):
        variants[f"network {network}"] = {"network": network}
    for num_threads in range(1, all_cores + 1):
        variants[cores_label(num_threads)] = {"num_threads": num_threads}
    rows = []
    for name, changed in variants.items():
        case = Case(**(base | changed))
        figures = measuring.in_new_process(case.num_threads, _scaling_figures, case, repeats)
        rows.append(Row(name, figures))
    return rows


def _scaling_figures(case: Case, repeats: int) -> dict[str, float]:
    _, network, sample = network_of(case.game, case.network)
    choice = fastest(case.network)
    run = SelfPlayRun(case, network, sample, choice, cache_mb=0)
    figures = _medians([run.figures(SCALING_RUN_S) for _ in range(repeats + 1)][1:])
    shown = ("simulations_per_s", "positions_per_s", "evaluator_fraction")
    return {key: figures[key] for key in shown}


def measure_memory(repeats: int) -> list[Row]:
    """Measure the memory of self-play while it runs. Every case runs once."""
    del repeats
    num_cores = measuring.core_counts()[-1]
    rows = []
    for name, network in NETWORKS.items():
        case = Case(name, network, num_cores, batch=64, num_simulations=64)
        figures = measuring.in_new_process(num_cores, _memory_figures, case, NUM_MEMORY_GAMES)
        rows.append(Row(f"{name} {network}, {cores_label(num_cores)}", figures))
    return rows


def _memory_figures(case: Case, num_games: int) -> dict[str, float]:
    """Return MB in use after each quarter of the games; the weights change twelve times."""
    import resource

    _, network, sample = network_of(case.game, case.network)
    choice = fastest(case.network)
    run = SelfPlayRun(case, network, sample, choice, CACHE_MB)
    figures = {}
    for quarter in range(1, 5):
        for _ in range(3):
            for _record in run.selfplay.play(num_games // 12):
                pass
            run.evaluator.update(network)
        figures[f"after_{quarter * num_games // 4}_games_mb"] = _resident_mb()
    unit = 1 if sys.platform == "darwin" else 1024
    return figures | {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6}


def _resident_mb() -> float:
    """Return this process's current memory in MB, NaN if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return math.nan
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(figures[key] for figures in rounds) for key in rounds[0]}
