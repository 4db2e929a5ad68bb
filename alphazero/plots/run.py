"""The picture of `alphazero plot`: a run's losses, strength, self-play games and speed.

In: the metrics of a run, as `RunFolder.read_metrics` returns them. Out: a picture with four panels.
"""

import math
from pathlib import Path

import numpy as np

from alphazero.plots.figure import BLUE, COLORS, GREEN, ORANGE, new_figure, save_figure


def draw_run(metrics: list[dict], title: str, span: int, output: Path) -> None:
    """Draw the picture.

    Args:
        metrics: one dict for each iteration.
        span: iterations in the rolling mean of the losses, or epochs in a run that counts them.

    Raises:
        ConfigError: if matplotlib is missing or cannot write the file.
    """
    figure, axes = new_figure(2, 2, title, size=(11, 7))
    _draw_losses(axes[0][0], metrics, span)
    _draw_strength(axes[0][1], metrics)
    _draw_games(axes[1][0], metrics)
    _draw_speed(axes[1][1], metrics)
    save_figure(figure, output)


def rolling_mean(values: list[float], span: int) -> list[float]:
    """Return the mean of each value and of up to ``span`` - 1 values before it."""
    windows = (values[max(0, end - span) : end] for end in range(1, len(values) + 1))
    return [sum(window) / len(window) for window in windows]


def _draw_losses(axis, metrics, span) -> None:
    if any(row.get("learner.epoch_losses") for row in metrics):
        _draw_epochs(axis, metrics, span)
        return
    iterations = [row["iteration"] for row in metrics]
    losses = (("loss", "total"), ("policy_loss", "policy"), ("value_loss", "value"))
    for (key, label), color in zip(losses, COLORS):
        values = _column(metrics, f"learner.{key}")
        axis.plot(iterations, values, color=color, alpha=0.3, linewidth=1)
        axis.plot(iterations, rolling_mean(values, span), color=color, label=label)
    axis.xaxis.get_major_locator().set_params(integer=True)
    title = f"losses (thick: rolling mean over {span} iterations)"
    axis.set(title=title, xlabel="iteration", ylim=(0, None))
    axis.legend(frameon=False)


def _draw_epochs(axis, metrics, span) -> None:
    """Draw the loss of each epoch."""
    losses = [loss for row in metrics for loss in row.get("learner.epoch_losses") or []]
    epochs = range(1, len(losses) + 1)
    axis.plot(epochs, losses, color=BLUE, alpha=0.3, linewidth=1)
    axis.plot(epochs, rolling_mean(losses, span), color=BLUE, label="total")
    title = f"loss (thick: rolling mean over {span} epochs)"
    axis.set(title=title, xlabel="epoch", ylim=(0, None))
    axis.legend(frameon=False)


def _draw_strength(axis, metrics) -> None:
    """Draw the match score, the accuracy and the proof where they were measured."""
    axis.set(title="strength", xlabel="minutes of training")
    measured = [row for row in metrics if "strength.score" in row]
    exact = [row for row in metrics if "exact.accuracy" in row]
    proven = [row for row in metrics if "proof.num_accurate" in row]
    if measured:
        _draw_score(axis, measured)
    if exact:
        label = f"accuracy, {exact[-1]['exact.num_simulations']} simulations"
        _draw_accuracy(axis, exact, "accuracy", label, ORANGE)
        _draw_accuracy(axis, exact, "raw_accuracy", "accuracy, network alone", GREEN)
    if proven and (measured or exact):
        _draw_perfect(axis, proven)
    if measured or exact:
        axis.set(ylabel="%", xlim=(0, None), ylim=(0, 103))
        axis.legend(frameon=False, loc="lower right")
    elif proven:
        misplayed = [row["proof.num_positions"] - row["proof.num_accurate"] for row in proven]
        axis.plot(_minutes(proven), misplayed, "o-", color=BLUE)
        num_positions = proven[-1]["proof.num_positions"]
        axis.set(ylabel=f"misplayed positions of {num_positions:,}", ylim=(0, None))
        axis.yaxis.get_major_locator().set_params(integer=True)


def _draw_score(axis, measured) -> None:
    score, low, high = (
        [100 * row[f"strength.{key}"] for row in measured]
        for key in ("score", "score_low", "score_high")
    )
    errors = [np.subtract(score, low), np.subtract(high, score)]
    label = f"score against {measured[-1]['strength.opponent']}, 95% interval"
    axis.errorbar(_minutes(measured), score, errors, fmt="o-", color=BLUE, label=label)


def _draw_accuracy(axis, exact, key, label, color) -> None:
    percent = [100 * row[f"exact.{key}"] for row in exact]
    axis.plot(_minutes(exact), percent, "o-", markersize=3, color=color, label=label)


def _draw_perfect(axis, proven) -> None:
    """Draw the positions that are played perfectly, of all that can occur."""
    pairs = [(row["proof.num_accurate"], row["proof.num_positions"]) for row in proven]
    percent = [100 * num_accurate / num_positions for num_accurate, num_positions in pairs]
    label = f"perfect, of all {pairs[-1][1]:,} positions"
    axis.plot(_minutes(proven), percent, "s-", markersize=3, color=COLORS[3], label=label)


def _draw_games(axis, metrics) -> None:
    iterations = [row["iteration"] for row in metrics]
    lines = {
        "first_player_wins": "first player wins",
        "draws": "draws",
        "distinct_games": "distinct games",
    }
    for (key, label), color in zip(lines.items(), COLORS):
        percent = [100 * share for share in _column(metrics, f"selfplay.{key}")]
        axis.plot(iterations, percent, color=color, label=label)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(title="self-play games", xlabel="iteration", ylabel="% of the games")
    axis.set(ylim=(0, 120), yticks=range(0, 101, 20))  # above the lines is room for their names
    axis.legend(frameon=False, loc="upper center", ncols=3)


def _draw_speed(axis, metrics) -> None:
    iterations = [row["iteration"] for row in metrics]
    axis.plot(iterations, _column(metrics, "selfplay.positions_per_s"), color=BLUE)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(title="self-play speed", xlabel="iteration", ylabel="positions/s", ylim=(0, None))


def _minutes(metrics) -> list[float]:
    return [seconds / 60 for seconds in _column(metrics, "elapsed_s")]


def _column(metrics, key) -> list[float]:
    """Return a figure of each iteration; nan where a row has none."""
    values = (row.get(key) for row in metrics)
    return [value if isinstance(value, (int, float)) else math.nan for value in values]
