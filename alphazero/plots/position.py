"""Draw a position for `alphazero plot what=position`: the board and a player's analysis.

On the board, each legal move shows its share of the search's visits or of the policy. Beside the
board, a bar divides the expected result between the two sides, and a table lists the moves.

Shapes: A actions.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.boards.painter import Picture, save_picture
from alphazero.boards.session import Session
from alphazero.boards.shapes import (
    EDGE,
    FAINT,
    INK,
    PAPER,
    Box,
    Disc,
    Letters,
    Shape,
    arrow,
    board_size,
    cells_of_actions,
    center,
    edge_shapes,
    ground,
    mixed,
    moved,
    piece_color,
    position_shapes,
    text_color,
)
from alphazero.boards.skin import Skin
from alphazero.boards.text import expectation_text
from alphazero.players.base import Analysis
from alphazero.plots.figure import BLUE
from alphazero.runtime.console import counted

_UNIT = 90  # pixels per unit of length
_BOARD = 6.0  # longer side of the board, in units of length
_MARGIN = 0.5
_TOP = 1.95  # height above the board
_VALUE_BAR = 0.36  # width of the bar that divides the expected result
_TABLE = 6.7  # width of the table
_BAR_LENGTH = 2.9
_ROW = 0.56  # height of a row of the table
_MAX_ROWS = 10
_MAX_LINE = 90  # most characters in a line of the heading
_TRACK = "#edf0f4"
_PRIOR = "#8b95a5"


class Thought(NamedTuple):
    """A player's analysis of a position, with the output of its network before the search."""

    player: str  #: the player's name
    analysis: Analysis
    #: float32[A], the policy of the player's network without a search; None if the player has no
    #: network or does not search
    priors: np.ndarray | None
    network_value: float  #: the network's value for the player to move; NaN if `priors` is None

    @property
    def shares(self) -> np.ndarray:
        """Each action's share of the search's visits, float[A].

        Without a search, it is the player's weight for the action.
        """
        visits = self.analysis.visits
        if not visits.any():
            return self.analysis.action_weights
        return visits / visits.sum()

    @property
    def what_shares_are(self) -> str:
        """The name of the quantity in `shares`: "visits", "policy" or "best moves"."""
        if self.analysis.visits.any():
            return "visits"
        return "policy" if self.analysis.scores is None else "best moves"


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
    save_picture(position_picture(session, skin, thought), output)


def position_picture(session: Session, skin: Skin, thought: Thought) -> Picture:
    """Draw the current position of a game with a player's analysis: board, value bar and table.

    Args:
        session: the game, in its current position.
        skin: the game's appearance.
        thought: the player's analysis of this position.
    """
    game = session.game
    height, width = board_size(game)
    cell = _BOARD / max(height, width)
    left = _MARGIN + _VALUE_BAR + 0.25
    if skin.notation.row_names:
        left += EDGE * cell
    right = left + width * cell
    table_left = right + 0.6
    table_right = table_left + _TABLE
    num_rows = min(len(session.legal_actions), _MAX_ROWS + 1)
    bottom = _TOP + max(height * cell, num_rows * _ROW)
    board = position_shapes(game, skin, session.state, session.previous_state, session.last_action)
    board += [*edge_shapes(game, skin), *_share_shapes(session, skin, thought)]
    shapes = [
        *_heading(session, skin, thought, table_right),
        *moved(board, left, _TOP, cell),
        *_value_bar(session, skin, thought.analysis.value, height * cell),
        *_table(session, skin, thought, table_left),
    ]
    return Picture(table_right + _MARGIN, bottom + _MARGIN, _UNIT, shapes)


def _heading(session: Session, skin: Skin, thought: Thought, right: float) -> list[Shape]:
    analysis = thought.analysis
    mover = skin.sides[session.player]
    parts = [thought.player]
    if analysis.num_simulations:
        parts.append(counted(analysis.num_simulations, "simulation"))
    value = expectation_text(analysis.value, session.game)
    if value:
        parts.append(f"expects {value} for {mover}")
    line = ", ".join(parts)
    network_value = expectation_text(thought.network_value, session.game)
    if network_value:
        line += f"; its network alone {network_value}"
    moves = ""
    if session.actions:
        moves = f"after {skin.notation.list_text(session.actions)}"
    return [
        Letters(_MARGIN, 0.55, f"{skin.title}: {mover} to move", 0.42, INK, "left"),
        Letters(_MARGIN, 1.1, _shortened(line), 0.29, FAINT, "left"),
        Letters(right, 0.55, _shortened(moves), 0.29, FAINT, "right"),
    ]


def _shortened(line: str) -> str:
    if len(line) <= _MAX_LINE:
        return line
    return line[: _MAX_LINE - 4] + " ..."


def _share_shapes(session: Session, skin: Skin, thought: Thought) -> list[Shape]:
    """Draw a disc with each move's share on the move's cell, more opaque for larger shares.

    If the board's edges have no names, each cell shows its move's name in a corner. In games whose
    pieces move, the moves are drawn as arrows instead.
    """
    width = board_size(session.game)[1]
    if skin.notation.kind == "move":
        return _share_arrows(session, skin, thought, width)
    has_edges = bool(edge_shapes(session.game, skin))
    shapes: list[Shape] = []
    for action, cell in cells_of_actions(session.game, session.state).items():
        share = float(thought.shares[action])
        x, y = center(skin, cell, width)
        opacity = 0.12 + 0.88 * math.sqrt(share)
        color = mixed(piece_color(skin, session.player), ground(skin), opacity)
        shapes.append(Disc(x, y, 0.36, color))
        if share >= 0.01:
            color = text_color(skin, session.player) if opacity > 0.45 else PAPER
            is_best = action == thought.analysis.action
            size = 0.27 if share < 0.995 else 0.22
            shapes.append(Letters(x, y, f"{100 * share:.0f}%", size, color, bold=is_best))
        if not has_edges:
            name = skin.notation.text(action)
            shapes.append(Letters(x - 0.45, y - 0.4, name, 0.13, "#aab2bf", "left"))
    return shapes


