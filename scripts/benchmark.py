"""Measure how fast the pipeline is on this machine: `python scripts/benchmark.py`, with `--only uct,playouts` for parts of it.

uct       simulations/s of the UCT baseline from the start position, one thread, beside OpenSpiel's C++ bot where `open_spiel` is
          installed: the same number of simulations, random rollouts and C, a fresh tree for each run, runs in turn, medians.
playouts  random games/s from the start position, one thread.
solver    our own exact solvers: time for the scores of all actions of one position, and nodes/s; Connect Four by ply, Othello by empty squares.
engines   evaluations/s of an untrained network with each engine, on one core and on all of them.
selfplay  self-play with an untrained network and the fastest engine, full searches of 200 simulations, on one core and on all of them, beside
          what that engine alone and torch's eager float32 do in the same minute; without and with the cache.
search    the same without a network: an evaluator that costs nothing, 256 games, 200 simulations.
learner   rows/s of the learner with the replay, beside the network's arithmetic alone.
scaling   simulations/s of self-play by games in lockstep, simulations, size of the network and number of threads, without the cache.
memory    memory of self-play while it plays 1,200 games, each row in a process of its own.

A section is a function that returns rows; a row's figures carry their units in their names, on the screen as in the JSON file.
"""

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from alphazero.games.registry import make_game
from alphazero.runtime import jit
from alphazero.runtime.openmp import limit_spinning
from alphazero.runtime.random_generators import child_generator, kernel_rng
from alphazero.search.uct.search import UctSearch, UctSettings

#: Simulations of one run: a fraction of a second each, for OpenSpiel's bot up to two seconds.
UCT_SIMULATIONS = {"tic_tac_toe": 100_000, "connect_four": 50_000, "othello": 10_000}
PLAYOUTS = {"tic_tac_toe": 200_000, "connect_four": 100_000, "othello": 20_000}
SOLVER_PLIES = (24, 20, 16, 14, 12)  # of random games of Connect Four
SOLVER_EMPTIES = {
    "othello:6": (12, 14, 16, 18),
    "othello": (12, 14, 16, 18),
}  # of random games of Othello
SOLVER_POSITIONS = 12  # in each row
SELFPLAY_GAMES = {
    "connect_four": (5, 64),
    "othello:6": (4, 64),
}  # with blocks and channels of the network
SELFPLAY_BATCH = 256  # games in lockstep for each thread
SELFPLAY_SIMULATIONS = 200
SELFPLAY_S = 3.0  # of one run
ALONE_S = 0.7
LEARNER_NETWORKS = {"4x48": 256, "tiny": 64}  # with the rows of a batch
MEMORY_GAMES = 1200
_MOST_COLUMNS = 5
PACKAGES = ("numpy", "numba", "torch", "openvino", "open_spiel")
OPEN_SPIEL_MEMORY_MB = (
    4000  # more than any run needs: with less the bot would collect garbage in between
)


@dataclass(frozen=True)
class Row:
    """One line of a section."""

    name: str
    figures: dict[str, float]


@dataclass(frozen=True)
class Settings:
    """How often everything is measured."""

    repeats: int


# --- uct --------------------------------------------------------------------------------------------------------------------------------


def uct_rows(settings: Settings) -> list[Row]:
    """Measure simulations/s of UCT, and of OpenSpiel's C++ bot in the same minute."""
    return [
        Row(name, uct_figures(name, num_simulations, settings.repeats))
        for name, num_simulations in UCT_SIMULATIONS.items()
    ]


