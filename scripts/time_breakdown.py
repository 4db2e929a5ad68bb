"""Print how much time each part of a run took.

    python scripts/time_breakdown.py checkpoints/connect_four/RUN
    python scripts/time_breakdown.py latest

In: the run's metrics of all iterations. Out: a table of seconds and fractions. The parts do not
overlap.
"""

import argparse
import sys
from collections.abc import Callable

from rich.console import Console
from rich.table import Table
from script_command import exit_status

from alphazero.runtime.errors import StoredFileError
from alphazero.storage.run_folder import RunFolder
from alphazero.training.settings import TrainSettings

_NETWORK, _STEPS = "self-play: network", "learner: steps"


def time_breakdown(rows: list[dict]) -> dict[str, float]:
    """Return the seconds of each part of a run, in the order of the training loop.

    Args:
        rows: the metrics of all iterations, see `RunFolder.read_metrics`.
    """

    def total(of: Callable[[dict], float]) -> float:
        return sum(of(row) for row in rows)

    selfplay = total(lambda row: row["selfplay_s"])
    evaluator = total(lambda row: row["selfplay_s"] * row["selfplay.evaluator_fraction"])
    network = total(lambda row: row["selfplay_s"] * row["selfplay.network_fraction"])
    learner = total(lambda row: row["learner_s"])
    sampling = total(lambda row: row["sampling_s"])
    new_weights = total(lambda row: row["engine.seconds"])
    rest = rows[-1]["elapsed_s"] - (selfplay + learner + new_weights)
    return {
        _NETWORK: network,
        "self-play: evaluation cache": evaluator - network,
        "self-play: search, games, records": selfplay - evaluator,
        _STEPS: learner - sampling,
        "learner: sampling batches": sampling,
        "new weights: loading, comparing": new_weights,
        "pit and the rest of an iteration": max(rest, 0.0),
        "strength measurements": total(lambda row: row["measure_s"]),
        "files": total(lambda row: row["store_s"]),
    }


def breakdown_table(parts: dict[str, float], title: str) -> Table:
    """Return a table of the seconds and fractions of a run's parts."""
    whole = sum(parts.values())
    table = Table("part", "seconds", "fraction", title=title, title_justify="left")
    for name, seconds in parts.items():
        table.add_row(name, f"{seconds:,.1f}", f"{seconds / whole:.1%}")
    table.add_section()
    computing = (parts[_NETWORK] + parts[_STEPS]) / whole
    table.add_row("network and learner steps", "", f"{computing:.1%}")
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def main(arguments: list[str]) -> int:
    """Read the arguments and print the table; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", help="the folder of a run, or latest")
    root = TrainSettings().run.root
    parser.add_argument("--root", default=root, help="the folder of all runs, for latest")
    options = parser.parse_args(arguments)
    return exit_status(lambda: print_breakdown(options))


def print_breakdown(options: argparse.Namespace) -> None:
    """Print the table of one run."""
    folder = RunFolder.find(options.run, options.root, None, key="run")
    rows = folder.read_metrics()
    try:
        parts = time_breakdown(rows)
    except KeyError as error:
        message = f"the metrics of '{options.run}' lack {error}."
        raise StoredFileError(message, path=folder.metrics) from error
    title = f"{folder.path}: {len(rows)} iterations"
    Console(highlight=False).print(breakdown_table(parts, title))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
