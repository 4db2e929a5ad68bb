"""Draw boards as lists of geometric shapes, from which all image files are made.

The shapes are in painting order. The unit of length is one cell of the board; (0, 0) is its top
left corner, and y points down. Colours are "#rrggbb". `alphazero.boards.painter` turns shapes into
pixels or SVG.
"""

import numpy as np
from rich.color import Color
from rich.style import Style

from alphazero.boards.painter import FAINT, INK, Box, Letters, Shape, disc
from alphazero.boards.session import Session
from alphazero.boards.skin import DISC, WALL, Skin
from alphazero.boards.text import marked_cells
from alphazero.games.batched_game import Game

_GROUND = "#1c2330"  # squares of an uncoloured board
_MARK = "#3d4b63"  # marked squares of an uncoloured board
# As fractions of the board's longer side:
_LINE_WIDTH = 0.005  # width of the lines between squares
_EDGE = 0.05  # distance of the names of columns and rows from the board
_NAME_SIZE = 0.045  # font size of these names


def board_size(game: Game) -> tuple[int, int, float]:
    """Return the height and the width of a game's board in cells, and the side of a cell.

    With cells of this side, the longer side of every board is 6.
    """
    height, width = game.cells(game.initial_states()[0]).shape
    return height, width, 6.0 / max(height, width)


def board_shapes(session: Session, skin: Skin, ply: int) -> list[Shape]:
    """Draw the board after ``ply`` moves as shapes, with the last move marked.

    The names of columns and rows stand outside the board. If actions are columns, as in Connect
    Four, each column is named by what a person types for it.
    """
    game = session.game
    state = session.states[ply]
    last = (session.states[ply - 1], session.actions[ply - 1]) if ply else (None, None)
    marked = marked_cells(game, skin, state, *last)
    board = game.cells(state)
    height, width = board.shape
    longest = max(height, width)
    ground = _background(skin.cell_style, _GROUND)
    mark = _background(skin.mark_style, _MARK)
    frame = _hex(Style.parse(skin.frame_style).color, FAINT)
    shapes: list[Shape] = []
    for cell in np.ndindex(height, width):
        x, y = center(skin, cell, width)
        fill = mark if marked[cell] else ground
        shapes.append(Box(x - 0.5, y - 0.5, 1, 1, fill, frame, _LINE_WIDTH * longest))
        if board[cell]:
            shapes.append(piece_shape(skin, int(board[cell]) - 1, x, y))
    shapes.append(Box(0, 0, width, height, None, frame, 2 * _LINE_WIDTH * longest))
    columns = skin.notation.column_names
    if skin.notation.kind == "column":
        columns = [skin.notation.text(action) for action in range(width)]
    places = [(column + 0.5, -_EDGE * longest, name) for column, name in enumerate(columns)]
    for row, name in enumerate(skin.notation.row_names):
        places.append((-_EDGE * longest, row + 0.5, name))
    for x, y, name in places:
        shapes.append(Letters(x, y, name, _NAME_SIZE * longest, "middle", FAINT))
    return shapes


def piece_shape(skin: Skin, player: int, x: float, y: float, size: float = 1.0) -> Shape:
    """Draw a player's piece, which is a letter, a filled square or a disc.

    Args:
        skin: the game's appearance.
        player: 0 for the player who began the game, 1 for the other, 2 for a blocked square.
        x, y: the centre of the cell.
        size: the side of the cell.
    """
    color = piece_color(skin, player)
    if skin.glyphs[player] == WALL:
        return Box(x - size / 2, y - size / 2, size, size, color)
    if skin.glyphs[player] == DISC:
        return disc(x, y, 0.41 * size, color, FAINT)
    return Letters(x, y, skin.glyphs[player], 0.7 * size, "middle", color, bold=True)


def center(skin: Skin, cell: tuple[int, ...], width: int) -> tuple[float, float]:
    """Return the coordinates (x, y) of the centre of a cell, on a board with ``width`` columns.

    Args:
        skin: the game's appearance, which says whether columns are mirrored.
        cell: the row and the column, counted from the top left.
    """
    row, column = cell
    if skin.notation.mirrored:
        column = width - 1 - column
    return column + 0.5, row + 0.5


def piece_color(skin: Skin, player: int) -> str:
    """Return the colour of a player's pieces, as "#rrggbb".

    Args:
        skin: the game's appearance.
        player: 0 for the player who began the game, 1 for the other, 2 for blocked squares.
    """
    return _hex(Style.parse(skin.piece_styles[player]).color, INK)


def _background(style: str, default: str) -> str:
    """Return the background colour of one of rich's styles, as "#rrggbb"; else ``default``."""
    return _hex(Style.parse(style).bgcolor, default)


def _hex(color: Color | None, default: str) -> str:
    return color.get_truecolor().hex if color else default
