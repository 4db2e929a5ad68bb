"""The picture of `alphazero plot what=position`: a board, and what a player thinks of its moves.

In: a game in progress and a player's analysis of its last position. Out: a picture. On the board,
each legal move carries its share of the policy; beside it, a bar divides the expected result
between the two sides, and a table lists the moves.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.boards.session import Session
from alphazero.boards.shapes import (
    FAINT,
    INK,
    Box,
    Letters,
    Shape,
    cells_of_actions,
    center,
    disc_shape,
    piece_color,
    text_color,
)
from alphazero.boards.skin import Skin
from alphazero.boards.text import expectation_text
from alphazero.players.base import Analysis
from alphazero.plots.board_sheet import EDGE, BoardSheet, board_size, edge_shapes
from alphazero.plots.canvas import Canvas
from alphazero.plots.figure import BLUE
from alphazero.runtime.wording import counted

_UNIT = 0.6  # inches
_BOARD = 6.0  # units: the longer side
_MARGIN, _TOP, _VALUE_BAR, _TABLE = 0.5, 1.95, 0.36, 6.7
_BAR_LENGTH, _ROW = 2.9, 0.56
_MAX_ROWS = 10
_MAX_LINE = 90  # characters
_TRACK, _PRIOR = "#edf0f4", "#8b95a5"


class Thought(NamedTuple):
    """What a player thinks of a position with A actions."""

    player: str  #: its name
    analysis: Analysis
    #: float32[A], the policy of its network without a search; None if there is no network, or no
    #: search besides
    priors: np.ndarray | None
    network_value: float  #: of that network, for the player to move; nan likewise

    @property
    def shares(self) -> np.ndarray:
        """Return float[A]: fractions of the visits of a search, else the player's weights."""
        visits = self.analysis.visits
        return visits / visits.sum() if visits.any() else self.analysis.action_weights

    @property
    def what_shares_are(self) -> str:
        """Return what `shares` are called."""
        if self.analysis.visits.any():
            return "visits"
        return "policy" if self.analysis.scores is None else "best moves"


def draw_position(session: Session, skin: Skin, thought: Thought, output: Path) -> None:
    """Draw the last position of a session.

    Raises:
        ConfigError: if matplotlib is missing or cannot write the file.
    """
    height, width = board_size(session.game)
    cell = _BOARD / max(height, width)
    left = _MARGIN + _VALUE_BAR + 0.25 + (EDGE * cell if skin.notation.row_names else 0.0)
    right = left + width * cell
    num_rows = min(len(session.legal_actions), _MAX_ROWS + 1)
    bottom = _TOP + max(height * cell, num_rows * _ROW)
    canvas = Canvas(right + 0.6 + _TABLE + _MARGIN, bottom + _MARGIN, _UNIT)
    _write_heading(canvas, session, skin, thought)
    sheet = BoardSheet(canvas, session.game, skin, left, _TOP, cell)
    sheet.draw(session.state, session.previous_state)
    sheet.add(_share_shapes(session, skin, thought))
    if not math.isnan(thought.analysis.value):
        _draw_value(canvas, session, skin, thought.analysis.value, height * cell)
    _draw_table(canvas, session, skin, thought, right + 0.6)
    canvas.save(output)


def _write_heading(canvas: Canvas, session: Session, skin: Skin, thought: Thought) -> None:
    analysis, mover = thought.analysis, skin.sides[session.player]
    canvas.write(_MARGIN, 0.55, f"{skin.title}: {mover} to move", 0.42)
    parts = [thought.player]
    if analysis.num_simulations:
        parts.append(counted(analysis.num_simulations, "simulation"))
    if value := expectation_text(analysis.value):
        parts.append(f"expects {value} for {mover}")
    line = ", ".join(parts)
    if value := expectation_text(thought.network_value):
        line += f"; its network alone {value}"
    canvas.remark(_MARGIN, 1.1, _shortened(line), 0.29)
    if session.actions:
        moves = f"after {skin.notation.list_text(session.actions)}"
        end = canvas.width - _MARGIN
        canvas.remark(end, 0.55, _shortened(moves), 0.29, "right")


def _shortened(line: str) -> str:
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 4] + " ..."


