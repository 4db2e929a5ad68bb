"""Draw the chart of `alphazero rate`: the Elo of a run's networks over their training time.

The other rated players are horizontal lines.
"""

from pathlib import Path

import numpy as np

from alphazero.evaluation.elo import Ratings
from alphazero.evaluation.ratings import rating_text, search_of, short_name
from alphazero.evaluation.report import Z_95
from alphazero.plots.figure import BLUE, GREY, Axes, new_figure, save_figure

_TEXT_HEIGHT = 0.035  # height of a name, as a fraction of the axis


def draw_ratings(ratings: Ratings, networks: dict[str, dict], title: str, output: Path) -> None:
    """Plot the ratings of a run's networks and of other players, and write the chart to a file.

    Args:
        ratings: the ratings of all players; networks that are not among them are not drawn.
        networks: {player name: {"iteration": ..., "elapsed_s": ...}} of the run's networks, with
            their seconds of training.
        title: the title above the chart.
        output: the file; the ending of its name determines the format.

    Raises:
        ConfigError: if matplotlib is not installed.
        OSError: if the file cannot be written.
    """
    figure, axis = new_figure(1, 1, title, size=(9, 5.5))
    others = [player for player in ratings.players if player not in networks]
    _draw_others(axis, ratings, others)
    rated = {player: info for player, info in networks.items() if player in ratings.players}
    for search in sorted({search_of(player) for player in rated}):
        alike = {player: info for player, info in rated.items() if search_of(player) == search}
        _draw_networks(axis, ratings, alike, search)
    anchor_elo = ratings.elo[ratings.players.index(ratings.anchor)]
    ylabel = f"Elo ({ratings.anchor} = {anchor_elo:.0f})"
    axis.set(xlabel="minutes of training", ylabel=ylabel)
    axis.set_xlim(left=0)
    _name_others(axis, ratings, others)
    if axis.get_legend_handles_labels()[0]:
        figure.legend(frameon=False, loc="outside lower center", ncols=2)
    save_figure(figure, output)


def _draw_others(axis: Axes, ratings: Ratings, players: list[str]) -> None:
    """Draw a horizontal line for each player, dotted if only a bound of its Elo is known.

    Other players also get their 95% confidence interval as a band.

    Args:
        axis: the matplotlib axes to draw on.
        ratings: the ratings of all players.
        players: names of the players that are not networks of the run.
    """
    for player in players:
        index = ratings.players.index(player)
        is_bound = ratings.is_bound[index]
        style = ":" if is_bound else "--"
        axis.axhline(ratings.elo[index], color=GREY, linewidth=1, linestyle=style)
        if not is_bound:  # the interval of a bound is open at one end
            axis.axhspan(*ratings.interval(player), color=GREY, alpha=0.08, linewidth=0)


def _name_others(axis: Axes, ratings: Ratings, players: list[str]) -> None:
    """Write each player's name at the right end of its line, moved up where names would overlap."""
    low, high = axis.get_ylim()
    lowest = low
    rated = [(float(ratings.elo[ratings.players.index(player)]), player) for player in players]
    for elo, player in sorted(rated):
        height = max(elo, lowest)
        lowest = height + _TEXT_HEIGHT * (high - low)
        axis.annotate(
            f"{short_name(player)}  {rating_text(ratings, player)}",
            (1.0, elo),
            xycoords=("axes fraction", "data"),
            xytext=(1.02, height),
            textcoords=("axes fraction", "data"),
            va="center",
            color=GREY,
            fontsize=9,
            annotation_clip=False,
        )


def _draw_networks(axis: Axes, ratings: Ratings, networks: dict[str, dict], search: str) -> None:
    """Draw the networks that use the same search as one line, with 95% confidence intervals.

    Args:
        axis: the matplotlib axes to draw on.
        ratings: the ratings of all players.
        networks: {player name: {"iteration": ..., "elapsed_s": ...}} of these networks.
        search: description of the search, for the legend.
    """
    order = sorted(networks, key=lambda player: networks[player]["elapsed_s"])
    minutes = [networks[player]["elapsed_s"] / 60.0 for player in order]
    elo = np.array([ratings.elo[ratings.players.index(player)] for player in order])
    margin = Z_95 * np.array([ratings.stderr(player) for player in order])
    band = {"color": BLUE, "alpha": 0.15, "linewidth": 0, "label": "95% interval"}
    axis.fill_between(minutes, elo - margin, elo + margin, **band)
    label = f"networks of the run, {search}"
    axis.plot(minutes, elo, "o-", color=BLUE, markersize=4, label=label)
    style = {"textcoords": "offset points", "ha": "center", "fontsize": 8, "color": BLUE}
    for time, height, player in zip(minutes, elo, order):
        text = str(networks[player]["iteration"])
        axis.annotate(text, (time, height), xytext=(0, 6), **style)
