"""The picture of `alphazero evaluate`: a player's accuracy against an exact solver, by ply."""

from pathlib import Path

import numpy as np

from alphazero.evaluation.exact.accuracy import AccuracyReport, Proportion, groups_of
from alphazero.evaluation.exact.sets import EvaluationSet
from alphazero.plots.figure import COLORS, Axes, new_figure, save_figure


def draw_accuracy(
    evaluation_set: EvaluationSet, reports: dict[str, AccuracyReport], title: str, output: Path
) -> None:
    """Draw how often the exact result is kept, and the best score played, by ply.

    Args:
        reports: one for each player, by its label.

    Raises:
        ConfigError: if matplotlib is missing or cannot write the file.
    """
    figure, axes = new_figure(1, 2, title, size=(11, 4.2))
    plies = groups_of(evaluation_set)["ply"]
    for axis, name, heading in (
        (axes[0], "accuracy", "keeps the exact result"),
        (axes[1], "optimal", "plays the best score"),
    ):
        for index, (label, report) in enumerate(reports.items()):
            proportions = [getattr(report, name)(rows) for rows in plies.values()]
            _draw_points(axis, index, label, proportions)
        axis.set(title=heading, xlabel="ply (95% intervals)", ylabel="% of the positions")
        axis.set_ylim(None, 101)
        axis.set_xticks(np.arange(len(plies)), plies)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False)
    save_figure(figure, output)


def _draw_points(axis: Axes, index: int, label: str, proportions: list[Proportion]) -> None:
    """Draw one player's points, shifted so that the players' intervals do not overlap."""
    heights = np.array([100 * each.fraction for each in proportions])
    ends = 100 * np.array([each.interval for each in proportions]).T
    places = np.arange(len(proportions)) + 0.12 * index
    errors = np.abs(ends - heights)
    color = COLORS[index]
    axis.errorbar(places, heights, errors, fmt="o-", color=color, capsize=2, label=label)
