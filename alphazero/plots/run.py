"""Draw the charts of `alphazero plot`: a run as a whole, and the exact error of several runs.

The error is the fraction of evaluation positions in which the network's move gives up the best
possible result, according to an exact solver. Its axis is logarithmic, so that a tenth of a percent
stays visible.
"""

import io
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_output
from alphazero.training import curves
from alphazero.training.curves import Line, Row

COLORS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b7791f", "#b83280", "#2c7a7b", "#4a5568")
#: Stands for matplotlib.axes.Axes; matplotlib is optional, and imported only to draw.
Axes = Any
_DPI = 110
Run = tuple[str, list[Row]]  #: the name and the metrics of a run
Points = tuple[np.ndarray, np.ndarray]  #: the x and the y coordinates of a line


def draw_run(metrics: list[Row], title: str, span: int, output: Path) -> None:
    """Plot a run's losses, strength, games and speed in four charts, and write them to one file.

    Args:
        metrics: one dict per iteration (see `RunFolder.read_metrics`).
        title: the title above all charts.
        span: number of iterations over which the rolling mean of the losses is taken, or number of
            epochs if the run stored their losses.
        output: the file; the ending of its name determines the format.

    Raises:
        OSError: if the file cannot be written.
    """
    figure, axes = _new_figure(2, 2, title, size=(11, 7))
    losses, strength, games, speed = axes.flat
    _draw_losses(losses, metrics, span)
    _draw_strength(strength, metrics)
    _draw_lines(games, curves.GAMES, _lines(curves.GAMES, metrics))
    games.set(ylim=(0, 130), yticks=range(0, 101, 20))
    games.legend(frameon=False, loc="upper center", ncols=2)  # above 100%
    _draw_lines(speed, curves.SPEED, _lines(curves.SPEED, metrics))
    _save_figure(figure, output)


def rolling_mean(values: np.ndarray, span: int) -> list[float]:
    """Return the mean of each value and up to ``span`` - 1 values before it."""
    ends = range(1, len(values) + 1)
    return [values[max(0, end - span) : end].mean() for end in ends]


def _lines(chart: curves.Chart, metrics: list[Row]) -> dict[str, Points]:
    """Return the lines of a chart over the iterations of a run, by their names."""
    return {line.name: line.points(metrics, "iteration", 1) for line in chart.lines}


def _draw_lines(
    axis: Axes,
    chart: curves.Chart,
    lines: Mapping[str, Points],
    span: int = 1,
    step: str = "iteration",
) -> None:
    """Plot lines over a run's iterations or epochs, thick ones for their rolling means.

    Args:
        axis: the matplotlib axes to draw on.
        chart: its title and unit are shown.
        lines: the lines by their names.
        span: number of values over which the rolling mean is taken.
        step: what a value belongs to: "iteration" or "epoch".
    """
    for (name, (steps, values)), color in zip(lines.items(), COLORS):
        axis.plot(steps, values, color=color, alpha=0.3, linewidth=1)
        axis.plot(steps, rolling_mean(values, span), color=color, label=name)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(title=chart.title, xlabel=step, ylabel=chart.unit, ylim=(0, None))


def _draw_losses(axis: Axes, metrics: list[Row], span: int) -> None:
    """Plot the losses of each iteration, or of each epoch if the run stored them, and their means.

    Args:
        axis: the matplotlib axes to draw on.
        metrics: one dict of metrics per iteration.
        span: number of iterations or epochs over which the rolling mean is taken.
    """
    step = "iteration"
    lines = _lines(curves.LOSSES, metrics)
    epochs = [loss for row in metrics for loss in row.get("learner.epoch_losses") or []]
    if epochs:
        step = "epoch"
        lines = {"total": (np.arange(1, len(epochs) + 1), np.array(epochs))}
    _draw_lines(axis, curves.LOSSES, lines, span, step)
    axis.set(title=f"Losses (thick: rolling mean over {span} {step}s)")
    axis.legend(frameon=False)


