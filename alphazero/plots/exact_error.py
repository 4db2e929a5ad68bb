"""Draw the picture of `alphazero plot what=exact`: errors by an exact solver over training time.

The error is the fraction of evaluation positions in which the run's move gives up the best possible
result. The axis is logarithmic, so that a tenth of a percent stays visible.
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
    """Draw the error of each run over its training time, and write the picture to a file.

    Args:
        game: the game's name, for the title.

    Raises:
        ConfigError: if a run has no such measurements, or the picture cannot be written.
    """
    measured: list[Run] = []
    for name, rows in runs:
        measured_rows = [row for row in rows if "exact.accuracy" in row]
        if not measured_rows:
            reason = "it was not measured on exact positions, as with evaluation.exact=true"
            raise ConfigError.of("run", name, reason=reason)
        measured.append((name, measured_rows))
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
    """Label a minor tick of the axis, but only some ticks, because all labels would overlap."""
    first_digit = f"{value:e}"[0]
    return f"{value:g}" if first_digit in "2357" else ""


def _numbers(runs: Sequence[Run], key: str) -> str:
    """Format the newest values of a metric in all runs, such as "64 or 100"."""
    numbers = {rows[-1][key] for _, rows in runs}
    return " or ".join(f"{number:,}" for number in sorted(numbers))


def _draw_lines(axis: Axes, runs: Sequence[Run], line: Line, dashes: str, label: str) -> None:
    """Draw each run's error as a line; a single run also gets its 95% confidence interval.

    An error of zero, impossible on a logarithmic axis, is drawn as half a position.
    """
    for (name, rows), color in zip(runs, itertools.cycle(COLORS)):
        lowest = 50.0 / rows[-1]["exact.num_positions"]
        minutes, errors = line.points(rows)
        style = {"color": color, "marker": "o", "markersize": 3, "label": f"{name}: {label}"}
        axis.plot(minutes, np.maximum(errors, lowest), dashes, **style)
        if len(runs) == 1:
            figures = np.array([line.figures(row) for row in rows])
            low = np.maximum(figures[:, 1], lowest)
            high = figures[:, 2]
            axis.fill_between(minutes, low, high, color=color, alpha=0.12, linewidth=0)
