"""Draw a game for `alphazero plot what=game`: as an animation, or as a sheet of all positions.

The animation, a .gif file, shows the positions one after another; the sheet, in any other format,
has one small board per position. The game need not be finished.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from alphazero.boards.move_text import count_text
from alphazero.boards.painter import Picture, save_animation, save_picture
from alphazero.boards.session import Session
from alphazero.boards.shapes import (
    EDGE,
    FAINT,
    INK,
    Letters,
    Shape,
    board_size,
    edge_shapes,
    moved,
    piece_shape,
    position_shapes,
)
from alphazero.boards.skin import Skin
from alphazero.boards.text import ending_text, expectation_text
from alphazero.runtime.console import counted

# Lengths in a frame of an animation, in the picture's unit of length.
_BOARD = 6.0  # longer side of the board
_MARGIN = 0.45
_TOP = 1.05  # height above the board
_CAPTION = 0.95  # height below the board
_FRAME_PIXELS = 400  # width of a frame, in pixels
_MOVE_MS = 900  # duration of a frame
_LAST_MS = 4000  # duration of the last frame
# Lengths in a sheet of positions, in the picture's unit of length.
_TILE = 6.0  # longer side of a board
_GAP = 1.0
_TILE_PIXELS = 187.5  # width of a board and its gap, in pixels
_MAX_NAME = 18  # maximum number of characters of a player's name that are shown


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
    if output.suffix.lower() == ".gif":
        frames, durations_ms = zip(*_frames(played, skin))
        save_animation(frames, durations_ms, output)
    else:
        save_picture(game_sheet(played, skin), output)


# --- animation ------------------------------------------------------------------------------------


def _frames(played: PlayedGame, skin: Skin) -> Iterator[tuple[Picture, int]]:
    """Yield each frame of the animation with its duration in milliseconds."""
    last = len(played.session.actions)
    for ply in range(played.first_ply, last + 1):
        duration_ms = _LAST_MS if ply == last else _MOVE_MS
        yield _frame(played, skin, ply), duration_ms


def _frame(played: PlayedGame, skin: Skin, ply: int) -> Picture:
    """Draw the frame of the animation that shows the position after ``ply`` moves."""
    session = played.session
    height, width = board_size(session.game)
    cell = _BOARD / max(height, width)
    edges = edge_shapes(session.game, skin)
    left = _MARGIN
    if skin.notation.row_names:
        left += EDGE * cell
    top = _TOP
    if any(name.y < 0 for name in edges):
        top += EDGE * cell
    right = left + width * cell
    y = top + height * cell + 0.5
    is_last = ply == len(session.actions)
    mover = None if is_last and session.over else session.player_at(ply)
    shapes = [
        *_player_names(played, skin, mover, right),
        *moved([*_board(session, skin, ply), *edges], left, top, cell),
        Letters(left, y, _caption(played, skin, ply, is_last), 0.3, INK, "left"),
        Letters(right, y, _remark(played, skin, ply, is_last), 0.26, FAINT, "right"),
    ]
    total = right + _MARGIN
    return Picture(total, top + height * cell + _CAPTION, _FRAME_PIXELS / total, shapes)


def _board(session: Session, skin: Skin, ply: int) -> list[Shape]:
    state = session.states[ply]
    if ply == 0:
        return position_shapes(session.game, skin, state)
    last_action = session.actions[ply - 1]
    return position_shapes(session.game, skin, state, session.states[ply - 1], last_action)


def _player_names(
    played: PlayedGame, skin: Skin, mover: int | None, right: float
) -> Iterator[Shape]:
    """Draw the players' pieces and names, with the player to move in bold.

    Args:
        played: the game that is drawn.
        skin: the game's appearance.
        mover: the player to move, 0 or 1; None if the game is over.
        right: coordinate of the board's right edge.
    """
    num_players = played.session.game.num_players
    ends = ((_MARGIN + 0.2, 0.35, "left"), (right - 0.2, -0.35, "right"))
    for player, (x, space, align) in enumerate(ends[:num_players]):
        yield piece_shape(skin, player, x, 0.55, 0.5)
        name = played.names[player] or skin.sides[player]
        if len(name) > _MAX_NAME:
            name = "..." + name[3 - _MAX_NAME :]
        yield Letters(x + space, 0.55, name, 0.32, INK, align, bold=player == mover)


def _caption(played: PlayedGame, skin: Skin, ply: int, is_last: bool) -> str:
    """Return the caption of a frame: its last move, such as "12. X plays d3", or the result.

    At the start it is the game's title or the length of the opening, at the end the result.

    Args:
        played: the game that is drawn.
        skin: the game's appearance.
        ply: number of moves before the position.
        is_last: whether it is the last position.
    """
    session = played.session
    if is_last and session.over:
        ending = ending_text(session.game, skin.sides, session.result)
        return f"{ending[0].upper()}{ending[1:]} after {counted(len(session.actions), 'move')}"
    if ply == 0:
        return skin.title
    if ply == played.first_ply:
        return f"after {counted(ply, 'move')} of an opening"
    return f"{ply}. {_move_text(session, skin, ply)}"


def _remark(played: PlayedGame, skin: Skin, ply: int, is_last: bool) -> str:
    """Return a frame's remark: the result that the player of its last move expected, if known.

    The text is like "expects +0.12 (56%)". At the end of the game it is the number of pieces of
    each side, if they decide the game; it is "" if there is nothing to say.

    Args:
        played: the game that is drawn.
        skin: the game's appearance.
        ply: number of moves before the position that the frame shows.
        is_last: whether this position is the last one of the game.
    """
    if is_last and played.session.over:
        return count_text(played.session, skin) if skin.counts_pieces else ""
    value = expectation_text(played.values.get(ply - 1, math.nan), played.session.game)
    return f"expects {value}" if value else ""


def _move_text(session: Session, skin: Skin, ply: int) -> str:
    mover = skin.sides[session.player_at(ply - 1)]
    if session.is_forced_pass(ply - 1):
        return f"{mover} passes"
    return f"{mover} plays {skin.notation.text(session.actions[ply - 1])}"


# --- sheet ----------------------------------------------------------------------------------------


def game_sheet(played: PlayedGame, skin: Skin) -> Picture:
    """Draw a sheet with one small board per position, below a heading with players and result.

    Args:
        played: the game to draw.
        skin: the game's appearance.
    """
    session = played.session
    height, width = board_size(session.game)
    cell = _TILE / max(height, width)
    tile_width = width * cell + _GAP
    tile_height = height * cell + _GAP + 0.8
    plies = range(played.first_ply, len(session.actions) + 1)
    max_columns = 6 if len(plies) <= 42 else 8
    num_columns = min(len(plies), max_columns)
    num_rows = math.ceil(len(plies) / num_columns)
    total = num_columns * tile_width + _GAP
    heading = _heading(played, skin)
    font_size = min(1.0, 1.6 * total / len(heading))
    shapes: list[Shape] = [Letters(_GAP, 1.5, heading, font_size, INK, "left")]
    for index, ply in enumerate(plies):
        row, column = divmod(index, num_columns)
        x = _GAP + column * tile_width
        y = 2.4 + _GAP + row * tile_height
        shapes += moved(_board(session, skin, ply), x, y, cell)
        text = "start"
        if ply:
            move = _move_text(session, skin, ply).replace(" plays ", " ")
            text = f"{ply}. {move}"
        shapes.append(Letters(x, y + height * cell + 0.6, text, 0.72, FAINT, "left"))
    total_height = num_rows * tile_height + _GAP + 2.2
    return Picture(total, total_height, _TILE_PIXELS / tile_width, shapes)


def _heading(played: PlayedGame, skin: Skin) -> str:
    names = played.names[: played.session.game.num_players]
    sides = []
    for side, name in zip(skin.sides, names):
        sides.append(f"{side} ({name})" if name else side)
    text = f"{skin.title}: {' against '.join(sides)}"
    if not played.session.over:
        return text
    last = len(played.session.actions)
    ends = (_caption(played, skin, last, True), _remark(played, skin, last, True))
    return f"{text}. {': '.join(filter(None, ends))}."