def _share_arrows(session: Session, skin: Skin, thought: Thought, width: int) -> list[Shape]:
    """Draw an arrow for each move with a share of at least 1%.

    Arrows of larger shares are wider and more opaque, and lie on top.

    Args:
        session: the game, in its current position.
        skin: the game's appearance.
        thought: the player's analysis of this position.
        width: the number of the board's columns.
    """
    arrows: list[Shape] = []
    for action in sorted(session.legal_actions, key=lambda action: thought.shares[action]):
        share = float(thought.shares[action])
        squares = skin.notation.squares(action)
        if len(squares) > 1 and share >= 0.01:
            color = mixed(BLUE, ground(skin), 0.35 + 0.65 * math.sqrt(share))
            thickness = 0.05 + 0.1 * math.sqrt(share)
            arrows.append(arrow(skin, squares, width, thickness, color))
    return arrows


def _value_bar(session: Session, skin: Skin, value: float, board_height: float) -> list[Shape]:
    """Draw a bar that divides the expected score between the sides, the first player's part below.

    Args:
        session: the game, in its current position.
        skin: the game's appearance.
        value: expected result for the player to move, in [-1, 1]. If it is NaN, or the game is a
            puzzle, there is no bar.
        board_height: height of the board, and of the bar, in the picture's unit of length.
    """
    if math.isnan(value) or session.game.num_players == 1:
        return []
    first_value = value if session.player == 0 else -value
    first_part = (1 + first_value) / 2
    border = _TOP + board_height * (1 - first_part)
    shapes: list[Shape] = []
    for player, top, end in ((1, _TOP, border), (0, border, _TOP + board_height)):
        shapes.append(Box(_MARGIN, top, _VALUE_BAR, end - top, piece_color(skin, player)))
        if end - top > 0.6:
            part = first_part if player == 0 else 1 - first_part
            x = _MARGIN + _VALUE_BAR / 2
            y = top + 0.25 if player == 1 else end - 0.25
            shapes.append(Letters(x, y, f"{100 * part:.0f}", 0.24, text_color(skin, player)))
    return [*shapes, Box(_MARGIN, _TOP, _VALUE_BAR, board_height, None, FAINT, 0.02)]


def _table(session: Session, skin: Skin, thought: Thought, left: float) -> list[Shape]:
    """Draw the table of moves: the analysing player's choice, then the others by decreasing share.

    It has at most `_MAX_ROWS` rows, with each move's share, prior and value where known.

    Args:
        session: the game, in its current position.
        skin: the game's appearance.
        thought: the player's analysis of this position.
        left: coordinate of the table's left edge.
    """
    shares = thought.shares
    analysis = thought.analysis
    legal = session.legal_actions
    order = sorted(legal, key=lambda action: (action != analysis.action, -shares[action]))
    start = left + 0.95
    end = start + _BAR_LENGTH
    right = left + _TABLE
    has_values = bool(np.isfinite(analysis.values[legal]).any())
    shapes: list[Shape] = [
        Letters(left + 0.7, _TOP - 0.3, "move", 0.27, FAINT, "right"),
        Letters(start, _TOP - 0.3, thought.what_shares_are, 0.27, BLUE, "left"),
    ]
    if thought.priors is not None:
        shapes.append(Letters(end + 0.12, _TOP - 0.3, "network alone", 0.27, _PRIOR, "right"))
    if has_values:
        shapes.append(Letters(right, _TOP - 0.3, "value", 0.27, FAINT, "right"))
    for row, action in enumerate(order[:_MAX_ROWS]):
        y = _TOP + (row + 0.5) * _ROW
        is_best = action == analysis.action
        name = skin.notation.text(action)
        percent = f"{100 * shares[action]:.1f}%"
        shapes.append(Letters(left + 0.7, y, name, 0.32, INK, "right", bold=is_best))
        shapes += _bars(thought, action, start, y)
        shapes.append(Letters(end + 1.2, y, percent, 0.29, INK, "right"))
        if has_values:
            value = expectation_text(float(analysis.values[action]), session.game)
            value = value.partition(" ")[0] or "-"
            shapes.append(Letters(right, y, value, 0.29, INK, "right"))
    if len(order) > _MAX_ROWS:
        y = _TOP + (_MAX_ROWS + 0.5) * _ROW
        text = f"and {counted(len(order) - _MAX_ROWS, 'more move')}"
        shapes.append(Letters(start, y, text, 0.27, FAINT, "left"))
    return shapes


def _bars(thought: Thought, action: int, left: float, y: float) -> list[Shape]:
    """Draw the bar of a move's share and, below it, the bar of the network's prior.

    Args:
        thought: the player's analysis of the position.
        action: the number of the move.
        left: coordinate of the bars' left end.
        y: coordinate of the row's middle.
    """
    height = 0.34 if thought.priors is None else 0.21
    bars: list[Shape] = [
        Box(left, y - 0.17, _BAR_LENGTH, 0.34, _TRACK),
        Box(left, y - 0.17, _BAR_LENGTH * float(thought.shares[action]), height, BLUE),
    ]
    if thought.priors is not None:
        prior = float(thought.priors[action])
        bars.append(Box(left, y + 0.06, _BAR_LENGTH * prior, 0.11, _PRIOR))
    return bars
