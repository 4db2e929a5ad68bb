"""Draw boards as lists of geometric shapes, from which all image files are made.

The shapes are in painting order. The unit of length is one cell of the board; (0, 0) is its top
left corner, and y points down. Colours are "#rrggbb". `alphazero.boards.painter` turns shapes into
pixels or SVG.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from rich.color import Color
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME

from alphazero.boards.skin import DISC, WALL, Skin
from alphazero.boards.text import marked_cells
from alphazero.games.batched_game import Game

Cell = tuple[int, int]  #: (row, column) in `Game.cells`, from the top left

PAPER = "#ffffff"
INK = "#1a202c"
FAINT = "#5b6472"
_DARK = "#1c2330"  # background of an uncoloured board
_LINE_WIDTH = 0.005  # width of the lines between squares, as a fraction of the board's longer side
_NAME_SIZE = 0.34  # font size of the names of columns and rows
EDGE = 0.55  #: width of the margin for the names of columns and rows, in cells


class Box(NamedTuple):
    """A rectangle that is filled, outlined or both."""

    x: float  #: (x, y) is the top left corner
    y: float
    width: float
    height: float
    fill: str | None = None  #: colour of the inside; None leaves it empty
    line: str | None = None  #: colour of the outline; None draws none
    line_width: float = 0.0  #: half of the line lies inside the box, half outside


class Disc(NamedTuple):
    """A filled circle, which may have an outline."""

    x: float  #: (x, y) is the centre
    y: float
    radius: float
    fill: str  #: colour of the inside
    line: str | None = None  #: colour of the outline; None draws none
    line_width: float = 0.0


class Arrow(NamedTuple):
    """An arrow from one point to another."""

    x: float  #: (x, y) is the point where the arrow begins
    y: float
    x_length: float  #: distance to the tip, to the right
    y_length: float  #: distance to the tip, downwards
    width: float  #: width of the shaft; the head is three times as wide
    fill: str  #: colour of the arrow

    def outline(self) -> list[tuple[float, float]]:
        """Return the corners of the arrow as a closed polygon, which ends where it begins."""
        length = math.hypot(self.x_length, self.y_length) or 1.0
        right = self.x_length / length
        down = self.y_length / length
        neck = max(length - 3 * self.width, 0.0)  # distance from the start to the head
        # Each corner's distance along the arrow, and its distance to the side in shaft widths.
        left_side = [(0, 0.5), (neck, 0.5), (neck, 1.5)]
        right_side = [(neck, -1.5), (neck, -0.5), (0, -0.5)]
        corners = []
        for forth, aside in [*left_side, (length, 0), *right_side]:
            x = self.x + forth * right - aside * self.width * down
            y = self.y + forth * down + aside * self.width * right
            corners.append((x, y))
        return corners


class Letters(NamedTuple):
    """A line of text at a point."""

    x: float  #: position of the end, or of the centre, that ``align`` names
    y: float  #: middle of the line's height
    text: str
    size: float  #: font size
    color: str = INK
    align: str = "center"  #: whether ``x`` is the "left" end, the "center" or the "right" end
    bold: bool = False


Shape = Box | Disc | Arrow | Letters


def moved(shapes: Iterable[Shape], x: float, y: float, scale: float) -> list[Shape]:
    """Scale shapes by a factor, then shift them so that their point (0, 0) lies at (x, y)."""
    lengths = {"width", "height", "radius", "line_width", "size", "x_length", "y_length"}
    results: list[Shape] = []
    for shape in shapes:
        names = lengths.intersection(shape._fields)
        scaled = {name: scale * getattr(shape, name) for name in names}
        results.append(shape._replace(x=x + scale * shape.x, y=y + scale * shape.y, **scaled))
    return results


def board_size(game: Game) -> tuple[int, int]:
    """Return the height and the width of a game's board, in cells."""
    height, width = game.cells(game.initial_states()[0]).shape
    return height, width