def uct_figures(name: str, num_simulations: int, repeats: int) -> dict[str, float]:
    runs = {
        "simulations_per_s": lambda seed: run_uct(name, num_simulations, seed),
        "by_position_simulations_per_s": lambda seed: run_uct(
            name, num_simulations, seed, statistics="position"
        ),
    }
    if has_open_spiel():
        runs["open_spiel_simulations_per_s"] = lambda seed: run_open_spiel(
            name, num_simulations, seed, solve=False
        )
        runs["open_spiel_solving_simulations_per_s"] = lambda seed: run_open_spiel(
            name, num_simulations, seed, solve=True
        )
    figures = {"simulations": num_simulations, **in_turn(runs, repeats)}
    if has_open_spiel():
        figures["ratio"] = figures["simulations_per_s"] / figures["open_spiel_simulations_per_s"]
    return figures


def run_uct(name: str, num_simulations: int, seed: int, **options) -> float:
    """Return simulations/s of one search with a tree of its own."""
    game = make_game(name)
    search = UctSearch(game, UctSettings(num_simulations=num_simulations, **options), seed)
    state = game.initial_states()[0]
    started = time.perf_counter()
    found = search.run(state)
    seconds = time.perf_counter() - started
    assert found.visits.sum() == found.num_simulations == num_simulations
    return found.num_simulations / seconds


def run_open_spiel(name: str, num_simulations: int, seed: int, solve: bool) -> float:
    """Return simulations/s of one search of OpenSpiel's C++ bot. With ``solve`` it proves results, and may end before its number."""
    import pyspiel

    state = pyspiel.load_game(name).new_initial_state()
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    bot = pyspiel.MCTSBot(
        pyspiel.load_game(name),
        evaluator,
        math.sqrt(2.0),
        num_simulations,
        OPEN_SPIEL_MEMORY_MB,
        solve,
        seed,
        False,
    )
    started = time.perf_counter()
    root = bot.mcts_search(state)
    seconds = time.perf_counter() - started
    assert solve or root.explore_count == num_simulations
    return root.explore_count / seconds


def has_open_spiel() -> bool:
    try:
        import pyspiel  # noqa: F401
    except ImportError:
        return False
    return True


# --- playouts ---------------------------------------------------------------------------------------------------------------------------


def playout_rows(settings: Settings) -> list[Row]:
    """Measure random games/s."""
    return [
        Row(name, in_turn({"playouts_per_s": playouts_of(name, number)}, settings.repeats))
        for name, number in PLAYOUTS.items()
    ]


def playouts_of(name: str, number: int):
    game = make_game(name)
    states = game.initial_states(number)

    def run(seed: int) -> float:
        rng = kernel_rng(child_generator(seed, "benchmark"))
        started = time.perf_counter()
        game.playout(states, rng)
        return number / (time.perf_counter() - started)

    return run


# --- exact solvers ----------------------------------------------------------------------------------------------------------------------


def solver_rows(settings: Settings) -> list[Row]:
    """Measure our own solvers on positions of random games."""
    from alphazero.solvers.connect_x import ConnectXSolver
    from alphazero.solvers.othello import OthelloSolver

    cases = [("connect_four", 42 - ply, f"ply {ply}", ConnectXSolver) for ply in SOLVER_PLIES]
    cases += [
        (name, empties, f"{empties} empty", OthelloSolver)
        for name, counts in SOLVER_EMPTIES.items()
        for empties in counts
    ]
    return [
        Row(
            f"{name}, {place}", solver_figures(kind(make_game(name)), positions_with(name, empties))
        )
        for name, empties, place, kind in cases
    ]


def positions_with(name: str, empties: int) -> np.ndarray:
    """Return positions of random games with so many empty cells, in none of which the game is over, [SOLVER_POSITIONS, K]."""
    game, rng, found = make_game(name), np.random.default_rng(0), []
    cells = game.planes_shape[1] * game.planes_shape[2]
    while len(found) < SOLVER_POSITIONS:
        following = game.inspect(game.initial_states())
        while (
            not following.over[0]
            and cells - np.count_nonzero(game.cells(following.states[0])) > empties
        ):
            following = game.step(
                following.states, [rng.choice(np.flatnonzero(following.legal_action_mask[0]))]
            )
        if not following.over[0]:
            found.append(following.states[0])
    return np.stack(found)


