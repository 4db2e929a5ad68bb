"""The picture of `alphazero plot what=exact`: the error against an exact solver over training time.

In: the metrics of one or several runs, as `RunFolder.read_metrics` returns them. Out: a picture.
The error is the fraction of the positions of the evaluation set whose move gives up the best
possible result. The axis is logarithmic, so that a tenth of a percent stays visible.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from alphazero.plots.figure import BLUE, COLORS, ORANGE, Axes, new_figure, save_figure
from alphazero.runtime.errors import ConfigError
from alphazero.training.curves import ERRORS, Line, Row

Run = tuple[str, list[Row]]  #: the name and the metrics of a run
Points = tuple[np.ndarray, np.ndarray]  #: minutes of training and errors in %, float64[M] each


def draw_exact_error(runs: Sequence[Run], game: str, lines: str, output: Path) -> None:
    """Draw the error of each run, or the median of all runs within the band from lowest to highest.

    Args:
        game: the name of the game, for the title.
        lines: "each" or "median".

    Raises:
        ConfigError: if a run has no such measurements, or the picture cannot be written.
    """
    runs = [(name, [row for row in rows if "exact.accuracy" in row]) for name, rows in runs]
    for name, rows in runs:
        if not rows:
            reason = "it was never measured on an exact evaluation set: train with evaluation.exact"
            raise ConfigError.of("run", name, reason=f"{reason}=true a game that has such a set")
    figure, axis = new_figure(1, 1, f"{game}: moves that give up the exact result", size=(8, 5))
    labels = (f"{_numbers(runs, 'exact.num_simulations')} simulations", "network alone")
    for line, dashes, color, label in zip(ERRORS.lines, ("-", "--"), (BLUE, ORANGE), labels):
        if lines == "median" and len(runs) > 1:
            label = f"{label}, median of {len(runs)} runs"
            _draw_median(axis, [_points(line, rows) for _, rows in runs], dashes, color, label)
        else:
            _draw_each(axis, runs, line, dashes, label)
    ylabel = f"% of {_numbers(runs, 'exact.num_positions')} positions"
    axis.set(xlabel="minutes of training", ylabel=ylabel, yscale="log", xlim=(0, None))
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.yaxis.set_minor_formatter(  # not all of them, which would overlap
        lambda value, _: f"{value:g}" if f"{value:e}"[0] in "2357" else ""
    )
    axis.legend(frameon=False)
    save_figure(figure, output)


def _numbers(runs: Sequence[Run], key: str) -> str:
    """Return the last number of each run under a key, such as "64 or 100"."""
    return " or ".join(f"{number:,}" for number in sorted({rows[-1][key] for _, rows in runs}))


def _points(line: Line, rows: list[Row]) -> Points:
    """Return the errors; zero, impossible on a logarithmic axis, becomes half a position."""
    minutes, errors = line.points(rows)
    return minutes, np.maximum(errors, 50.0 / rows[-1]["exact.num_positions"])


def _draw_each(axis: Axes, runs: Sequence[Run], line: Line, dashes: str, label: str) -> None:
    """Draw a line for each run; a single run also gets the 95% interval."""
    for (name, rows), color in zip(runs, itertools.cycle(COLORS)):
        minutes, errors = _points(line, rows)
        style = {"color": color, "marker": "o", "markersize": 3, "label": f"{name}: {label}"}
        axis.plot(minutes, errors, dashes, **style)
        if len(runs) == 1:
            figures = np.array([line.figures(row) for row in rows])
            low = np.maximum(figures[:, 1], 50.0 / rows[-1]["exact.num_positions"])
            axis.fill_between(minutes, low, figures[:, 2], color=color, alpha=0.12, linewidth=0)


def _draw_median(axis: Axes, curves: list[Points], dashes: str, color: str, label: str) -> None:
    """Draw the median over the time that all curves span.

    Between two measurements a curve is a straight line on the logarithmic axis.
    """
    first = max(minutes[0] for minutes, _ in curves)
    last = min(minutes[-1] for minutes, _ in curves)
    if first > last:
        reason = "there is no time at which all runs had been measured"
        raise ConfigError.of("lines", "median", "each", reason)
    minutes = np.unique(np.concatenate([minutes for minutes, _ in curves]).clip(first, last))
    errors = np.exp([np.interp(minutes, times, np.log(values)) for times, values in curves])
    low = errors.min(axis=0)
    high = errors.max(axis=0)
    axis.fill_between(minutes, low, high, color=color, alpha=0.15, linewidth=0)
    axis.plot(minutes, np.median(errors, axis=0), dashes, color=color, label=label)