def _share_shapes(session: Session, skin: Skin, thought: Thought) -> list[Shape]:
    """Return a translucent disc on the cell of each move, as strong as its share, with the share.

    Where no names stand along the edges, a move's name stands in the corner of its cell.
    """
    width = board_size(session.game)[1]
    has_edges = bool(edge_shapes(session.game, skin))
    shapes: list[Shape] = []
    for action, cell in cells_of_actions(session.game, session.state).items():
        share, (x, y) = float(thought.shares[action]), center(skin, cell, width)
        alpha = 0.12 + 0.88 * math.sqrt(share)
        shapes.append(disc_shape(skin, session.player, x, y, 0.36, alpha)._replace(line=None))
        if share >= 0.01:
            color = text_color(skin, session.player) if alpha > 0.45 else "#ffffff"
            is_best = action == thought.analysis.action
            size = 0.27 if share < 0.995 else 0.22
            shapes.append(Letters(x, y, f"{100 * share:.0f}%", color, size, bold=is_best))
        if not has_edges:
            name = skin.notation.text(action)
            shapes.append(Letters(x - 0.45, y - 0.4, name, "#aab2bf", 0.13, "left"))
    return shapes


def _draw_value(
    canvas: Canvas, session: Session, skin: Skin, value: float, board_height: float
) -> None:
    """Draw the bar that divides the expected result; the side that began has the lower part."""
    part = (1 + (value if session.player == 0 else -value)) / 2
    border = _TOP + board_height * (1 - part)
    ends = ((1, _TOP, border), (0, border, _TOP + board_height))
    for player, top, end in ends:
        color = piece_color(skin, player)
        canvas.add([Box(_MARGIN, top, _VALUE_BAR, end - top, color)])
        if end - top > 0.6:
            y = top + 0.25 if player == 1 else end - 0.25
            text = f"{100 * (part if player == 0 else 1 - part):.0f}"
            x = _MARGIN + _VALUE_BAR / 2
            canvas.write(x, y, text, 0.24, text_color(skin, player), "center")
    canvas.add([Box(_MARGIN, _TOP, _VALUE_BAR, board_height, None, FAINT, 0.02)])


def _draw_table(
    canvas: Canvas, session: Session, skin: Skin, thought: Thought, left: float
) -> None:
    """Draw a line for each move, those with the largest shares first."""
    shares, analysis = thought.shares, thought.analysis
    legal = session.legal_actions
    order = sorted(legal, key=lambda action: (action != analysis.action, -shares[action]))
    start, end = left + 0.95, left + 0.95 + _BAR_LENGTH
    has_values = bool(np.isfinite(analysis.values[legal]).any())
    canvas.remark(left + 0.7, _TOP - 0.3, "move", 0.27, "right")
    canvas.write(start, _TOP - 0.3, thought.what_shares_are, 0.27, BLUE)
    if thought.priors is not None:
        canvas.write(end + 0.12, _TOP - 0.3, "network alone", 0.27, _PRIOR, "right")
    if has_values:
        canvas.remark(left + _TABLE, _TOP - 0.3, "value", 0.27, "right")
    num_rows = min(len(order), _MAX_ROWS)
    for row, action in enumerate(order[:num_rows]):
        y = _TOP + (row + 0.5) * _ROW
        is_best = action == analysis.action
        name = skin.notation.text(action)
        canvas.add([Letters(left + 0.7, y, name, INK, 0.32, "right", bold=is_best)])
        _draw_bars(canvas, thought, action, start, y)
        canvas.write(end + 1.2, y, f"{100 * shares[action]:.1f}%", 0.29, align="right")
        if has_values:
            value = expectation_text(float(analysis.values[action])).partition(" ")[0] or "-"
            canvas.write(left + _TABLE, y, value, 0.29, align="right")
    if len(order) > num_rows:
        text = f"and {counted(len(order) - num_rows, 'more move')}"
        canvas.remark(start, _TOP + (num_rows + 0.5) * _ROW, text, 0.27)


def _draw_bars(canvas: Canvas, thought: Thought, action: int, left: float, y: float) -> None:
    """Draw a move's share and, below it, the share that the network alone gives it."""
    bars = [Box(left, y - 0.17, _BAR_LENGTH, 0.34, _TRACK)]
    top, height = (y - 0.17, 0.34) if thought.priors is None else (y - 0.17, 0.21)
    bars.append(Box(left, top, _BAR_LENGTH * float(thought.shares[action]), height, BLUE))
    if thought.priors is not None:
        prior = float(thought.priors[action])
        bars.append(Box(left, y + 0.06, _BAR_LENGTH * prior, 0.11, _PRIOR))
    canvas.add(bars)