def position_shapes(
    game: Game,
    skin: Skin,
    state: np.ndarray,
    previous_state: np.ndarray | None = None,
    last_action: int | None = None,
) -> list[Shape]:
    """Draw the board of a position as shapes, with the last move marked.

    Args:
        skin: the game's appearance.
        state: the position, an array of K state words.
        previous_state: the position before the last move, an array of K state words; if None, no
            cells are marked.
        last_action: the last move; needed only in games whose pieces move, to mark its squares.
    """
    marked = marked_cells(game, skin, state, previous_state, last_action)
    return board_shapes(game.cells(state), skin, marked)


def edge_shapes(game: Game, skin: Skin) -> list[Shape]:
    """Draw the names of columns and rows as shapes along the board's edges.

    If actions are columns, as in Connect Four, each column is named by what a person types for it.

    Args:
        skin: the game's appearance, with the names of columns and rows.
    """
    names = list(skin.notation.column_names)
    if skin.notation.kind == "column":
        names = [skin.notation.text(action) for action in range(board_size(game)[1])]
    columns = [
        Letters(column + 0.5, -EDGE / 2, name, _NAME_SIZE, FAINT)
        for column, name in enumerate(names)
    ]
    rows = [
        Letters(-EDGE / 2, row + 0.5, name, _NAME_SIZE, FAINT)
        for row, name in enumerate(skin.notation.row_names)
    ]
    return [*columns, *rows]


def board_shapes(
    board: np.ndarray,
    skin: Skin,
    marked: np.ndarray | None = None,
) -> list[Shape]:
    """Draw a board with its pieces and marked cells as shapes.

    Args:
        board: int8[H, W], the content of each square, as `Game.cells` numbers it.
        skin: the game's appearance.
        marked: bool[H, W], True for the cells to mark; if None, no cell is marked.
    """
    height, width = board.shape
    line_width = _LINE_WIDTH * max(height, width)
    shapes: list[Shape] = [Box(0, 0, width, height, ground(skin))]
    for cell in np.ndindex(height, width):
        x, y = center(skin, cell, width)
        player = int(board[cell]) - 1  # -1 for none
        is_marked = marked is not None and bool(marked[cell])
        fill = _mark_color(skin, player) if is_marked else None
        shapes.append(Box(x - 0.5, y - 0.5, 1, 1, fill, frame(skin), line_width))
        if player >= 0:
            color = None
            if is_marked and skin.mark_style == "reverse":
                color = ground(skin)
            shapes.append(piece_shape(skin, player, x, y, color=color))
    shapes.append(Box(0, 0, width, height, None, frame(skin), 2 * line_width))
    return shapes


def piece_shape(
    skin: Skin, player: int, x: float, y: float, size: float = 1.0, color: str | None = None
) -> Shape:
    """Draw a player's piece, which is a letter, a filled square or a disc.

    Args:
        skin: the game's appearance.
        player: 0 for the player who began the game, 1 for the other, 2 for a blocked square.
        x, y: the centre of the cell.
        size: the side of the cell.
        color: the colour of the piece if it is a letter; None means the player's colour.
    """
    player_color = piece_color(skin, player)
    if skin.glyphs[player] == WALL:
        return Box(x - size / 2, y - size / 2, size, size, player_color)
    if skin.glyphs[player] != DISC:
        return Letters(x, y, skin.glyphs[player], 0.7 * size, color or player_color, bold=True)
    rim = (FAINT, 0.03) if _lightness(player_color) > 230 else ()
    return Disc(x, y, 0.41 * size, player_color, *rim)


def placed(before: np.ndarray, after: np.ndarray) -> list[Cell]:
    """Return the cells that a move filled with pieces.

    Args:
        before: int8[H, W], the board before the move, numbered as by `Game.cells`.
        after: int8[H, W], the board after it.
    """
    is_placed = (before == 0) & (after != 0)
    return [(int(row), int(column)) for row, column in np.argwhere(is_placed)]


