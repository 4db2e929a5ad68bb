"""The table of `alphazero rate`, and how players and ratings are written in it.

In: ratings and the file they come from. Out: rich tables and text; nothing is printed.
"""

import numpy as np
from rich.box import SQUARE
from rich.table import Table
from rich.text import Text

from alphazero.evaluation.elo import Ratings
from alphazero.evaluation.ratings import RatingFile, rating_text, search_of, short_name
from alphazero.evaluation.report import Z_95


def ratings_table(ratings: Ratings, file: RatingFile) -> Table:
    """Return the ratings as a table, the strongest player first."""
    caption = f"95% intervals are of the difference to {ratings.anchor}, the anchor."
    searches = {search_of(player) for player in file.networks if player in ratings.players}
    if len(searches) == 1:  # written once instead of in every row
        caption += f" Networks: {min(searches)}."
    title = f"{file.game}: {file.num_games:,} games, {file.num_distinct_games:,} of them different"
    left = {"title_justify": "left", "caption_justify": "left"}
    caption_text = Text(caption, "dim italic")
    table = Table(title=Text(title, "bold"), caption=caption_text, box=SQUARE, **left)
    table.add_column("player")
    for name in ("Elo", "std. error", "95% interval", "games", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    for index in np.argsort(-ratings.elo, kind="stable"):
        player = ratings.players[index]
        is_network = player in file.networks
        style = "cyan" if is_network else "bold" if player == ratings.anchor else None
        is_short = is_network and len(searches) == 1
        name = player.partition(", ")[0] if is_short else short_name(player)
        games, score = f"{ratings.num_games[index]:,}", f"{ratings.scores[index]:.1%}"
        table.add_row(Text(name), *rating_cells(ratings, player), games, score, style=style)
    return table


def growth_text(ratings: Ratings, file: RatingFile) -> str:
    """Return the Elo gained from the first network to the newest one, with its interval.

    Only networks with the newest one's search settings count; '' if there is no other.
    """
    networks = [player for player in file.networks if player in ratings.players]
    networks.sort(key=lambda player: (file.networks[player]["iteration"], player))
    alike = [player for player in networks if search_of(player) == search_of(networks[-1])]
    if len(alike) < 2:
        return ""
    newest, first = alike[-1], alike[0]
    elo, stderr = ratings.difference(newest, first)
    low, high = elo - Z_95 * stderr, elo + Z_95 * stderr
    names = [player.partition(", ")[0] for player in (newest, first)]
    return f"{names[0]} minus {names[1]}: {elo:+.0f} Elo (95% interval {low:+.0f} to {high:+.0f})"


def rating_cells(ratings: Ratings, player: str) -> tuple[str, str, str]:
    """Return a player's rating, its standard error and its 95% interval as text."""
    index = ratings.players.index(player)
    elo = f"{ratings.elo[index]:.0f}"
    if player == ratings.anchor:
        return elo, "", "given"
    if ratings.is_bound[index]:
        return elo, "", rating_text(ratings, player)
    low, high = ratings.interval(player)
    return elo, f"{ratings.stderr(player):.0f}", f"{low:.0f} to {high:.0f}"
