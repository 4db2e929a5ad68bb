"""What an engine thinks, for a person: a table of its moves, a value in words, the line that it expects.

In: a game, a position and a player's analysis of it. Out: rich renderables, nothing printed.
"""

import math

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from alphazero.games.batched_game import Game
from alphazero.play.board import Medium, side
from alphazero.play.skin import Skin
from alphazero.players.base import Analysis
from alphazero.solvers.base import ILLEGAL_SCORE

MAX_ROWS = 10
MAX_LINE = 12
_BAR_WIDTH = 16


def value_text(value: float) -> str:
    """Return an expected result as a person reads it, '' where there is none: ``+0.12 (56 %)``, the share counting a draw as half a win."""
    if math.isnan(value):
        return ""
    return (
        f"{round(value, 2) + 0.0:+.2f} ({50 + 50 * value:.0f} %)"  # adding 0 turns -0.00 into +0.00
    )


def line_text(game: Game, actions) -> str:
    """Return a list of moves as a person types them."""
    texts = [game.action_to_text(int(action)) for action in actions[:MAX_LINE]]
    return " ".join(texts) + (" ..." if len(actions) > MAX_LINE else "")


def analysis_view(game: Game, skin: Skin, player: int, analysis: Analysis, medium: Medium) -> Group:
    """Return the table of an analysis.

    Args:
        player: whose move it was, 0 for the one who moves first in the game; values are from this player's viewpoint.
    """
    searched = analysis.num_simulations > 0
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading, justify in (
        ("Move", "right"),
        ("Visits", "right"),
        ("Share", "left"),
        ("Value", "left"),
    ):
        table.add_column(heading, justify=justify)
    if analysis.scores is not None:
        table.add_column("Score", justify="right")
    for action in _order(analysis)[:MAX_ROWS]:
        style = "bold" if action == analysis.action else ""
        visits = f"{analysis.visits[action]:,}" if searched else "-"
        value = value_text(float(analysis.values[action])) or "-"
        score = [] if analysis.scores is None else [f"{analysis.scores[action]:+d}"]
        table.add_row(
            game.action_to_text(int(action)),
            visits,
            _share_bar(float(analysis.action_weights[action]), medium),
            value,
            *score,
            style=style,
        )
    hidden = len(_order(analysis)) - MAX_ROWS
    parts = [table] if hidden <= 0 else [table, Text(f"and {hidden} more moves", "dim")]
    summary = Text.assemble(
        "Value for ",
        side(game, skin, player, medium),
        f": {value_text(analysis.value) or 'unknown'}",
    )
    if searched:
        summary.append(f", {analysis.num_simulations:,} simulations")
    line = Text(f"Expected line: {line_text(game, analysis.principal_variation)}")
    return Group(summary, line, *parts)


def _order(analysis: Analysis) -> list[int]:
    """Return the actions worth showing: the one chosen, then the others by their share, or all by their scores where these are known."""
    if analysis.scores is not None:
        order = np.argsort(-analysis.scores.astype(np.int64), kind="stable")
        shown = [int(action) for action in order if analysis.scores[action] != ILLEGAL_SCORE]
        return [analysis.action] + [action for action in shown if action != analysis.action]
    weights = np.asarray(analysis.action_weights, np.float64)
    shown = [
        int(action)
        for action in np.argsort(-weights, kind="stable")
        if weights[action] > 0 or analysis.visits[action] > 0
    ]
    return [analysis.action] + [action for action in shown if action != analysis.action]


def _share_bar(share: float, medium: Medium) -> Text:
    full = round(share * _BAR_WIDTH)
    filled, empty = ("━", "━") if medium.color else ("#", " ")
    if not medium.color:
        return Text(f"{filled * full}{empty * (_BAR_WIDTH - full)} {100 * share:4.1f} %")
    return Text.assemble(
        (filled * full, "bright_green"),
        (empty * (_BAR_WIDTH - full), "bright_black"),
        f" {100 * share:4.1f} %",
    )