def solver_figures(solver, states: np.ndarray) -> dict[str, float]:
    """Time every position by itself, with a table that holds what came before, as in a game."""
    type(solver)(solver.game).scores(states[:1])
    times = []
    for state in states:
        started = time.perf_counter()
        solver.scores(state[None])
        times.append(time.perf_counter() - started)
    return {
        "median_ms": 1e3 * statistics.median(times),
        "mean_ms": 1e3 * statistics.mean(times),
        "slowest_ms": 1e3 * max(times),
        "nodes": solver.num_nodes / len(states),
        "nodes_per_s": solver.num_nodes / sum(times),
    }


# --- the network and self-play ----------------------------------------------------------------------------------------------------------


def engine_rows(settings: Settings) -> list[Row]:
    """Measure each engine on one core and on all."""
    return [
        Row(label(threads), apart(threads, engine_figures, threads, settings.repeats))
        for threads in thread_counts()
    ]


def engine_figures(num_threads: int, repeats: int) -> dict[str, float]:
    from alphazero.inference.engines.selection import candidates, measure_speeds

    _, network, sample = network_of("connect_four", *SELFPLAY_GAMES["connect_four"])
    choices = candidates("auto", "auto", cpu())
    speeds = {str(choice): [] for choice in choices} | {"torch eager as it comes": []}
    for _ in range(repeats):
        for choice, speed in measure_speeds(
            choices, network, sample.planes[:128], cpu(), num_threads
        ):
            speeds[str(choice)].append(speed)
        speeds["torch eager as it comes"].append(
            plain_eager_per_s(network, sample.planes, num_threads)
        )
    return {f"{name}_evaluations_per_s": statistics.median(found) for name, found in speeds.items()}


def selfplay_rows(settings: Settings) -> list[Row]:
    """Measure self-play beside the engine and torch's eager float32 on the same cores."""
    cases = [
        (name, shape, threads)
        for name, shape in SELFPLAY_GAMES.items()
        for threads in thread_counts()
    ]
    return [
        Row(
            f"{name} {network_label(shape)}, {label(threads)}",
            apart(threads, selfplay_figures, name, shape, threads, settings.repeats),
        )
        for name, shape, threads in cases
    ]


def selfplay_figures(
    name: str, shape: tuple[int, int], num_threads: int, repeats: int
) -> dict[str, float]:
    """Let self-play without and with the cache, the engine alone and torch's eager float32 take turns."""
    game, network, sample = network_of(name, *shape)
    choice = fastest(network, sample, num_threads)
    plain, cached = (
        SelfPlayRun(game, network, sample, choice, num_threads, cache_mb) for cache_mb in (0, 128)
    )
    samples: dict[str, list[float]] = {}
    for repeat in range(repeats + 1):
        figures = plain.figures(SELFPLAY_S)
        figures["engine_alone_evaluations_per_s"] = plain.engine_alone_per_s()
        figures["torch_eager_float32_evaluations_per_s"] = plain_eager_per_s(
            network, plain.planes, num_threads
        )
        figures |= {
            f"with_cache_{key}": figure for key, figure in cached.figures(SELFPLAY_S).items()
        }
        figures["ratio_to_engine_alone"] = (
            figures["simulations_per_s"] / figures["engine_alone_evaluations_per_s"]
        )
        figures["ratio_to_torch_eager_float32"] = (
            figures["simulations_per_s"] / figures["torch_eager_float32_evaluations_per_s"]
        )
        figures["gain_of_the_cache"] = (
            figures["with_cache_simulations_per_s"] / figures["simulations_per_s"]
        )
        for key, figure in figures.items() if repeat else ():
            samples.setdefault(key, []).append(figure)
    return {key: statistics.median(numbers) for key, numbers in samples.items()}


