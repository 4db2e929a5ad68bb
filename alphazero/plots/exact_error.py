"""Draw the chart of `alphazero plot what=exact`: the exact error of runs over training time.

The error is the fraction of evaluation positions in which the network's move gives up the best
possible result, according to an exact solver. The vertical axis is logarithmic, so that a tenth of
a percent stays visible.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from alphazero.plots.figure import COLORS, Axes, new_figure, save_figure
from alphazero.runtime.errors import ConfigError
from alphazero.training.curves import ERRORS, Line, Row

Run = tuple[str, list[Row]]  #: the name and the metrics of a run


def draw_exact_error(runs: Sequence[Run], game: str, output: Path) -> None:
    """Plot each run's exact error over its training time, and write the chart to a file.

    The chart has one line per run for the network with search, and a dashed one for the network
    alone.

    Args:
        runs: the name and the metrics of each run, with one dict of metrics per iteration.
        game: the game's name, for the title.
        output: the file; the ending of its name determines the format.

    Raises:
        ConfigError: if a run was not measured on exact positions, or matplotlib is not installed.
        OSError: if the file cannot be written.
    """
    measured: list[Run] = []
    for name, rows in runs:
        measured.append((name, [row for row in rows if "exact.accuracy" in row]))
        if not measured[-1][1]:
            reason = "it was not measured on exact positions, as with evaluation.exact=true"
            raise ConfigError.of("run", name, reason=reason)
    figure, axis = new_figure(1, 1, f"{game}: moves that give up the exact result", size=(8, 5))
    labels = (f"{_numbers(measured, 'exact.num_simulations')} simulations", "network alone")
    for line, dashes, label in zip(ERRORS.lines, ("-", "--"), labels):
        _draw_lines(axis, measured, line, dashes, label)
    ylabel = f"% of {_numbers(measured, 'exact.num_positions')} positions"
    axis.set(xlabel="minutes of training", ylabel=ylabel, yscale="log", xlim=(0, None))
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.yaxis.set_minor_formatter(_minor_label)
    axis.legend(frameon=False)
    save_figure(figure, output)


def _minor_label(value: float, _: int | None) -> str:
    """Label a minor tick whose first digit is 2, 3, 5 or 7; all labels would overlap."""
    return f"{value:g}" if f"{value:e}"[0] in "2357" else ""


def _numbers(runs: Sequence[Run], key: str) -> str:
    """Format the distinct values that a metric has in the runs' last rows, such as "64 or 100"."""
    numbers = {rows[-1][key] for _, rows in runs}
    return " or ".join(f"{number:,}" for number in sorted(numbers))


def _draw_lines(axis: Axes, runs: Sequence[Run], line: Line, dashes: str, label: str) -> None:
    """Plot each run's error as a line; if there is one run, also its 95% confidence interval.

    An error of zero, which a logarithmic axis cannot show, is drawn as half a misplayed position.

    Args:
        axis: the matplotlib axes to draw on.
        runs: the name and the metrics of each run.
        line: the error to draw, with or without search.
        dashes: matplotlib's line style, such as "--".
        label: text in the legend after each run's name.
    """
    for (name, rows), color in zip(runs, itertools.cycle(COLORS)):
        lowest = 50.0 / rows[-1]["exact.num_positions"]
        minutes, errors = line.points(rows)
        style = {"color": color, "marker": "o", "markersize": 3, "label": f"{name}: {label}"}
        axis.plot(minutes, np.maximum(errors, lowest), dashes, **style)
        if len(runs) == 1:
            _, low, high = np.array([line.figures(row) for row in rows]).T
            axis.fill_between(minutes, np.maximum(low, lowest), high, color=color, alpha=0.12, lw=0)
