"""Draw the charts of `alphazero plot`: a run's losses, strength, self-play games and speed."""

from pathlib import Path

import numpy as np

from alphazero.plots.figure import BLUE, COLORS, GREEN, ORANGE, Axes, new_figure, save_figure
from alphazero.training.curves import (
    ERRORS,
    GAMES,
    LOSSES,
    MISPLAYED,
    SCORE,
    SPEED,
    Chart,
    Row,
    newest,
)


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
    _draw_losses(axes[0][0], metrics, span)
    _draw_strength(axes[0][1], metrics)
    games_axis = axes[1][0]
    _draw_chart(games_axis, GAMES, metrics)
    games_axis.set(ylim=(0, 130), yticks=range(0, 101, 20))  # room for the legend
    games_axis.legend(frameon=False, loc="upper center", ncols=2)
    _draw_chart(axes[1][1], SPEED, metrics)
    save_figure(figure, output)


def rolling_mean(values: np.ndarray, span: int) -> list[float]:
    """Return the mean of each value and up to ``span`` - 1 values before it."""
    means = []
    for end in range(1, len(values) + 1):
        start = max(0, end - span)
        means.append(values[start:end].mean())
    return means


def _draw_chart(axis: Axes, chart: Chart, metrics: list[Row]) -> None:
    """Plot the curves of a chart over the iterations of a run."""
    for line, color in zip(chart.lines, COLORS):
        iterations, figures = line.points(metrics, "iteration", 1)
        axis.plot(iterations, figures, color=color, label=line.name)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(title=chart.title, xlabel="iteration", ylabel=chart.unit, ylim=(0, None))


def _draw_losses(axis: Axes, metrics: list[Row], span: int) -> None:
    """Plot the losses of each iteration, or of each epoch if the run stored them, and their means.

    Args:
        axis: the matplotlib axes to draw on.
        metrics: one dict of metrics per iteration.
        span: number of iterations or epochs over which the rolling mean is taken.
    """
    epochs = [loss for row in metrics for loss in row.get("learner.epoch_losses") or []]
    step = "iteration"
    heading = "Losses"
    lines = {line.name: line.points(metrics, "iteration", 1) for line in LOSSES.lines}
    if epochs:
        step = "epoch"
        heading = "Loss"
        lines = {"total": (np.arange(1, len(epochs) + 1), np.array(epochs))}
    for (name, (steps, losses)), color in zip(lines.items(), COLORS):
        axis.plot(steps, losses, color=color, alpha=0.3, linewidth=1)
        axis.plot(steps, rolling_mean(losses, span), color=color, label=name)
    axis.xaxis.get_major_locator().set_params(integer=True)
    title = f"{heading} (thick: rolling mean over {span} {step}s)"
    axis.set(title=title, xlabel=step, ylim=(0, None))
    axis.legend(frameon=False)


def _draw_strength(axis: Axes, metrics: list[Row]) -> None:
    """Plot the match score, the accuracy and the share of positions played perfectly, if measured.

    If only the number of misplayed positions was measured, this number is plotted instead.
    """
    axis.set(title="Strength", xlabel="minutes of training")
    num_positions = newest(metrics, "proof.num_positions")
    is_proven = num_positions > 0
    percent_lines = (*SCORE.lines, *ERRORS.lines)
    if any(len(line.points(metrics)[0]) for line in percent_lines):
        _draw_score(axis, metrics)
        _draw_accuracy(axis, metrics)
        if is_proven:
            minutes, misplayed = MISPLAYED.lines[0].points(metrics)
            label = f"perfect, of all {num_positions:,.0f} positions"
            style = {"markersize": 3, "color": COLORS[3], "label": label}
            percent = 100 * (1 - misplayed / num_positions)
            axis.plot(minutes, percent, "s-", **style)
        axis.set(ylabel="%", xlim=(0, None), ylim=(0, 103))
        axis.legend(frameon=False, loc="lower right")
    elif is_proven:
        axis.plot(*MISPLAYED.lines[0].points(metrics), "o-", color=BLUE)
        axis.set(ylabel=f"misplayed positions of {num_positions:,.0f}", ylim=(0, None))
        axis.yaxis.get_major_locator().set_params(integer=True)


def _draw_score(axis: Axes, metrics: list[Row]) -> None:
    (line,) = SCORE.lines
    measured = [row for row in metrics if np.isfinite(line.figures(row)).all()]
    if measured:
        minutes, _ = line.points(measured)
        score, low, high = np.array([line.figures(row) for row in measured]).T
        label = f"score against {measured[-1]['strength.opponent']}, 95% interval"
        errors = [score - low, high - score]
        axis.errorbar(minutes, score, errors, fmt="o-", color=BLUE, label=label)


def _draw_accuracy(axis: Axes, metrics: list[Row]) -> None:
    num_simulations = newest(metrics, "exact.num_simulations")
    names = (f"{num_simulations:.0f} simulations", "network alone")
    for line, name, color in zip(ERRORS.lines, names, (ORANGE, GREEN)):
        minutes, error = line.points(metrics)
        if len(minutes):
            style = {"markersize": 3, "color": color, "label": f"accuracy, {name}"}
            axis.plot(minutes, 100 - error, "o-", **style)
