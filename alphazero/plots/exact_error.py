"""The picture of `alphazero plot what=exact`: the error against an exact solver over training time.

In: the metrics of one or several runs, as `RunFolder.read_metrics` returns them. Out: a picture.
The error is the fraction of the positions of the evaluation set whose move gives up the best
possible result. The axis is logarithmic, so that a tenth of a percent stays visible.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.exact.accuracy import Proportion
from alphazero.plots.figure import BLUE, COLORS, ORANGE, new_figure, save_figure
from alphazero.runtime.errors import ConfigError

_DASHES = {"accuracy": "-", "raw_accuracy": "--"}


class Curve(NamedTuple):
    """The M measurements of a run."""

    minutes: np.ndarray  #: float64[M], training time, without the time of the measurements
    errors: list[Proportion]  #: M, positions whose move gives up the result


def draw_exact_error(runs: dict[str, list[dict]], game: str, lines: str, output: Path) -> None:
    """Draw the error of each run, or the median of all runs within the band from lowest to highest.

    Args:
        runs: the metrics of each run, by the run's name.
        game: the name of the game, for the title.
        lines: "each" or "median".

    Raises:
        ConfigError: if a run has no such measurements, or the picture cannot be written.
    """
    measured = {name: _measurements(name, metrics) for name, metrics in runs.items()}
    last = [rows[-1] for rows in measured.values()]
    simulations = _alternatives({row["exact.num_simulations"] for row in last}, ", ")
    positions = _alternatives({row["exact.num_positions"] for row in last}, " or ")
    title = f"{game}: moves that give up the exact result"
    figure, axis = new_figure(1, 1, title, size=(8, 5))
    labels = {"accuracy": f"{simulations} simulations", "raw_accuracy": "network alone"}
    for key, label in labels.items():
        curves = {name: _curve(rows, key) for name, rows in measured.items()}
        if lines == "median" and len(curves) > 1:
            label = f"{label}, median of {len(curves)} runs"
            _draw_median(axis, list(curves.values()), _DASHES[key], label)
        else:
            _draw_each(axis, curves, _DASHES[key], label)
    axis.set(xlabel="minutes of training", ylabel=f"% of {positions} positions")
    axis.set(yscale="log", xlim=(0, None))
    _label_ticks(axis)
    axis.legend(frameon=False)
    save_figure(figure, output)


def _measurements(name: str, metrics: list[dict]) -> list[dict]:
    rows = [row for row in metrics if "exact.accuracy" in row]
    if not rows:
        message = f"the run {name} was never measured on an exact evaluation set: train with "
        message += "evaluation.exact=true a game that such a set ships with."
        raise ConfigError(message, key="run", value=name)
    return rows


def _alternatives(numbers: set[int], separator: str) -> str:
    return separator.join(f"{number:,}" for number in sorted(numbers))


def _curve(rows: list[dict], key: str) -> Curve:
    totals = [row["exact.num_positions"] for row in rows]
    accuracies = [row[f"exact.{key}"] for row in rows]
    errors = [
        Proportion(round((1 - accuracy) * total), total)
        for accuracy, total in zip(accuracies, totals)
    ]
    return Curve(np.array([row["elapsed_s"] / 60 for row in rows]), errors)


def _draw_each(axis, curves: dict[str, Curve], dashes: str, label: str) -> None:
    """Draw a line for each run; a single run also gets the 95% interval."""
    for (name, curve), color in zip(curves.items(), COLORS * len(curves)):
        if len(curves) == 1:
            low, high = 100 * np.array([error.interval for error in curve.errors]).T
            low = np.maximum(low, _floor(curve))
            axis.fill_between(curve.minutes, low, high, color=color, alpha=0.12, linewidth=0)
        line = {"color": color, "marker": "o", "markersize": 3, "label": f"{name}: {label}"}
        axis.plot(curve.minutes, _percent(curve), dashes, **line)


def _draw_median(axis, curves: list[Curve], dashes: str, label: str) -> None:
    """Draw the median over the time that all curves span.

    Between two measurements a curve is a straight line on the logarithmic axis.
    """
    first = max(curve.minutes[0] for curve in curves)
    last = min(curve.minutes[-1] for curve in curves)
    if first > last:
        message = "lines=median is not possible: there is no time at which all runs had been "
        message += "measured. lines=each draws them one by one."
        raise ConfigError(message, key="lines", value="median")
    minutes = np.unique(np.concatenate([curve.minutes for curve in curves]).clip(first, last))
    logs = [np.interp(minutes, curve.minutes, np.log(_percent(curve))) for curve in curves]
    errors = np.exp(logs)
    color = BLUE if dashes == "-" else ORANGE
    low, high = errors.min(axis=0), errors.max(axis=0)
    axis.fill_between(minutes, low, high, color=color, alpha=0.15, linewidth=0)
    axis.plot(minutes, np.median(errors, axis=0), dashes, color=color, label=label)


def _label_ticks(axis) -> None:
    """Write percentages as plain numbers, fewer of them where the axis spans several decades."""
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    low, high = axis.get_ylim()
    digits = "235" if high / low > 10 else "23456789"
    axis.yaxis.set_minor_formatter(
        lambda value, _: f"{value:g}" if f"{value:e}"[0] in digits else ""
    )


def _percent(curve: Curve) -> np.ndarray:
    """Return the error in %; zero, impossible on a logarithmic axis, becomes half a position."""
    return np.maximum([100 * error.fraction for error in curve.errors], _floor(curve))


def _floor(curve: Curve) -> float:
    return 100 * 0.5 / curve.errors[-1].total
