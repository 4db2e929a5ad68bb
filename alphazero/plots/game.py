"""The picture of `alphazero plot what=game`: a game as an animation, or all its positions at once.

In: a finished or unfinished game. Out: a .gif that shows one position after the other, or a picture
of another format with a small board for each move.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from alphazero.boards.move_text import count_text
from alphazero.boards.session import Session
from alphazero.boards.shapes import INK, Letters, piece_shapes, placed
from alphazero.boards.skin import Skin
from alphazero.boards.text import expectation_text
from alphazero.plots.board_sheet import EDGE, BoardSheet, board_size, edge_shapes
from alphazero.plots.canvas import Canvas
from alphazero.runtime.files import unwritable
from alphazero.runtime.wording import counted

_BOARD, _MARGIN = 6.0, 0.45  # units: the longer side of the board of a frame
_TOP, _CAPTION = 1.05, 0.95  # units above and below it
_FRAME_INCHES = 4.0  # its width
_MOVE_MS, _LAST_MS, _FALL_MS = 900, 4000, 40  # how long frames are shown
_NUM_COLORS = 128
_TILE, _GAP, _TILE_INCHES = 6.0, 1.0, 1.25  # a board of the sheet, in units, and its width
_MAX_NAME = 18  # characters


class PlayedGame(NamedTuple):
    """A game to draw."""

    session: Session  #: the whole game
    names: tuple[str, str]  #: of the players, "" where the names of the sides are enough
    values: list[float]  #: what the mover of each ply expected; nan where that is not known
    first_ply: int  #: moves of the opening, which are not drawn one by one


def draw_game(played: PlayedGame, skin: Skin, output: Path) -> None:
    """Draw a game.

    Args:
        output: an animation if it ends in .gif, otherwise a sheet of positions.

    Raises:
        ConfigError: if matplotlib is missing or cannot write the file.
    """
    if output.suffix.lower() == ".gif":
        _write_animation(played, skin, output)
    else:
        _draw_sheet(played, skin, output)


# --- animation ------------------------------------------------------------------------------------


def _write_animation(played: PlayedGame, skin: Skin, output: Path) -> None:
    """Write all frames with one palette, so that only what changes is stored."""
    from PIL import Image

    shown = list(_frames(played, skin))
    images = [Image.fromarray(pixels) for pixels, _ in shown]
    coverage = Image.Quantize.MAXCOVERAGE  # its colours are those of the picture, not means of them
    palette = images[-1].quantize(_NUM_COLORS, coverage, dither=Image.Dither.NONE)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    durations = [duration for _, duration in shown]
    how = {"append_images": frames[1:], "duration": durations, "loop": 0, "disposal": 1}
    try:
        frames[0].save(output, save_all=True, **how)
    except OSError as error:
        raise unwritable(output, "output", error.strerror or "the disk refuses it") from None


def _frames(played: PlayedGame, skin: Skin) -> Iterator[tuple[np.ndarray, int]]:
    """Yield the pixels of each frame and how many milliseconds it is shown."""
    session = played.session
    last = len(session.actions)
    for ply in range(played.first_ply, last + 1):
        if ply > played.first_ply and session.game.num_actions == board_size(session.game)[1]:
            for height in _heights_of_a_fall(session, ply):
                yield _frame(played, skin, ply, height), _FALL_MS
        yield _frame(played, skin, ply), _LAST_MS if ply == last else _MOVE_MS


def _heights_of_a_fall(session: Session, ply: int) -> list[float]:
    """Return the rows through which the piece of a move falls, before it comes to rest."""
    before, after = (session.game.cells(state) for state in session.states[ply - 1 : ply + 1])
    rows = [row for row, _ in placed(before, after)]
    if len(rows) != 1:
        return []
    num_frames = 2 + rows[0] // 2
    return [(rows[0] + 1) * (number / num_frames) ** 2 - 1 for number in range(1, num_frames)]


def _frame(played: PlayedGame, skin: Skin, ply: int, falling_at: float | None = None) -> np.ndarray:
    """Return the position after ``ply`` moves, with its last piece at another row if it falls."""
    session = played.session
    height, width = board_size(session.game)
    cell = _BOARD / max(height, width)
    has_columns = any(shape.y < 0 for shape in edge_shapes(session.game, skin))
    left = _MARGIN + (EDGE * cell if skin.notation.row_names else 0)
    top = _TOP + (EDGE * cell if has_columns else 0)
    total = left + width * cell + _MARGIN
    canvas = Canvas(total, top + height * cell + _CAPTION, _FRAME_INCHES / total)
    is_last = ply == len(session.actions) and falling_at is None
    _write_players(canvas, played, skin, None if is_last and session.over else ply)
    sheet = BoardSheet(canvas, session.game, skin, left, top, cell)
    state, previous = session.states[ply], session.states[ply - 1] if ply else None
    if falling_at is None:
        sheet.draw(state, previous)
    else:
        sheet.draw(previous)
        ((_, column),) = placed(session.game.cells(previous), session.game.cells(state))
        mover = session.player_at(ply - 1)
        sheet.add(piece_shapes(skin, mover, column + 0.5, max(falling_at, -0.3) + 0.5))
    y = top + height * cell + 0.5
    canvas.write(left, y, _caption(played, skin, ply, is_last), 0.3)
    canvas.remark(total - _MARGIN, y, _remark(played, skin, ply, is_last), 0.26, "right")
    return canvas.pixels()


def _write_players(canvas: Canvas, played: PlayedGame, skin: Skin, ply: int | None) -> None:
    """Write who plays; the name of the side to move is bold."""
    session, y = played.session, 0.55
    mover = None if ply is None else session.player_at(ply)
    for player, align in ((0, "left"), (1, "right")):
        side = _MARGIN + 0.2 if player == 0 else canvas.width - _MARGIN - 0.2
        canvas.add(piece_shapes(skin, player, side, y, 0.5))
        name = _name(played, skin, player)
        x = side + 0.35 if player == 0 else side - 0.35
        canvas.add([Letters(x, y, name, INK, 0.32, align, bold=player == mover)])


def _name(played: PlayedGame, skin: Skin, player: int) -> str:
    name = played.names[player] or skin.sides[player]
    return name if len(name) <= _MAX_NAME else "..." + name[3 - _MAX_NAME :]


def _caption(played: PlayedGame, skin: Skin, ply: int, is_last: bool) -> str:
    """Return what has just happened."""
    session = played.session
    if is_last and session.over:
        winner = session.winner
        result = "A draw" if winner is None else f"{skin.sides[winner]} wins"
        return f"{result} after {counted(len(session.actions), 'move')}"
    if ply == 0:
        return skin.title
    if ply == played.first_ply:
        return f"after {counted(ply, 'move')} of an opening"
    return f"{ply}. {_move_text(session, skin, ply)}"


def _remark(played: PlayedGame, skin: Skin, ply: int, is_last: bool) -> str:
    """Return what the mover expects, or the numbers of pieces at the end."""
    if is_last and played.session.over:
        return count_text(played.session, skin) if skin.counts_pieces else ""
    value = expectation_text(played.values[ply - 1]) if ply else ""
    return f"expects {value}" if value else ""


def _move_text(session: Session, skin: Skin, ply: int) -> str:
    mover = skin.sides[session.player_at(ply - 1)]
    if session.is_forced_pass(ply - 1):
        return f"{mover} passes"
    return f"{mover} plays {skin.notation.text(session.actions[ply - 1])}"


# --- sheet ----------------------------------------------------------------------------------------


def _draw_sheet(played: PlayedGame, skin: Skin, output: Path) -> None:
    """Draw a small board for each position."""
    session = played.session
    height, width = board_size(session.game)
    cell = _TILE / max(height, width)
    tile_width, tile_height = width * cell + _GAP, height * cell + _GAP + 0.8
    plies = range(played.first_ply, len(session.actions) + 1)
    num_columns = min(len(plies), 6 if len(plies) <= 42 else 8)
    num_rows = math.ceil(len(plies) / num_columns)
    unit = _TILE_INCHES / tile_width
    size = num_columns * tile_width + _GAP, num_rows * tile_height + _GAP + 2.2
    canvas = Canvas(*size, unit)
    heading = _heading(played, skin)
    canvas.write(_GAP, 1.5, heading, min(1.0, 1.6 * size[0] / len(heading)))
    for index, ply in enumerate(plies):
        x = _GAP + index % num_columns * tile_width
        y = 2.4 + _GAP + index // num_columns * tile_height
        previous = session.states[ply - 1] if ply else None
        tile = BoardSheet(canvas, session.game, skin, x, y, cell)
        tile.draw(session.states[ply], previous, edges=False)
        text = f"{ply}. {_short_move(session, skin, ply)}" if ply else "start"
        canvas.remark(x, y + height * cell + 0.6, text, 0.72)
    canvas.save(output)


def _short_move(session: Session, skin: Skin, ply: int) -> str:
    return _move_text(session, skin, ply).replace(" plays ", " ")


def _heading(played: PlayedGame, skin: Skin) -> str:
    sides = [f"{side} ({name})" if name else side for side, name in zip(skin.sides, played.names)]
    text = f"{skin.title}: {' against '.join(sides)}"
    if not played.session.over:
        return text
    last = len(played.session.actions)
    ends = (_caption(played, skin, last, True), _remark(played, skin, last, True))
    return f"{text}. {': '.join(filter(None, ends))}."