class SelfPlayRun:
    """Self-play that is measured in pieces."""

    def __init__(
        self, game, network, sample, choice, num_threads, cache_mb, simulations=None, batch=None
    ):
        from alphazero.inference.network_evaluator import EvaluatorSettings, NetworkEvaluator
        from alphazero.search.settings import SearchSettings
        from alphazero.selfplay.settings import SelfPlaySettings
        from alphazero.selfplay.threads import ParallelSelfPlay

        simulations, batch = simulations or SELFPLAY_SIMULATIONS, batch or SELFPLAY_BATCH
        self.network, self.num_threads = network, num_threads
        self.evaluator = NetworkEvaluator(
            network,
            sample,
            game,
            choice,
            EvaluatorSettings(cache_mb=cache_mb),
            num_threads=num_threads,
        )
        options = SelfPlaySettings(
            num_parallel_games=batch * num_threads,
            num_simulations=simulations,
            full_search_fraction=1.0,
        )
        self.selfplay = ParallelSelfPlay(
            game, self.evaluator.streams, options, SearchSettings(), child_generator(0, "benchmark")
        )
        self.planes = np.resize(sample.planes, (batch, *game.planes_shape))

    def figures(self, seconds: float) -> dict[str, float]:
        """Play on for so long with an empty cache, as after a change of weights."""
        self.evaluator.update(self.network)
        before, positions, rows = (
            self.selfplay.counts,
            self.selfplay.num_positions,
            self._stream_counts(),
        )
        started = time.perf_counter()
        self.selfplay.run_for(seconds)
        seconds, counts = time.perf_counter() - started, self.selfplay.counts
        asked, evaluated, network_s = self._stream_counts() - rows
        figures = {
            "positions_per_s": (self.selfplay.num_positions - positions) / seconds,
            "simulations_per_s": (counts.num_simulations - before.num_simulations) / seconds,
            "evaluator_fraction": (counts.evaluator_s - before.evaluator_s)
            / seconds
            / len(self.selfplay.workers),
            "network_fraction": network_s / seconds / len(self.selfplay.workers),
            "mean_batch": (counts.num_evaluations - before.num_evaluations)
            / (counts.num_batches - before.num_batches),
        }
        return figures | (
            {"hit_rate": 1 - evaluated / asked} if self.evaluator.settings.cache_mb else {}
        )

    def engine_alone_per_s(self) -> float:
        """Return what the engine does when nothing else is done, every thread with the batch of its games."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self.num_threads) as pool:
            return sum(
                pool.map(
                    lambda stream: evaluations_per_s(stream, self.planes), self.evaluator.streams
                )
            )

    def _stream_counts(self):
        return np.sum([stream.counts for stream in self.evaluator.streams], axis=0)


def search_rows(settings: Settings) -> list[Row]:
    """Measure search and game alone, the games dealt out to the threads."""
    cases = [(name, threads) for name in SELFPLAY_GAMES for threads in thread_counts()]
    return [
        Row(
            f"{name}, {label(threads)}",
            apart(threads, search_figures, name, threads, settings.repeats),
        )
        for name, threads in cases
    ]


def search_figures(name: str, num_threads: int, repeats: int) -> dict[str, float]:
    from concurrent.futures import ThreadPoolExecutor

    from alphazero.inference.evaluator import UniformEvaluator
    from alphazero.search.batched_search import TreeSearch
    from alphazero.search.roots import SearchMode
    from alphazero.search.settings import SearchSettings

    game, batch, simulations = make_game(name), 256 // num_threads, 200
    searches = [
        TreeSearch(
            game,
            UniformEvaluator(game.num_actions),
            batch,
            simulations,
            SearchSettings(),
            child_generator(worker, "benchmark"),
        )
        for worker in range(num_threads)
    ]
    rows, states = np.arange(batch), game.initial_states(batch)

    def one(search) -> int:
        before = search.counts.num_simulations
        search.reset(rows, states, simulations, SearchMode.FULL)
        search.run()
        return search.counts.num_simulations - before

    def run(_seed: int) -> float:
        started = time.perf_counter()
        made = sum(pool.map(one, searches))
        return made / (time.perf_counter() - started)

    with ThreadPoolExecutor(num_threads) as pool:
        return in_turn({"simulations_per_s": run}, repeats)


def scaling_rows(settings: Settings) -> list[Row]:
    """Measure self-play on Connect Four with one thing changed at a time, from 4x48, 128 games a thread, 200 simulations, all cores."""
    everyone = thread_counts()[-1]
    variants = {
        f"{games} games a thread": dict(batch=games) for games in (16, 32, 64, 128, 256, 512)
    }
    variants |= {f"{count} simulations": dict(simulations=count) for count in (50, 200, 800)}
    variants |= {
        f"network {blocks}x{channels}": dict(shape=(blocks, channels))
        for blocks, channels in ((2, 32), (4, 48), (5, 64), (6, 128))
    }
    variants |= {label(threads): dict(num_threads=threads) for threads in range(1, everyone + 1)}
    rows = []
    for name, options in variants.items():
        options = {
            "num_threads": everyone,
            "batch": 128,
            "simulations": None,
            "shape": (4, 48),
        } | options
        rows.append(
            Row(
                name,
                apart(options["num_threads"], scaling_figures, settings.repeats, *options.values()),
            )
        )
    return rows


def scaling_figures(
    repeats: int, num_threads: int, batch: int, simulations: int | None, shape: tuple[int, int]
) -> dict[str, float]:
    game, network, sample = network_of("connect_four", *shape)
    run = SelfPlayRun(
        game,
        network,
        sample,
        fastest(network, sample, num_threads),
        num_threads,
        0,
        simulations,
        batch,
    )
    found = [run.figures(1.0) for _ in range(repeats + 1)][1:]
    return {
        key: statistics.median(figures[key] for figures in found)
        for key in ("simulations_per_s", "positions_per_s", "evaluator_fraction")
    }


# --- the learner ------------------------------------------------------------------------------------------------------------------------


def learner_rows(settings: Settings) -> list[Row]:
    """Measure the learner with the replay, and its arithmetic alone on a batch that is there already."""
    rows = []
    for (name, batch), threads in (
        (item, threads) for item in LEARNER_NETWORKS.items() for threads in thread_counts()
    ):
        rows.append(
            Row(
                f"{name}, {batch} rows, {label(threads)}",
                apart(threads, learner_figures, name, batch, settings.repeats),
            )
        )
    return rows


def learner_figures(name: str, batch_size: int, repeats: int) -> dict[str, float]:
    from alphazero.learner.learner import Learner
    from alphazero.network.registry import make_network
    from alphazero.replay.buffer import Replay
    from alphazero.training.compose import compose

    game = make_game("connect_four")
    settings = compose([f"network={name}", f"learner.batch_size={batch_size}"])
    settings.learner.precision = "float32" if name == "tiny" else "bfloat16"
    learner = Learner(
        make_network(game.planes_shape, game.num_actions, settings.network), settings.learner, cpu()
    )
    replay = Replay(game, settings.replay, child_generator(0, "benchmark"))
    for record in random_records(game, 200):
        replay.add(record)
    steps = 20 if name != "tiny" else 400
    batch = replay.sample(batch_size)

    def rows_per_s(batches) -> float:
        started = time.perf_counter()
        for _ in learner.learn(batches, 0.0):
            pass
        return steps * batch_size / (time.perf_counter() - started)

    runs = {
        "rows_per_s": lambda _seed: rows_per_s(replay.sample(batch_size) for _ in range(steps)),
        "arithmetic_alone_rows_per_s": lambda _seed: rows_per_s(batch for _ in range(steps)),
    }
    figures = in_turn(runs, repeats)
    return figures | {"ratio": figures["rows_per_s"] / figures["arithmetic_alone_rows_per_s"]}


def random_records(game, num_games: int):
    """Yield games of a search that knows nothing."""
    from alphazero.inference.evaluator import UniformEvaluator
    from alphazero.search.settings import SearchSettings
    from alphazero.selfplay.lockstep import SelfPlay
    from alphazero.selfplay.settings import SelfPlaySettings

    options = SelfPlaySettings(num_parallel_games=64, num_simulations=8, full_search_fraction=1.0)
    yield from SelfPlay(
        game,
        UniformEvaluator(game.num_actions),
        options,
        SearchSettings(),
        child_generator(0, "records"),
    ).play(num_games)


# --- memory -----------------------------------------------------------------------------------------------------------------------------


def memory_rows(settings: Settings) -> list[Row]:
    """Measure the memory of self-play as it goes on, each row in a process of its own."""
    everyone = thread_counts()[-1]
    return [
        Row(
            f"{name} {network_label(shape)}, {label(everyone)}",
            apart(everyone, memory_figures, name, shape, everyone, MEMORY_GAMES),
        )
        for name, shape in SELFPLAY_GAMES.items()
    ]


def memory_figures(
    name: str, shape: tuple[int, int], num_threads: int, num_games: int
) -> dict[str, float]:
    """Return megabytes in use after each quarter of the games, with the cache, 64 simulations and a change of weights every 100 games."""
    import resource

    game, network, sample = network_of(name, *shape)
    run = SelfPlayRun(
        game,
        network,
        sample,
        fastest(network, sample, num_threads),
        num_threads,
        128,
        simulations=64,
        batch=64,
    )
    figures = {}
    for quarter in range(1, 5):
        for _ in range(3):
            for _ in run.selfplay.play(num_games // 12):
                pass
            run.evaluator.update(network)
        figures[f"after_{quarter * num_games // 4}_games_mb"] = resident_mb()
    unit = 1 if sys.platform == "darwin" else 1024
    return figures | {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6}


def resident_mb() -> float:
    """Return the memory that this process holds now; not a number where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return math.nan
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# --- what the sections share ------------------------------------------------------------------------------------------------------------


