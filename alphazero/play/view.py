"""Format an engine's analysis of a position: the expected line, and a table of moves and values.

The functions return strings or rich renderables; they print nothing.
"""

from collections.abc import Sequence

import numpy as np
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from alphazero.boards.skin import Skin
from alphazero.boards.text import Medium, expectation_text, side
from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis
from alphazero.runtime.console import counted
from alphazero.solvers.base import ILLEGAL_SCORE

MAX_ROWS = 10  #: maximum number of moves in the table
MAX_LINE = 12  #: maximum number of moves of the expected line that are shown
_BAR_WIDTH = 16
_EMPTY = "bright_black"
_FULL = "bright_green"


def line_text(skin: Skin, actions: Sequence[int]) -> str:
    """Format the first `MAX_LINE` moves of an expected line in a skin's notation, as in "d3 c5".

    Args:
        skin: the game's appearance, which has the notation.
        actions: the moves, in the order of play.
    """
    texts = [skin.notation.text(int(action)) for action in actions[:MAX_LINE]]
    return " ".join(texts) + (" ..." if len(actions) > MAX_LINE else "")


def analysis_view(game: Game, skin: Skin, player: int, analysis: Analysis, medium: Medium) -> Group:
    """Format an analysis as a summary, the expected line and a table of moves.

    Args:
        skin: the game's appearance.
        player: the player to move, 0 for the one who began the game; all values are from this
            player's viewpoint.
        analysis: what the engine found in the position.
        medium: the abilities of the terminal, which decide how pieces are drawn.
    """
    value = expectation_text(analysis.value, game) or "unknown"
    summary = Text.assemble("Value for ", side(skin, player, medium), f": {value}")
    if analysis.num_simulations:
        summary.append(f", {counted(analysis.num_simulations, 'simulation')}")
    line = Text(f"Expected line: {line_text(skin, analysis.principal_variation)}")
    actions = _shown_actions(analysis)
    table = _table(game, skin, analysis, actions[:MAX_ROWS])
    parts: list[RenderableType] = [summary, line, table]
    num_more = len(actions) - MAX_ROWS
    if num_more > 0:
        parts.append(Text(f"and {counted(num_more, 'more move')}", "dim"))
    return Group(*parts)


def _table(game: Game, skin: Skin, analysis: Analysis, actions: list[int]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("Move", justify="right")
    table.add_column("Visits", justify="right")
    table.add_column("Fraction")
    table.add_column(justify="right")
    table.add_column("Value")
    if analysis.scores is not None:
        table.add_column("Score", justify="right")
    for action in actions:
        weight = float(analysis.action_weights[action])
        visits = f"{analysis.visits[action]:,}" if analysis.num_simulations else "-"
        value = expectation_text(float(analysis.values[action]), game)
        bar = ProgressBar(1.0, weight, _BAR_WIDTH, style=_EMPTY, complete_style=_FULL)
        cells: list[RenderableType] = [skin.notation.text(action), visits, bar]
        cells += [f"{100 * weight:.1f}%", value or "-"]
        if analysis.scores is not None:
            cells.append(f"{analysis.scores[action]:+d}")
        table.add_row(*cells, style="bold" if action == analysis.action else "")
    return table


def _shown_actions(analysis: Analysis) -> list[int]:
    """List the actions for the table: the chosen one, then the others from best to worst.

    They are ordered by exact score or, without scores, by weight. Illegal actions are omitted;
    without scores, so are actions with neither weight nor visits.
    """
    if analysis.scores is not None:
        order = np.argsort(-analysis.scores.astype(np.int64), kind="stable")
        shown = analysis.scores[order] != ILLEGAL_SCORE
    else:
        weights = np.asarray(analysis.action_weights, np.float64)
        order = np.argsort(-weights, kind="stable")
        shown = (weights[order] > 0) | (analysis.visits[order] > 0)
    others = order[shown & (order != analysis.action)]
    return [analysis.action, *others.tolist()]
