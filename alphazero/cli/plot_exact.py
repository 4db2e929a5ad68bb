"""The picture of `alphazero plot what=exact`: how the error beside an exact solver falls with training time, for one run or several.

In: the metrics of runs, as `RunFolder.read_metrics` gives them. Out: a picture. The error is the share of the positions of the evaluation set in
which the move gives up the best possible result; the axis is logarithmic, so that a tenth of a percent can be seen beside the beginning.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.cli.plot import new_figure, save_figure
from alphazero.evaluation.exact.accuracy import Proportion
from alphazero.runtime.errors import ConfigError

_COLORS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b7791f", "#b83280", "#2c7a7b", "#4a5568")
_DASHES = {"accuracy": "-", "raw_accuracy": "--"}


class Curve(NamedTuple):
    """The measurements of a run."""

    minutes: np.ndarray  #: float64[M], of training; the time of measuring does not count
    shares: list[Proportion]  #: M, positions in which the result is given up


def draw_exact(runs: dict[str, list[dict]], game: str, lines: str, output: Path) -> None:
    """Draw the error of each run, or the median of all of them in a band from the lowest to the highest, into the picture ``output``.

    Args:
        runs: the metrics of each run, by its name.
        game: what they play, for the title.
        lines: "each" or "median".

    Raises:
        ConfigError: if a run has no such measurements, or the picture cannot be written.
    """
    measured = {
        name: [row for row in rows if "exact.accuracy" in row] for name, rows in runs.items()
    }
    for name, rows in measured.items():
        if not rows:
            raise ConfigError(
                f"the run {name} was never measured against an exact evaluation set: evaluation.exact=true does so where one ships."
            )
    simulations = ", ".join(
        str(number)
        for number in sorted({rows[-1]["exact.num_simulations"] for rows in measured.values()})
    )
    figure, axis = new_figure(
        1, 1, f"{game}: moves that give up the result, beside an exact solver", size=(8, 5)
    )
    for key, label in (
        ("accuracy", f"{simulations} simulations"),
        ("raw_accuracy", "network alone"),
    ):
        curves = {name: _curve(rows, key) for name, rows in measured.items()}
        if lines == "median" and len(curves) > 1:
            _draw_median(
                axis, list(curves.values()), _DASHES[key], f"{label}, median of {len(curves)} runs"
            )
        else:
            _draw_each(axis, curves, _DASHES[key], label)
    counts = {rows[-1]["exact.num_positions"] for rows in measured.values()}
    axis.set(
        xlabel="minutes of training",
        ylabel=f"% of {' or '.join(f'{count:,}' for count in sorted(counts))} positions",
        yscale="log",
        xlim=(0, None),
    )
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    low, high = axis.get_ylim()
    shown = "235" if high / low > 10 else "23456789"
    axis.yaxis.set_minor_formatter(
        lambda value, _: f"{value:g}" if f"{value:e}"[0] in shown else ""
    )
    axis.legend(frameon=False)
    save_figure(figure, output)


def _curve(rows: list[dict], key: str) -> Curve:
    totals = [row["exact.num_positions"] for row in rows]
    shares = [
        Proportion(round((1 - row[f"exact.{key}"]) * total), total)
        for row, total in zip(rows, totals)
    ]
    return Curve(np.array([row["elapsed_s"] / 60 for row in rows]), shares)


def _draw_each(axis, curves: dict[str, Curve], dashes: str, label: str) -> None:
    for (name, curve), color in zip(curves.items(), _COLORS * len(curves)):
        if len(curves) == 1:
            low, high = (
                np.array([100 * end for end in ends])
                for ends in zip(*(share.interval for share in curve.shares))
            )
            axis.fill_between(
                curve.minutes,
                np.maximum(low, _floor(curve)),
                high,
                color=color,
                alpha=0.12,
                linewidth=0,
            )
        axis.plot(
            curve.minutes,
            _percent(curve),
            dashes,
            color=color,
            marker="o",
            markersize=3,
            label=f"{name}: {label}",
        )


def _draw_median(axis, curves: list[Curve], dashes: str, label: str) -> None:
    """Draw the median over the time that all curves span; between two measurements, a curve is a straight line on the logarithmic axis."""
    first, last = (
        max(curve.minutes[0] for curve in curves),
        min(curve.minutes[-1] for curve in curves),
    )
    if first > last:
        raise ConfigError(
            "lines=median is not possible: the runs were not measured in the same stretch of time."
        )
    minutes = np.unique(np.concatenate([curve.minutes for curve in curves]).clip(first, last))
    errors = np.exp(
        [np.interp(minutes, curve.minutes, np.log(_percent(curve))) for curve in curves]
    )
    color = _COLORS[0] if dashes == "-" else _COLORS[1]
    axis.fill_between(
        minutes, errors.min(axis=0), errors.max(axis=0), color=color, alpha=0.15, linewidth=0
    )
    axis.plot(minutes, np.median(errors, axis=0), dashes, color=color, label=label)


def _percent(curve: Curve) -> np.ndarray:
    """Return the error in %; none at all, which has no place on a logarithmic axis, is drawn as half a position."""
    return np.maximum([100 * share.fraction for share in curve.shares], _floor(curve))


def _floor(curve: Curve) -> float:
    return 100 * 0.5 / curve.shares[-1].total