def _draw_strength(axis: Axes, metrics: list[Row]) -> None:
    """Plot the match score, the accuracy and the share of perfect positions, where measured."""
    num_positions = curves.newest(reversed(metrics), "proof.num_positions")
    num_simulations = curves.newest(reversed(metrics), "exact.num_simulations")
    minutes, misplayed = curves.MISPLAYED.lines[0].points(metrics)
    perfect = f"perfect, of all {num_positions:,.0f} positions"
    lines = {perfect: (minutes, 100 * (1 - misplayed / num_positions))}
    names = (f"{num_simulations:.0f} simulations", "network alone")
    for line, name in zip(curves.ERRORS.lines, names):
        minutes, error = line.points(metrics)
        lines[f"accuracy, {name}"] = (minutes, 100 - error)
    for (label, points), color in zip(lines.items(), COLORS[1:]):
        if len(points[0]):
            axis.plot(*points, "o-", markersize=3, color=color, label=label)
    _draw_score(axis, metrics)
    axis.set(title="Strength", xlabel="minutes of training", ylabel="%", xlim=(0, None))
    if axis.lines:
        axis.legend(frameon=False, loc="lower right")


def _draw_score(axis: Axes, metrics: list[Row]) -> None:
    (line,) = curves.SCORE.lines
    measured = [row for row in metrics if np.isfinite(line.figures(row)).all()]
    if measured:
        minutes, _ = line.points(measured)
        score, low, high = np.array([line.figures(row) for row in measured]).T
        label = f"score against {measured[-1]['strength.opponent']}, 95% interval"
        errors = [score - low, high - score]
        axis.errorbar(minutes, score, errors, fmt="o-", color=COLORS[0], label=label)


# --- the exact error of several runs --------------------------------------------------------------


def draw_exact_error(runs: Sequence[Run], game: str, output: Path) -> None:
    """Plot each run's exact error over its training time, and write the chart to a file.

    The chart has one line per run for the network with search, and a dashed one for the network
    alone.

    Args:
        runs: the name and the metrics of each run, with one dict of metrics per iteration.
        game: the game's name, for the title.
        output: the file; the ending of its name determines the format.

    Raises:
        ConfigError: if a run was not measured on exact positions.
        OSError: if the file cannot be written.
    """
    measured: list[Run] = []
    for name, rows in runs:
        measured.append((name, [row for row in rows if "exact.accuracy" in row]))
        if not measured[-1][1]:
            reason = "it was not measured on exact positions, as with evaluation.exact=true"
            raise ConfigError.of("run", name, reason=reason)
    figure, axis = _new_figure(1, 1, f"{game}: moves that give up the exact result", size=(8, 5))
    labels = (f"{_numbers(measured, 'exact.num_simulations')} simulations", "network alone")
    for line, dashes, label in zip(curves.ERRORS.lines, ("-", "--"), labels):
        _draw_errors(axis, measured, line, dashes, label)
    ylabel = f"% of {_numbers(measured, 'exact.num_positions')} positions"
    axis.set(xlabel="minutes of training", ylabel=ylabel, yscale="log", xlim=(0, None))
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.yaxis.set_minor_formatter(_minor_label)
    axis.legend(frameon=False)
    _save_figure(figure, output)


def _minor_label(value: float, _: int | None) -> str:
    """Label a minor tick whose first digit is 2, 3, 5 or 7; all labels would overlap."""
    return f"{value:g}" if f"{value:e}"[0] in "2357" else ""


def _numbers(runs: Sequence[Run], key: str) -> str:
    """Format the distinct values that a metric has in the runs' last rows, such as "64 or 100"."""
    numbers = {rows[-1][key] for _, rows in runs}
    return " or ".join(f"{number:,}" for number in sorted(numbers))


def _draw_errors(axis: Axes, runs: Sequence[Run], line: Line, dashes: str, label: str) -> None:
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


# --- figures --------------------------------------------------------------------------------------


def _new_figure(num_rows: int, num_columns: int, title: str, size: tuple[float, float]) -> Any:
    """Make a figure with a grid of axes, like `matplotlib.pyplot.subplots`.

    Args:
        num_rows, num_columns: the size of the grid.
        title: the title above the whole figure.
        size: width and height in inches.

    Returns:
        The figure, and its axes: an array, or a single one for a grid of 1 x 1.
    """
    from matplotlib.figure import Figure

    figure = Figure(size, layout="constrained")
    figure.suptitle(title)
    return figure, figure.subplots(num_rows, num_columns)


def _save_figure(figure: Any, output: Path) -> None:
    """Add grid lines to a figure, remove its top and right edges, and write it to a file.

    Args:
        figure: the matplotlib figure.
        output: the file; the ending of its name determines the format.

    Raises:
        OSError: if the file cannot be written.
    """
    for axis in figure.axes:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    data = io.BytesIO()
    figure.savefig(data, dpi=_DPI, format=output.suffix[1:].lower())
    write_output(output, data.getvalue())
