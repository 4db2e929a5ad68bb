"""The table of `alphazero evaluate`.

In: accuracy reports of one or several players. Out: a rich table and lines of text; nothing is
printed.
"""

import numpy as np
from rich.markup import escape
from rich.table import Table

from alphazero.evaluation.exact.accuracy import AccuracyReport, Proportion, groups_of
from alphazero.evaluation.exact.sets import EvaluationSet


def report_table(evaluation_set: EvaluationSet, reports: dict[str, AccuracyReport]) -> Table:
    """Return accuracies and best moves in %, by kind, source and ply: two columns per player."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("\n%")
    table.add_column("\npositions", justify="right")
    for name in reports:
        table.add_column(f"{escape(name)}\naccuracy", justify="right")
        table.add_column("\nbest", justify="right")
    everything = np.ones(len(evaluation_set), bool)
    table.add_row(*_cells("all", everything, reports))
    for heading, groups in groups_of(evaluation_set).items():
        table.add_row(f"[dim]by {heading}[/]")
        for label, rows in groups.items():
            table.add_row(*_cells(f"  {label}", rows, reports))
    return table


def value_lines(reports: dict[str, AccuracyReport]) -> list[str]:
    """Return a line for each player about its best moves and its values."""
    lines = []
    for name, report in reports.items():
        line = (
            f"{escape(name)}: plays the best score in {_text(report.optimal())}% of the positions"
        )
        if report.values is not None:
            right, error = report.values.result_accuracy, report.values.mean_error
            line += (
                f"; its value predicts the result in {_text(right)}% of the {right.total:,} "
                f"for which it gives one, mean error {error:.3f}"
            )
        lines.append(line)
    return lines


def _cells(label: str, rows: np.ndarray, reports: dict[str, AccuracyReport]) -> list[str]:
    """Return the row of a group of positions, bool[N]."""
    cells = [label, f"{rows.sum():,}"]
    for report in reports.values():
        cells += [_text(report.accuracy(rows)), f"{100 * report.optimal(rows).fraction:.1f}"]
    return cells


def _text(proportion: Proportion) -> str:
    """Return a proportion with its interval, in %."""
    low, high = proportion.interval
    return f"{100 * proportion.fraction:.1f} [dim]({100 * low:.1f}-{100 * high:.1f})[/]"