def cells_of_actions(game: Game, state: np.ndarray) -> dict[int, Cell]:
    """Return {action: cell} for the legal actions that fill exactly one cell with a piece.

    Other actions, such as a pass, are omitted.

    Args:
        state: the position, an array of K state words.
    """
    board = game.cells(state)
    mask = game.legal_action_mask(state[None])[0]
    cells = {}
    for action in np.flatnonzero(mask).tolist():
        after = game.step(state[None], np.array([action])).states[0]
        filled = placed(board, game.cells(after))
        if len(filled) == 1:
            cells[action] = filled[0]
    return cells


def arrow(skin: Skin, squares: tuple[int, ...], width: int, thickness: float, color: str) -> Arrow:
    """Draw a move as an arrow from its first to its last square.

    Args:
        skin: the game's appearance, which says whether columns are mirrored.
        squares: the squares that the move touches, as row * W + column.
        width: the number of the board's columns.
        thickness: the width of the arrow's shaft, in cells.
        color: the colour of the arrow, as "#rrggbb".
    """
    x, y = center(skin, divmod(squares[0], width), width)
    to_x, to_y = center(skin, divmod(squares[-1], width), width)
    return Arrow(x, y, to_x - x, to_y - y, thickness, color)


def center(skin: Skin, cell: Cell, width: int) -> tuple[float, float]:
    """Return the coordinates (x, y) of the centre of a cell, on a board with ``width`` columns."""
    row, column = cell
    if skin.notation.mirrored:
        column = width - 1 - column
    return column + 0.5, row + 0.5


# --- colours --------------------------------------------------------------------------------------


def ground(skin: Skin) -> str:
    """Return the colour of the board's squares, as "#rrggbb"."""
    background = Style.parse(skin.cell_style).bgcolor
    return _DARK if background is None else _hex(background)


def frame(skin: Skin) -> str:
    """Return the colour of the lines between the board's squares, as "#rrggbb"."""
    return _hex(Style.parse(skin.frame_style).color)


def piece_color(skin: Skin, player: int) -> str:
    """Return the colour of a player's pieces, as "#rrggbb".

    Args:
        skin: the game's appearance.
        player: 0 for the player who began the game, 1 for the other, 2 for blocked squares.
    """
    return _hex(Style.parse(skin.piece_styles[player]).color)


def text_color(skin: Skin, player: int) -> str:
    """Return "#000000" or "#ffffff", whichever is easier to read on a player's piece."""
    return "#000000" if _lightness(piece_color(skin, player)) > 110 else "#ffffff"


def mixed(color: str, ground_color: str, opacity: float) -> str:
    """Blend a translucent colour with the colour of its background; all colours are "#rrggbb".

    Args:
        color: the colour in front.
        ground_color: the colour behind it.
        opacity: the weight of ``color``, from 0 to 1.
    """
    blend = "#"
    for over, under in zip(_rgb(color), _rgb(ground_color)):
        part = round(opacity * over + (1 - opacity) * under)
        blend += f"{part:02x}"
    return blend


def _mark_color(skin: Skin, player: int) -> str:
    """Return the colour of a marked square, as "#rrggbb".

    Args:
        skin: the game's appearance.
        player: whose piece is on the square: 0 or 1, 2 for a blocked square, -1 for none.
    """
    background = Style.parse(skin.mark_style).bgcolor
    if background is None:
        color = piece_color(skin, max(player, 0))
    else:
        color = _hex(background)
    if player >= 0:
        return color
    return mixed(color, ground(skin), 0.45)


def _lightness(color: str) -> float:
    """Return the perceived lightness of a colour, from 0 (black) to 255 (white)."""
    red, green, blue = _rgb(color)
    return 0.3 * red + 0.6 * green + 0.1 * blue


def _rgb(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


def _hex(color: Color | None) -> str:
    """Convert one of rich's colours to "#rrggbb"; None means the terminal's default colour."""
    return (color or Color.default()).get_truecolor(SVG_EXPORT_THEME).hex
