"""Draw the chart of `alphazero rate`: the Elo of a run's networks over their training time.

The other rated players are horizontal lines.
"""

import math
from collections.abc import Set
from pathlib import Path

import numpy as np

from alphazero.evaluation.elo import Ratings
from alphazero.evaluation.ratings import rating_text, search_of, short_name
from alphazero.evaluation.report import Z_95
from alphazero.plots.figure import BLUE, GREY, Axes, new_figure, save_figure

_TEXT_HEIGHT = 0.04  # height of a name, as a fraction of the range of ratings


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
    rated = {player: info for player, info in networks.items() if player in ratings.players}
    for search in sorted({search_of(player) for player in rated}):
        alike = {player: info for player, info in rated.items() if search_of(player) == search}
        _draw_networks(axis, ratings, alike, search)
    _draw_others(axis, ratings, set(ratings.players).difference(networks))
    anchor_elo = ratings.elo[ratings.players.index(ratings.anchor)]
    ylabel = f"Elo ({ratings.anchor} = {anchor_elo:.0f})"
    axis.set(xlabel="minutes of training", ylabel=ylabel, xlim=(0, None))
    if rated:
        figure.legend(frameon=False, loc="outside lower center", ncols=2)
    save_figure(figure, output)


def _draw_others(axis: Axes, ratings: Ratings, players: Set[str]) -> None:
    """Draw a line with a name for each player, and its 95% confidence interval as a band.

    The line of a player of whose Elo only a bound is known is dotted and has no band. Names that
    would overlap are moved up.

    Args:
        axis: the matplotlib axes to draw on.
        ratings: the ratings of all players.
        players: names of the players that are not networks of the run.
    """
    lowest = -math.inf
    for index in np.argsort(ratings.elo):
        player = ratings.players[index]
        if player not in players:
            continue
        elo = ratings.elo[index]
        is_bound = ratings.is_bound[index]
        axis.axhline(elo, color=GREY, linewidth=1, linestyle=":" if is_bound else "--")
        if not is_bound:  # the interval of a bound is open at one end
            axis.axhspan(*ratings.interval(player), color=GREY, alpha=0.08, linewidth=0)
        height = max(elo, lowest)
        lowest = height + _TEXT_HEIGHT * np.ptp(ratings.elo)
        name = f"  {short_name(player)}  {rating_text(ratings, player)}"
        place = axis.get_yaxis_transform()  # x is a fraction of the axis, y an Elo
        axis.text(1.0, height, name, transform=place, va="center", color=GREY, fontsize=9)


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
