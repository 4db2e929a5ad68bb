"""Draw the charts of `alphazero plot`: a run's losses, strength, self-play games and speed."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from alphazero.plots.figure import COLORS, Axes, new_figure, save_figure
from alphazero.training import curves
from alphazero.training.curves import Row

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
        ConfigError: if matplotlib is not installed.
        OSError: if the file cannot be written.
    """
    figure, axes = new_figure(2, 2, title, size=(11, 7))
    losses, strength, games, speed = axes.flat
    _draw_losses(losses, metrics, span)
    _draw_strength(strength, metrics)
    _draw_lines(games, curves.GAMES, _lines(curves.GAMES, metrics))
    games.set(ylim=(0, 130), yticks=range(0, 101, 20))
    games.legend(frameon=False, loc="upper center", ncols=2)  # above 100%
    _draw_lines(speed, curves.SPEED, _lines(curves.SPEED, metrics))
    save_figure(figure, output)


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
    num_positions = curves.newest(metrics, "proof.num_positions")
    num_simulations = curves.newest(metrics, "exact.num_simulations")
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
