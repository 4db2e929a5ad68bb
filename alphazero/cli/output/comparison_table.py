"""The tables of `alphazero compare`, and the figures behind them.

In: the measured configurations. Out: rich tables, text, and plain data for JSON; nothing is
printed.
"""

import dataclasses

import numpy as np
from rich.table import Table
from rich.text import Text

from alphazero.evaluation.exact.accuracy import difference


@dataclasses.dataclass
class Configuration:
    """R runs that differ only in their seed, measured on N positions."""

    label: str  #: what it sets other than the rest, as typed in a command
    settings: dict
    names: list[str] = dataclasses.field(default_factory=list)  #: R folders
    seconds: list[float] = dataclasses.field(default_factory=list)  #: R training times
    iterations: list[int] = dataclasses.field(default_factory=list)  #: R
    #: R arrays bool[N]: whether the network alone, and the search, keep the exact result.
    alone: list[np.ndarray] = dataclasses.field(default_factory=list)
    searched: list[np.ndarray] = dataclasses.field(default_factory=list)


def configurations_table(configurations: list[Configuration]) -> Table:
    """Return a row for each configuration: accuracies and their differences from the first."""
    unit, divisor = _unit(configurations)
    minus = ["minus the\nfirst"] * (len(configurations) > 1)
    table = _table(
        ("\nconfig", "\nruns", f"training,\n{unit}", "alone,\n%", *minus, "search,\n%", *minus)
    )
    first = configurations[0]
    for number, each in enumerate(configurations, 1):
        figures = []
        for correct, baseline in ((each.alone, first.alone), (each.searched, first.searched)):
            differences = [_difference_text(correct, baseline)] if each is not first else [""]
            figures += [_percent(correct), *differences[: len(minus)]]
        time = f"{np.mean(each.seconds) / divisor:.1f}"
        table.add_row(str(number), str(len(each.names)), time, *figures)
    return table


def runs_table(configurations: list[Configuration]) -> Table:
    """Return a row for each run, which shows how much the seed alone changes."""
    unit, divisor = _unit(configurations)
    table = _table(
        ("\nconfig", "\niterations", f"training,\n{unit}", "alone,\n%", "search,\n%"), "\nrun"
    )
    for number, each in enumerate(configurations, 1):
        figures = zip(each.names, each.iterations, each.seconds, each.alone, each.searched)
        for name, iterations, seconds, alone, searched in figures:
            cells = [f"{seconds / divisor:.1f}", _percent(alone), _percent(searched)]
            table.add_row(Text(name), str(number), str(iterations), *cells)
    return table


def _unit(configurations: list[Configuration]) -> tuple[str, int]:
    """Return the unit of training times, and how many seconds it has."""
    longest = max(seconds for each in configurations for seconds in each.seconds)
    return ("seconds", 1) if longest < 60 else ("minutes", 60)


def note(configurations: list[Configuration]) -> str:
    """Return what the intervals of the differences cover."""
    if len(configurations) == 1:
        return "\nOne configuration: the settings of these runs differ only in the seed."
    if all(len(configuration.names) > 1 for configuration in configurations):
        covered = "positions and seeds"
    else:
        covered = "the positions alone: runs with other seeds would differ too"
    return f"\nDifferences are percentage points with 95% intervals over {covered}."


def to_plain(configurations: list[Configuration]) -> list[dict]:
    """Return the figures as plain data for JSON."""
    first = configurations[0]

    def against_first(name: str, configuration: Configuration) -> dict:
        correct, baseline = np.stack(getattr(configuration, name)), np.stack(getattr(first, name))
        return difference(correct, baseline)._asdict()

    return [
        {
            "way": each.label,
            "runs": each.names,
            "seconds": each.seconds,
            "iterations": each.iterations,
            "raw_accuracy": [float(correct.mean()) for correct in each.alone],
            "accuracy": [float(correct.mean()) for correct in each.searched],
            "raw_difference": against_first("alone", each),
            "difference": against_first("searched", each),
        }
        for each in configurations
    ]


def _table(headings, left: str | None = None) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    if left is not None:
        table.add_column(left, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _percent(correct: list[np.ndarray] | np.ndarray) -> str:
    return f"{100 * np.mean(correct):.1f}"


def _difference_text(correct: list[np.ndarray], baseline: list[np.ndarray]) -> str:
    found = difference(np.stack(correct), np.stack(baseline))
    return f"{100 * found.mean:+.1f} [dim]({100 * found.low:+.1f} to {100 * found.high:+.1f})[/]"
