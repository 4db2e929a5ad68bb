"""Draw a game for `alphazero plot what=game`: as an animation, or as a sheet of all positions.

The animation, a .gif file, shows the positions one after another; the sheet, in any other format,
shows them side by side. The game need not be finished.

A board is a list of shapes in painting order, which `alphazero.boards.painter` turns into pixels or
SVG. Its unit of length is one cell; (0, 0) is its top left corner, and y points down. Colours are
"#rrggbb".
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.color import Color
from rich.style import Style

from alphazero.boards.painter import (
    FAINT,
    INK,
    Box,
    Letters,
    Picture,
    Shape,
    disc,
    moved,
    save_animation,
    save_picture,
)
from alphazero.boards.session import Session
from alphazero.boards.skin import DISC, WALL, Skin
from alphazero.boards.text import ending_text, expectation_text, marked_cells

# Lengths in the picture's unit, of which the longer side of a board is 6.
_MARGIN = 0.6  # around a board; also the distance of two lines of text
_FONT_SIZE = 0.42
_FRAME_PIXELS = 400  # width of a frame of an animation
_SHEET_UNIT = 30  # pixels per unit of length in a sheet
_MAX_COLUMNS = 6  # of a sheet
_MOVE_MS = 900  # duration of a frame
_LAST_MS = 4000  # duration of the last frame
_MAX_NAME = 28  # maximum number of characters of a player's name that are shown

_GROUND = "#1c2330"  # squares of an uncoloured board
_MARK = "#3d4b63"  # marked squares of an uncoloured board
# As fractions of the board's longer side:
_LINE_WIDTH = 0.005  # width of the lines between squares
_EDGE = 0.05  # distance of the names of columns and rows from the board
_NAME_SIZE = 0.045  # font size of these names


class PlayedGame(NamedTuple):
    """A game to draw, with the players' names and the results that they expected."""

    session: Session  #: the whole game
    #: {number of moves before a position: expected result in it, in [-1, 1], for the player to
    #: move}; unknown ones are absent
    values: Mapping[int, float] = {}
    names: tuple[str, str] = ("", "")  #: names of the players; "" shows the name of the side
    first_ply: int = 0  #: number of opening moves, which are not drawn one by one


def draw_game(played: PlayedGame, skin: Skin, output: Path) -> None:
    """Draw a game as an animation or a sheet of positions, and write it to a file.

    Args:
        played: the game to draw.
        skin: the game's appearance.
        output: the file. The ending of its name determines the format: .gif is an animation, all
            others are sheets.

    Raises:
        OSError: if the file cannot be written.
    """
    plies = range(played.first_ply, len(played.session.actions) + 1)
    if output.suffix.lower() == ".gif":
        frames = [_sheet(played, skin, [ply]) for ply in plies]
        frames = [frame._replace(unit=_FRAME_PIXELS / frame.width) for frame in frames]
        save_animation(frames, [_MOVE_MS] * (len(frames) - 1) + [_LAST_MS], output)
    else:
        save_picture(_sheet(played, skin, plies), output)


def _sheet(played: PlayedGame, skin: Skin, plies: Sequence[int]) -> Picture:
    """Draw the positions after ``plies`` moves, below the names of the players."""
    session = played.session
    height, width = session.game.cells(session.state).shape
    cell = 6.0 / max(height, width)
    num_players = session.game.num_players
    shapes: list[Shape] = []
    for player, name in enumerate(played.names[:num_players]):
        y = _MARGIN * (player + 0.9)
        text = name or skin.sides[player]
        if len(text) > _MAX_NAME:
            text = f"...{text[3 - _MAX_NAME :]}"
        shapes.append(piece_shape(skin, player, _MARGIN + 0.25, y, 0.5))
        shapes.append(Letters(_MARGIN + 0.65, y, text, _FONT_SIZE))
    tile_width = width * cell + _MARGIN
    tile_height = height * cell + 3.2 * _MARGIN
    num_columns = min(len(plies), _MAX_COLUMNS)
    for index, ply in enumerate(plies):
        row, column = divmod(index, num_columns)
        x = _MARGIN + column * tile_width
        y = _MARGIN * (num_players + 1.4) + row * tile_height
        shapes += moved(board_shapes(session, skin, ply), x, y, cell)
        texts = (_move_text(session, skin, ply), _remark(played, skin, ply))
        y += height * cell + 0.7 * _MARGIN
        shapes.append(Letters(x, y, texts[0], _FONT_SIZE))
        shapes.append(Letters(x, y + _MARGIN, texts[1], _FONT_SIZE, color=FAINT))
    total_height = _MARGIN * (num_players + 0.7) + math.ceil(len(plies) / num_columns) * tile_height
    return Picture(num_columns * tile_width + _MARGIN, total_height, _SHEET_UNIT, shapes)


def _move_text(session: Session, skin: Skin, ply: int) -> str:
    """Return the move before a position, such as "12. X d3"; at the start the game's title."""
    if ply == 0:
        return skin.title
    mover = skin.sides[session.player_at(ply - 1)]
    return f"{ply}. {mover} {skin.notation.text(session.actions[ply - 1])}"


def _remark(played: PlayedGame, skin: Skin, ply: int) -> str:
    """Return the result of a finished game, or else what the player of the last move expected.

    It is "" if that is unknown.

    Args:
        played: the game that is drawn.
        skin: the game's appearance.
        ply: number of moves before the position.
    """
    session = played.session
    if ply == len(session.actions) and session.over:
        ending = ending_text(session.game, skin.sides, session.result)
        return f"{ending[0].upper()}{ending[1:]}"
    value = expectation_text(played.values.get(ply - 1, math.nan), session.game)
    return f"expects {value}" if value else ""


# --- boards ---------------------------------------------------------------------------------------


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
        row, column = cell
        x, y = (width - 1 - column if skin.notation.mirrored else column) + 0.5, row + 0.5
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