def network_of(name: str, blocks: int, channels: int):
    """Return a game, an untrained network for it, and positions."""
    from alphazero.inference.engines.agreement import sample_positions
    from alphazero.network.interface import NetworkSettings
    from alphazero.network.registry import make_network

    game = make_game(name)
    network = make_network(
        game.planes_shape, game.num_actions, NetworkSettings(blocks=blocks, channels=channels)
    )
    return game, network, sample_positions(game, 256, np.random.default_rng(0))


def fastest(network, sample, num_threads: int):
    """Return the engine that auto would take."""
    from alphazero.inference.engines.selection import candidates, measure_speeds

    return measure_speeds(
        candidates("auto", "auto", cpu()), network, sample.planes[:64], cpu(), num_threads
    )[0].choice


def plain_eager_per_s(network, planes, num_threads: int) -> float:
    """Return evaluations/s of the network as torch runs it when nobody does anything about it: float32, no folding, torch's own threads."""
    import torch

    torch.set_num_threads(num_threads)
    network.eval()

    class Eager:
        def evaluate(self, planes):
            with torch.inference_mode():
                return network(torch.from_numpy(planes))

    return evaluations_per_s(Eager(), planes)


def evaluations_per_s(evaluator, planes) -> float:
    evaluator.evaluate(planes)
    started, calls = time.perf_counter(), 0
    while time.perf_counter() - started < ALONE_S:
        evaluator.evaluate(planes)
        calls += 1
    return calls * len(planes) / (time.perf_counter() - started)


