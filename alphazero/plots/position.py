"""Draw a position for `alphazero plot what=position`: the board and a player's analysis.

On the board, each legal move shows its share of the search's visits or of the policy. Beside the
board, a table lists the moves.

Shapes: A actions.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.boards import painter
from alphazero.boards.painter import FAINT, PAPER, Box, Letters, Line, Picture, Shape, disc, moved
from alphazero.boards.session import Session
from alphazero.boards.shapes import board_shapes, board_size, center, squares_of
from alphazero.boards.skin import Skin
from alphazero.boards.text import expectation_text
from alphazero.players.base import Analysis
from alphazero.plots.figure import BLUE
from alphazero.runtime.console import counted

_UNIT = 90  # pixels per unit of length, of which the longer side of the board is 6
_MARGIN = 0.6
_TOP = 2.0  # height above the board
_TABLE = 6.7  # width of the table
_BAR_LENGTH = 2.9
_ROW = 0.56  # height of a row of the table
_MAX_ROWS = 11
_PRIOR = "#8b95a5"


class Thought(NamedTuple):
    """A player's analysis of a position, with the policy of its network before the search."""

    player: str  #: the player's name
    analysis: Analysis
    #: float32[A], the policy of the player's network without a search; None if the player has no
    #: network or does not search
    priors: np.ndarray | None

    @property
    def shares(self) -> np.ndarray:
        """Each action's share of the search's visits, float[A].

        Without a search, it is the player's weight for the action.
        """
        visits = self.analysis.visits
        return visits / visits.sum() if visits.any() else self.analysis.action_weights


def draw_position(session: Session, skin: Skin, thought: Thought, output: Path) -> None:
    """Draw the current position of a game with a player's analysis, and write it to a file.

    Args:
        session: the game, in its current position.
        skin: the game's appearance.
        thought: the player's analysis of this position.
        output: the file; the ending of its name determines the format.

    Raises:
        OSError: if the file cannot be written.
    """
    height, width, cell = board_size(session.game)
    board = board_shapes(session, skin, len(session.actions))
    board += _share_shapes(session, skin, thought, width)
    left = _MARGIN + width * cell + 0.6
    num_rows = min(len(session.legal_actions), _MAX_ROWS)
    bottom = _TOP + max(height * cell, num_rows * _ROW)
    shapes = [
        *_heading(session, skin, thought),
        *moved(board, _MARGIN, _TOP, cell),
        *_table(session, skin, thought, left),
    ]
    picture = Picture(left + _TABLE + _MARGIN, bottom + _MARGIN, _UNIT, shapes)
    painter.save_picture(picture, output)


def _heading(session: Session, skin: Skin, thought: Thought) -> Iterator[Shape]:
    mover = skin.sides[session.player]
    line = thought.player
    if thought.analysis.num_simulations:
        line += f", {counted(thought.analysis.num_simulations, 'simulation')}"
    value = expectation_text(thought.analysis.value, session.game)
    if value:
        line += f", expects {value} for {mover}"
    yield Letters(_MARGIN, 0.6, f"{skin.title}: {mover} to move", 0.42)
    yield Letters(_MARGIN, 1.15, line, 0.29, color=FAINT)


def _share_shapes(session: Session, skin: Skin, thought: Thought, width: int) -> Iterator[Shape]:
    """Draw a disc with each move's share of at least 1%, larger for larger shares.

    The disc lies on the cell that the move fills. Where pieces move, it is their target, and a line
    leads to it. If the board's edges have no names, the cell shows the move's name in a corner.

    Args:
        session: the game, in its current position.
        skin: the game's appearance.
        thought: the player's analysis of this position.
        width: the number of the board's columns.
    """
    has_edges = bool(skin.notation.column_names) or skin.notation.kind == "column"
    for action in sorted(session.legal_actions, key=lambda action: thought.shares[action]):
        share = float(thought.shares[action])
        squares = squares_of(session, skin, action)
        if share < 0.01 or not squares:
            continue
        x, y = center(skin, squares[-1], width)
        if len(squares) > 1:
            start_x, start_y = center(skin, squares[0], width)
            yield Line(start_x, start_y, x - start_x, y - start_y, 0.05 + 0.1 * share, BLUE)
        yield disc(x, y, 0.24 + 0.14 * share, BLUE)
        is_best = action == thought.analysis.action
        yield Letters(x, y, f"{100 * share:.0f}%", 0.22, "middle", PAPER, is_best)
        if not has_edges:
            yield Letters(x - 0.45, y - 0.4, skin.notation.text(action), 0.13, color=PAPER)


def _table(session: Session, skin: Skin, thought: Thought, left: float) -> Iterator[Shape]:
    """Draw the table of moves: the analysing player's choice, then the others by decreasing share.

    It has at most `_MAX_ROWS` rows, with each move's share, prior and value where known.

    Args:
        session: the game, in its current position.
        skin: the game's appearance.
        thought: the player's analysis of this position.
        left: coordinate of the table's left edge.
    """
    shares = thought.shares
    priors = thought.priors
    analysis = thought.analysis
    legal = session.legal_actions
    order = sorted(legal, key=lambda action: (action != analysis.action, -shares[action]))
    start = left + 0.95
    end = start + _BAR_LENGTH
    y = _TOP - 0.3
    yield Letters(left + 0.7, y, "move", 0.27, "end", FAINT)
    yield Letters(start, y, "visits" if analysis.visits.any() else "policy", 0.27, color=BLUE)
    if priors is not None:
        yield Letters(end, y, "network alone", 0.27, "end", _PRIOR)
    has_values = bool(np.isfinite(analysis.values[legal]).any())
    if has_values:
        yield Letters(left + _TABLE, y, "value", 0.27, "end", FAINT)
    for row, action in enumerate(order[:_MAX_ROWS]):
        y = _TOP + (row + 0.5) * _ROW
        is_best = action == analysis.action
        yield Letters(left + 0.7, y, skin.notation.text(action), 0.32, "end", bold=is_best)
        share = float(shares[action])
        yield Box(start, y - 0.17, _BAR_LENGTH * share, 0.34 if priors is None else 0.21, BLUE)
        if priors is not None:
            yield Box(start, y + 0.06, _BAR_LENGTH * float(priors[action]), 0.11, _PRIOR)
        yield Letters(end + 1.2, y, f"{100 * share:.1f}%", 0.29, "end")
        if has_values:
            value = expectation_text(float(analysis.values[action]), session.game)
            yield Letters(left + _TABLE, y, value.partition(" ")[0] or "-", 0.29, "end")
