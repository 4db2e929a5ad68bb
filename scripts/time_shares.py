"""Say where the time of a run went: `python scripts/time_shares.py checkpoints/connect_four/RUN`, or `latest` for the newest run.

The figures are those that the run wrote with every iteration (metrics.jsonl): seconds of self-play and the part of them inside the evaluator (and
of those inside the network, the rest is its cache), seconds of the learner and the part of them spent on making batches, and everything else.
"""

import argparse
import sys

from rich.console import Console
from rich.table import Table

from alphazero.storage.run_folder import RunFolder
from alphazero.training.settings import TrainSettings


def shares(rows: list[dict]) -> dict[str, float]:
    """Return the seconds of each part of a run, in the order of the loop; the parts of self-play and of the learner are exclusive."""

    def total(of) -> float:
        return sum(of(row) for row in rows)

    evaluator, network = (
        total(lambda row, key=key: row["selfplay_s"] * row[f"selfplay.{key}_fraction"])
        for key in ("evaluator", "network")
    )
    learner, sampling = (
        total(lambda row, key=key: row[key]) for key in ("learner_s", "sampling_s")
    )
    swap, measure, store = (
        total(lambda row, key=key: row[key]) for key in ("engine.seconds", "measure_s", "store_s")
    )
    known = total(lambda row: row["selfplay_s"]) + learner + swap
    return {
        "self-play: network": network,
        "self-play: cache of evaluations": evaluator - network,
        "self-play: search, games, records": total(lambda row: row["selfplay_s"]) - evaluator,
        "learner: steps": learner - sampling,
        "learner: batches": sampling,
        "new weights for search, agreement": swap,
        "pit and the rest of an iteration": max(rows[-1]["elapsed_s"] - known, 0.0),
        "measuring strength": measure,
        "files": store,
    }


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", help="the folder of a run, or latest")
    parser.add_argument(
        "--root", default=TrainSettings().run.root, help="where the runs are, for latest"
    )
    options = parser.parse_args(words)
    try:
        folder = RunFolder.find(options.run, options.root, None)
        rows = folder.read_metrics()
        parts = shares(rows)
    except (OSError, ValueError, LookupError) as error:
        print(f"error: the times of '{options.run}' cannot be read: {error}", file=sys.stderr)
        return 2
    whole = sum(parts.values())
    table = Table(
        "part",
        "seconds",
        "share",
        title=f"{folder.path}: {len(rows)} iterations",
        title_justify="left",
    )
    for name, seconds in parts.items():
        table.add_row(name, f"{seconds:,.1f}", f"{seconds / whole:.1%}")
    table.add_section()
    table.add_row(
        "network and learner's steps",
        "",
        f"{(parts['self-play: network'] + parts['learner: steps']) / whole:.1%}",
    )
    for column in table.columns[1:]:
        column.justify = "right"
    Console(highlight=False).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
