"""Measure how fast the pipeline is on this machine: `python scripts/benchmark.py`, with `--only uct,playouts` for parts of it.

uct       simulations/s of the UCT baseline from the start position, one thread, beside OpenSpiel's C++ bot where `open_spiel` is
          installed: the same number of simulations, random rollouts and C, a fresh tree for each run, runs in turn, medians.
playouts  random games/s from the start position, one thread.
selfplay  self-play with an untrained 4 x 48 network, 128 games in lockstep, full searches of 200 simulations: evaluations/s, simulations/s,
          positions/s, the share of the time spent in the evaluator, and what the evaluator alone does at the same batch in the same minute.
search    the same without a network: an evaluator that costs nothing, 256 games, 200 simulations.

A section is a function that returns rows; a row's figures carry their units in their names, on the screen as in the JSON file.
"""

import argparse
import dataclasses
import json
import math
import platform
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.table import Table

from alphazero import jit
from alphazero.games import make_game
from alphazero.rng import child_generator, kernel_rng
from alphazero.search.uct import UctSearch

#: Simulations of one run: a fraction of a second each, for OpenSpiel's bot up to two seconds.
UCT_SIMULATIONS = {"tic_tac_toe": 100_000, "connect_four": 50_000, "othello": 10_000}
PLAYOUTS = {"tic_tac_toe": 200_000, "connect_four": 100_000, "othello": 20_000}
SELFPLAY_GAMES = ("connect_four", "othello:6")
SELFPLAY_BATCH = 128
SELFPLAY_SIMULATIONS = 200
SELFPLAY_S = 3.0  # of one run
PACKAGES = ("numpy", "numba", "torch", "open_spiel")
OPEN_SPIEL_MEMORY_MB = 4000  # more than any run needs: with less the bot would collect garbage in between


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
    return [Row(name, uct_figures(name, num_simulations, settings.repeats)) for name, num_simulations in UCT_SIMULATIONS.items()]


def uct_figures(name: str, num_simulations: int, repeats: int) -> dict[str, float]:
    runs = {
        "simulations_per_s": lambda seed: run_uct(name, num_simulations, seed),
        "by_position_simulations_per_s": lambda seed: run_uct(name, num_simulations, seed, statistics="position"),
    }
    if has_open_spiel():
        runs["open_spiel_simulations_per_s"] = lambda seed: run_open_spiel(name, num_simulations, seed, solve=False)
        runs["open_spiel_solving_simulations_per_s"] = lambda seed: run_open_spiel(name, num_simulations, seed, solve=True)
    figures = {"simulations": num_simulations, **in_turn(runs, repeats)}
    if has_open_spiel():
        figures["ratio"] = figures["simulations_per_s"] / figures["open_spiel_simulations_per_s"]
    return figures


def run_uct(name: str, num_simulations: int, seed: int, **options) -> float:
    """Return simulations/s of one search with a tree of its own."""
    game = make_game(name)
    search = UctSearch(game, num_simulations=num_simulations, seed=seed, **options)
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
    bot = pyspiel.MCTSBot(pyspiel.load_game(name), evaluator, math.sqrt(2.0), num_simulations, OPEN_SPIEL_MEMORY_MB, solve, seed, False)
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
    return [Row(name, in_turn({"playouts_per_s": playouts_of(name, number)}, settings.repeats)) for name, number in PLAYOUTS.items()]


def playouts_of(name: str, number: int):
    game = make_game(name)
    states = game.initial_states(number)

    def run(seed: int) -> float:
        rng = kernel_rng(child_generator(seed, "benchmark"))
        started = time.perf_counter()
        game.playout(states, rng)
        return number / (time.perf_counter() - started)

    return run


# --- selfplay and search ----------------------------------------------------------------------------------------------------------------


def selfplay_rows(settings: Settings) -> list[Row]:
    """Measure self-play with a network, and the evaluator alone at the same batch."""
    from alphazero.network import NetworkSettings, make_network
    from alphazero.torch_evaluator import TorchEvaluator, choose_precision, set_num_threads

    set_num_threads(0)
    rows = []
    for name in SELFPLAY_GAMES:
        game = make_game(name)
        network = make_network(game.planes_shape, game.num_actions, NetworkSettings(blocks=4, channels=48))
        precision = choose_precision(network, game.planes_shape, "cpu", SELFPLAY_BATCH)
        evaluator = TorchEvaluator(network, precision)
        figures = _selfplay_figures(game, evaluator, SELFPLAY_BATCH, settings.repeats)
        rows.append(Row(f"{name}, {precision}", figures))
    return rows


