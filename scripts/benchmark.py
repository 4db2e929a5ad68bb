"""Measure the speed of the pipeline on this machine.

    python scripts/benchmark.py
    python scripts/benchmark.py --only uct,playouts --repeats 5 --json figures.json

Prints one table per part. Names of figures end in their unit, here and in the JSON file.
"""

import argparse
import importlib
import json
import platform
import sys
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from benchmark_parts.measuring import Row
from rich.console import Console
from rich.table import Table

from alphazero.runtime import jit
from alphazero.runtime.process import limit_spinning


class Part(NamedTuple):
    """A part of the benchmark, whose module is imported only when it is measured."""

    module: str  #: name of a module in `benchmark_parts`
    function: str  #: name of a function from the number of repeats to a list of `Row`
    help: str


PARTS = {
    "uct": Part(
        "uct",
        "measure_uct",
        "UCT with random rollouts: simulations/s from the start position on one thread;\n"
        "compared with OpenSpiel's C++ bot if `open_spiel` is installed, with equal\n"
        "simulations and exploration constant and a new tree for each run",
    ),
    "playouts": Part(
        "uct", "measure_playouts", "random games/s from the start position on one thread"
    ),
    "solver": Part(
        "solvers",
        "measure_solvers",
        "our exact solvers: time to score all actions of a position, and nodes/s;\n"
        "Connect Four by ply, Othello by empty squares",
    ),
    "engines": Part(
        "engines",
        "measure_engines",
        "evaluations/s of an untrained network with each engine, on one core and on all cores",
    ),
    "one_position": Part(
        "one_position",
        "measure_one_position",
        "one position, as in a game at the terminal: simulations/s of the shipped networks with\n"
        "one leaf at a time (torch, the fastest engine) and with several, for a second and for\n"
        "6,000 simulations, in turn; compared with torch's eager float32 in batches of 256",
    ),
    "selfplay": Part(
        "selfplay",
        "measure_selfplay",
        "self-play with an untrained network and the fastest engine, 200 simulations per move, on\n"
        "one core and on all, without and with the cache; compared with the engine by itself and\n"
        "torch's eager float32, measured in turn",
    ),
    "windows": Part(
        "windows",
        "measure_windows",
        "networks of windows by size of board, compared with a 5 x 64 tower on the fastest\n"
        "engine: batches of 128 on one core, learning in float32 with batches of 256, and\n"
        "self-play with 200 simulations per move",
    ),
    "checks": Part(
        "checks",
        "measure_checks",
        "the cost of checking the network's answers in self-play, measured with and without in\n"
        "turn; on a GPU if there is one",
    ),
    "search": Part(
        "selfplay",
        "measure_search",
        "the search with an evaluator that costs nothing: 256 games, 200 simulations",
    ),
    "rules": Part(
        "rules",
        "measure_rules",
        "Connect Four with compiled rules, in plain Python, in OpenSpiel, PettingZoo and pgx:\n"
        "self-play with a 5 x 64 network, search without a network, UCT; one core, 64 games of 64\n"
        "simulations",
    ),
    "libraries": Part(
        "rules",
        "measure_libraries",
        "games of OpenSpiel, PettingZoo and pgx: time per move in 64 random games with all\n"
        "calls that a search makes, and UCT; one core",
    ),
    "learner": Part(
        "learner",
        "measure_learner",
        "the learner with the replay buffer: samples/s (rows), compared with the network only",
    ),
    "scaling": Part(
        "selfplay",
        "measure_scaling",
        "self-play on Connect Four without the cache, one thing changed at a time: games in\n"
        "lockstep, simulations, network, cores; starting from a 4 x 48 network, 128 games per\n"
        "thread, 200 simulations, all cores",
    ),
    "memory": Part(
        "selfplay",
        "measure_memory",
        "memory of self-play during 1,200 games with 64 simulations and the cache",
    ),
}
PACKAGES = ("numpy", "numba", "torch", "openvino", "open_spiel", "pettingzoo", "pgx")
_MAX_COLUMNS = 4


def main(arguments: list[str]) -> int:
    """Measure the parts that the arguments name, and print a table for each."""
    limit_spinning()
    options = _parse(arguments)
    console = Console()
    jit.announce_first_compilation()
    report: dict = {"machine": machine()}
    versions = ", ".join(f"{name} {value}" for name, value in report["machine"].items())
    console.print(versions, highlight=False)
    for name in options.only:
        rows = measure(name, options.repeats)
        _show(name, rows, console)
        report[name] = [asdict(row) for row in rows]
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


def measure(name: str, repeats: int) -> list[Row]:
    """Measure one part."""
    part = PARTS[name]
    return getattr(importlib.import_module(f"benchmark_parts.{part.module}"), part.function)(
        repeats
    )


def machine() -> dict[str, str]:
    """Return the facts that figures depend on: processor, system and versions."""
    from alphazero.cli.doctor import processor_name  # imports torch

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


def _show(name: str, rows: list[Row], console: Console) -> None:
    """Print a part's table: a line for each row, or for each figure if there are many figures."""
    keys = list(rows[0].figures)
    if len(keys) <= _MAX_COLUMNS < len(rows):
        table = Table("", *map(_label, keys), title=name, title_justify="left")
        for row in rows:
            table.add_row(row.name, *map(_number, row.figures.values()))
        console.print(table)
        return
    for start in range(0, len(rows), _MAX_COLUMNS):
        some = rows[start : start + _MAX_COLUMNS]
        table = Table("", *(row.name for row in some), title=name, title_justify="left")
        for column in table.columns[1:]:
            column.justify = "right"
        for key in keys:
            table.add_row(_label(key), *(_number(row.figures[key]) for row in some))
        console.print(table)


def _label(key: str) -> str:
    return key.replace("_per_s", "/s").replace("_", " ")


def _number(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.3g}"


def _parse(arguments: list[str]) -> argparse.Namespace:
    parts = "\n".join(
        f"  {name:9} {part.help}".replace("\n", "\n" + 12 * " ") for name, part in PARTS.items()
    )
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=f"parts:\n{parts}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only",
        metavar="PARTS",
        default=",".join(PARTS),
        help="parts to measure, separated by commas (default: all)",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=7,
        help="runs of each measurement; the median is reported (default: 7)",
    )
    parser.add_argument(
        "--json", metavar="PATH", type=Path, help="also write the figures to this file"
    )
    options = parser.parse_args(arguments)
    options.only = options.only.split(",")
    for name in options.only:
        if name not in PARTS:
            parser.error(f"--only {name}: unknown part; use {', '.join(PARTS)}.")
    if options.repeats < 1:
        parser.error(f"--repeats {options.repeats} is not allowed; use 1 or more.")
    if options.json and not options.json.resolve().parent.is_dir():
        parser.error(f"--json {options.json}: the folder {options.json.parent} does not exist.")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