def thread_counts() -> list[int]:
    """Return 1 and, where there are more, the number of cores."""
    from alphazero.runtime.device import num_cores

    return sorted({1, num_cores()})


def label(num_threads: int) -> str:
    return f"{num_threads} core{'s' * (num_threads > 1)}"


def cpu():
    import torch

    return torch.device("cpu")


def network_label(shape: tuple[int, int]) -> str:
    return f"{shape[0]}x{shape[1]}"


def apart(num_cores: int, function, *arguments):
    """Return what ``function`` returns in a fresh process that has so many cores: libraries look at the machine once, when they are first used."""
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(
        1, initializer=keep_to_cores, initargs=(num_cores,)
    ) as pool:
        return pool.apply(function, arguments)


def keep_to_cores(num_cores: int) -> None:
    """Keep this process to so many cores, where the system can, and torch to so many threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:num_cores])
    from alphazero.runtime.device import set_num_threads

    set_num_threads(num_cores)


# --- measuring, showing -----------------------------------------------------------------------------------------------------------------

SECTIONS = {
    "uct": uct_rows,
    "playouts": playout_rows,
    "solver": solver_rows,
    "engines": engine_rows,
    "selfplay": selfplay_rows,
    "search": search_rows,
    "learner": learner_rows,
    "scaling": scaling_rows,
    "memory": memory_rows,
}


def in_turn(runs: dict, repeats: int) -> dict[str, float]:
    """Return the median of each of ``runs`` (functions of a seed), which take turns so that a busy moment hits all of them alike.

    Each is first called once more than counted: that call compiles, or loads what was compiled.
    """
    found = {name: [] for name in runs}
    for seed in range(repeats + 1):
        for name, run in runs.items():
            found[name].append(run(seed))
    return {name: statistics.median(numbers[1:]) for name, numbers in found.items()}


def machine() -> dict[str, str]:
    """Return what the figures depend on: the processor and the versions."""
    description = {
        "processor": processor_name(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            description[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            description[package] = "not installed"
    return description


def processor_name() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def show(section: str, rows: list[Row], console: Console) -> None:
    """Print a section with a column for each row, since names of figures are long and a terminal is narrow; many rows are lines."""
    if len(rows) > _MOST_COLUMNS:
        table = Table(
            "", *(_unit(key) for key in rows[0].figures), title=section, title_justify="left"
        )
        for row in rows:
            table.add_row(row.name, *(written(figure) for figure in row.figures.values()))
        return console.print(table)
    table = Table("", *(row.name for row in rows), title=section, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for key in rows[0].figures:
        table.add_row(_unit(key), *(written(row.figures[key]) for row in rows))
    console.print(table)


def _unit(key: str) -> str:
    return key.replace("_per_s", "/s").replace("_", " ")


def written(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.3g}"


def read_words(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        metavar="PARTS",
        default=",".join(SECTIONS),
        help=f"parts, with commas: {', '.join(SECTIONS)}",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=7,
        help="runs of each measurement, of which the median counts (default 7)",
    )
    parser.add_argument(
        "--json", metavar="PATH", type=Path, help="write the figures to this file as well"
    )
    options = parser.parse_args(words)
    options.only = options.only.split(",")
    for part in options.only:
        if part not in SECTIONS:
            parser.error(f"there is no part '{part}'; there are: {', '.join(SECTIONS)}.")
    if options.json and not options.json.resolve().parent.is_dir():
        parser.error(
            f"--json {options.json} is not allowed: there is no folder {options.json.parent} to write it to."
        )
    if options.repeats < 1:
        parser.error(f"--repeats {options.repeats} is not allowed: it is a number from 1 on.")
    return options


def main(words: list[str]) -> int:
    limit_spinning()
    options = read_words(words)
    console = Console()
    jit.announce_first_compilation()
    report = {"machine": machine()}
    console.print(
        ", ".join(f"{name} {value}" for name, value in report["machine"].items()), highlight=False
    )
    for part in options.only:
        rows = SECTIONS[part](Settings(options.repeats))
        show(part, rows, console)
        report[part] = [asdict(row) for row in rows]
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