def search_rows(settings: Settings) -> list[Row]:
    """Measure search and game alone."""
    from alphazero.evaluator import UniformEvaluator

    return [Row(name, _search_figures(make_game(name), UniformEvaluator, settings.repeats)) for name in SELFPLAY_GAMES]


def _selfplay_figures(game, evaluator, batch: int, repeats: int) -> dict[str, float]:
    from alphazero.search.mcts import SearchSettings
    from alphazero.selfplay import SelfPlay, SelfPlaySettings

    options = SelfPlaySettings(num_parallel_games=batch, num_simulations=SELFPLAY_SIMULATIONS, full_search_share=1.0)
    selfplay = SelfPlay(game, evaluator, options, SearchSettings(), child_generator(0, "benchmark"))
    games = selfplay.play(1_000_000_000)
    planes = game.observe(game.initial_states(batch))
    samples: dict[str, list[float]] = {}
    for repeat in range(repeats + 1):
        before, positions, started = dataclasses.replace(selfplay.search.counts), selfplay.num_positions, time.perf_counter()
        while time.perf_counter() - started < SELFPLAY_S:
            next(games)
        seconds, counts = time.perf_counter() - started, selfplay.search.counts
        figures = {
            "positions_per_s": (selfplay.num_positions - positions) / seconds,
            "simulations_per_s": (counts.num_simulations - before.num_simulations) / seconds,
            "evaluations_per_s": (counts.num_evaluations - before.num_evaluations) / seconds,
            "evaluator_alone_evaluations_per_s": _evaluations_per_s(evaluator, planes),
            "evaluator_share": (counts.evaluator_s - before.evaluator_s) / seconds,
            "mean_batch": (counts.num_evaluations - before.num_evaluations) / (counts.num_batches - before.num_batches),
        }
        for key, figure in figures.items() if repeat else ():
            samples.setdefault(key, []).append(figure)
    return {key: statistics.median(numbers) for key, numbers in samples.items()}


def _evaluations_per_s(evaluator, planes) -> float:
    started, calls = time.perf_counter(), 0
    while time.perf_counter() - started < 0.5:
        evaluator.evaluate(planes)
        calls += 1
    return calls * len(planes) / (time.perf_counter() - started)


def _search_figures(game, make_evaluator, repeats: int) -> dict[str, float]:
    import numpy as np

    from alphazero.search.mcts import SearchSettings, TreeSearch

    batch, simulations = 256, 200
    search = TreeSearch(game, make_evaluator(game.num_actions), batch, simulations, SearchSettings(), child_generator(0, "benchmark"))
    rows, states = np.arange(batch), game.initial_states(batch)

    def run(_seed: int) -> float:
        before, started = search.counts.num_simulations, time.perf_counter()
        search.reset(rows, states, np.full(batch, simulations), np.ones(batch, np.bool_))
        search.run()
        return (search.counts.num_simulations - before) / (time.perf_counter() - started)

    return in_turn({"simulations_per_s": run}, repeats)


# --- measuring, showing -----------------------------------------------------------------------------------------------------------------

SECTIONS = {"uct": uct_rows, "playouts": playout_rows, "selfplay": selfplay_rows, "search": search_rows}


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
    """Print a section with a column for each row: names of figures are long, and a terminal is narrow."""
    table = Table("", *(row.name for row in rows), title=section, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for key in rows[0].figures:
        table.add_row(key.replace("_per_s", "/s").replace("_", " "), *(written(row.figures[key]) for row in rows))
    console.print(table)


def written(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.3g}"


def read_words(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PARTS", default=",".join(SECTIONS), help=f"parts, with commas: {', '.join(SECTIONS)}")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each measurement, of which the median counts (default 7)")
    parser.add_argument("--json", metavar="PATH", type=Path, help="write the figures to this file as well")
    options = parser.parse_args(words)
    options.only = options.only.split(",")
    for part in options.only:
        if part not in SECTIONS:
            parser.error(f"there is no part '{part}'; there are: {', '.join(SECTIONS)}.")
    if options.json and not options.json.resolve().parent.is_dir():
        parser.error(f"--json {options.json} is not allowed: there is no folder {options.json.parent} to write it to.")
    if options.repeats < 1:
        parser.error(f"--repeats {options.repeats} is not allowed: it is a number from 1 on.")
    return options


def main(words: list[str]) -> int:
    options = read_words(words)
    console = Console()
    jit.announce_first_compilation()
    report = {"machine": machine()}
    console.print(", ".join(f"{name} {value}" for name, value in report["machine"].items()), highlight=False)
    for part in options.only:
        rows = SECTIONS[part](Settings(options.repeats))
        show(part, rows, console)
        report[part] = [asdict(row) for row in rows]
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
