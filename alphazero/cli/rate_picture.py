"""The picture of `alphazero rate`: a run's rating over the time of its training, between the players that do not learn."""

from pathlib import Path

import numpy as np

from alphazero.evaluation.elo import Ratings
from alphazero.evaluation.report import Z_95
from alphazero.runtime.errors import ConfigError

_NETWORK_COLOR, _OTHER_COLOR = "#2b6cb0", "#4a5568"
_LINE_OF_TEXT = 0.035  # share of the picture's height


def draw(ratings: Ratings, networks: dict[str, dict], title: str, output: Path) -> None:
    """Draw the ratings.

    Args:
        networks: iteration and elapsed_s of each player that is a network of the run.

    Raises:
        ConfigError: if matplotlib is missing or cannot write that kind of file.
    """
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise ConfigError(
            'matplotlib is not installed here: pip install "alphazero-selfplay[plot]" installs it.'
        ) from None
    figure, axis = pyplot.subplots(figsize=(9, 5.5), constrained_layout=True)
    others = [player for player in ratings.players if player not in networks]
    _draw_others(axis, ratings, others)
    for words in sorted({_words(player) for player in networks if player in ratings.players}):
        _draw_networks(
            axis,
            ratings,
            {player: info for player, info in networks.items() if _words(player) == words},
            words,
        )
    axis.set(
        title=title,
        xlabel="minutes of training",
        ylabel=f"Elo ({ratings.anchor} = {ratings.elo[ratings.players.index(ratings.anchor)]:.0f})",
    )
    axis.set_xlim(left=0)
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    _name_others(axis, ratings, others)
    if axis.get_legend_handles_labels()[0]:
        figure.legend(frameon=False, loc="outside lower center", ncols=2)
    try:
        figure.savefig(output, dpi=110)
    except (ValueError, OSError) as error:
        raise ConfigError(
            f"output={output} cannot be written ({str(error).splitlines()[0]})."
        ) from None
    finally:
        pyplot.close(figure)


def short_name(player: str) -> str:
    """Return a player's name without the folders that a network of another run lies in: RUN/000012 and its settings."""
    path, comma, words = player.partition(",")
    if not path.endswith(".safetensors"):
        return player
    parts = [part for part in Path(path).with_suffix("").parts if part != "networks"]
    return "/".join(parts[-2:]) + comma + words


def rating_words(ratings: Ratings, player: str) -> str:
    """Return a player's rating, or the one bound that is known of it if it won or lost everything that leads to the anchor."""
    index, interval = ratings.players.index(player), ratings.interval(player)
    if not ratings.is_bound[index]:
        return f"{ratings.elo[index]:.0f}"
    return (
        f"below {interval.high:.0f}"
        if ratings.elo[index] < ratings.elo[ratings.players.index(ratings.anchor)]
        else f"above {interval.low:.0f}"
    )


def _words(player: str) -> str:
    """Return what the name of a network says after its number: networks that search alike make one line."""
    return player.partition(", ")[2]


def _draw_others(axis, ratings, players) -> None:
    for player in players:
        index = ratings.players.index(player)
        axis.axhline(
            ratings.elo[index],
            color=_OTHER_COLOR,
            linewidth=1,
            linestyle=":" if ratings.is_bound[index] else "--",
        )
        if not ratings.is_bound[
            index
        ]:  # of a player that lost everything, one end of the interval is open
            axis.axhspan(*ratings.interval(player), color=_OTHER_COLOR, alpha=0.08, linewidth=0)


def _name_others(axis, ratings, players) -> None:
    """Write the names at the right end of the lines, moved upwards where they would cover each other."""
    low, high = axis.get_ylim()
    lowest = low
    for elo, player in sorted(
        (float(ratings.elo[ratings.players.index(player)]), player) for player in players
    ):
        height = max(elo, lowest)
        lowest = height + _LINE_OF_TEXT * (high - low)
        name = short_name(player)
        axis.annotate(
            f"{name}  {rating_words(ratings, player)}",
            (1.0, elo),
            xycoords=("axes fraction", "data"),
            xytext=(1.02, height),
            textcoords=("axes fraction", "data"),
            va="center",
            color=_OTHER_COLOR,
            fontsize=9,
            annotation_clip=False,
        )


def _draw_networks(axis, ratings, networks, words) -> None:
    rated = sorted(
        (info["elapsed_s"] / 60.0, info["iteration"], player)
        for player, info in networks.items()
        if player in ratings.players
    )
    minutes = [time for time, *_ in rated]
    elo = np.array([ratings.elo[ratings.players.index(player)] for *_, player in rated])
    margin = Z_95 * np.array([ratings.stderr(player) for *_, player in rated])
    axis.fill_between(
        minutes,
        elo - margin,
        elo + margin,
        color=_NETWORK_COLOR,
        alpha=0.15,
        linewidth=0,
        label="95 % interval",
    )
    axis.plot(
        minutes,
        elo,
        "o-",
        color=_NETWORK_COLOR,
        markersize=4,
        label=f"networks of the run, {words}",
    )
    for time, height, (_, iteration, _) in zip(minutes, elo, rated):
        axis.annotate(
            str(iteration),
            (time, height),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=_NETWORK_COLOR,
        )
