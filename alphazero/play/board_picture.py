"""Boards as pictures, in the colours of the terminal: a finished game, and misplayed positions.

In: positions of a game. Out: pixels, uint8[H, W, 3]. Pillow draws them; recent versions of
TensorBoard bring it along.
"""

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME

from alphazero.games.batched_game import Game
from alphazero.play.skin import Skin, skin_of
from alphazero.selfplay.game_record import GameRecord
from alphazero.solvers.proof import Failure

if TYPE_CHECKING:
    from PIL.Image import Image

Cell = tuple[int, int]

# TensorBoard shows pictures up to 330 pixels wide (Images) or 200 high (Time Series).
_GAME_WIDTH, _MISPLAYED_WIDTH = 308, 150
_SCALE = 2  # boards are drawn larger and then reduced, which smooths edges
_MARGIN = 12
_LINE_HEIGHT = 16
_FONT_SIZE = 12
_PER_ROW = 3  # boards side by side
_PAPER, _INK, _DARK = "#ffffff", "#1a202c", "#1c2330"
_RED, _GREEN = "#ff3b30", "#8cff66"
_NOTHING: Mapping[Cell, str] = {}
_RESULTS = {1: "win", 0: "draw", -1: "loss"}


def why_no_pictures(game: Game) -> str:
    """Return why boards of a game cannot be drawn here, "" if they can."""
    if importlib.util.find_spec("PIL") is None:
        return "Pillow is not installed (pip install pillow)"
    try:
        game.cells(game.initial_states()[0])
    except NotImplementedError:
        return f"the rules of {game.name} give no board (the rule `cells`)"
    return ""


class BoardPictures:
    """Draws the boards of one game, for which `why_no_pictures` has no reason."""

    def __init__(self, game: Game):
        self._game, self._skin = game, skin_of(game)

    def sample_game(self, record: GameRecord) -> np.ndarray:
        """Return the last position of a game; squares are numbered by the ply that took them."""
        game, skin = self._game, self._skin
        last = game.step(record.states[-1:], record.actions[-1:]).states[0]
        boards = [game.cells(state) for state in (*record.states, last)]
        numbers = {}
        for ply, (before, after) in enumerate(zip(boards, boards[1:]), 1):
            for cell in _placed(before, after):
                numbers[cell] = str(ply)
        winner = {1: f"{skin.sides[0]} wins", 0: "a draw", -1: f"{skin.sides[1]} wins"}
        result = winner[record.first_player_result]
        board = self._board(boards[-1], _GAME_WIDTH, texts=numbers)
        return _sheet([board], [[f"{result} after {len(record.actions)} plies"]])

    def misplayed(self, failures: list[Failure]) -> np.ndarray:
        """Return the positions side by side, each with the move chosen and the right ones."""
        if not failures:
            return _sheet([], [["no misplayed position"]])
        return _sheet(
            [self._failed_board(failure) for failure in failures],
            [self._failure_lines(failure) for failure in failures],
        )

    def _failed_board(self, failure: Failure) -> "Image":
        """Return a misplayed position with the moves outlined where they place a piece."""
        outlined = {}
        for color, actions in ((_GREEN, failure.best_actions), (_RED, [failure.action])):
            for action in actions:
                after = self._game.step(failure.state[None], np.array([action])).states[0]
                board, after_board = self._game.cells(failure.state), self._game.cells(after)
                outlined |= dict.fromkeys(_placed(board, after_board), color)
        return self._board(self._game.cells(failure.state), _MISPLAYED_WIDTH, outlined=outlined)

    def _failure_lines(self, failure: Failure) -> list[str]:
        """Return what was played and what was right."""
        text = self._skin.notation.text
        mover = self._skin.sides[int(self._game.players(failure.state[None])[0])]
        right = ", ".join(text(action) for action in failure.best_actions)
        played = f"{mover} plays {text(failure.action)}"
        return [
            f"{played}: a {_RESULTS[failure.value]}",
            f"right: {right} ({_RESULTS[failure.best_value]})",
        ]

    def _board(
        self,
        board: np.ndarray,
        total_width: int,
        texts: Mapping[Cell, str] = _NOTHING,
        outlined: Mapping[Cell, str] = _NOTHING,
    ) -> "Image":
        """Draw one board.

        Args:
            board: int8[H, W], see `Game.cells`.
            total_width: in pixels, about.
            texts: what to write on cells.
            outlined: the colours of outlines of cells.
        """
        from PIL import Image, ImageDraw

        height, width = board.shape
        skin, size = self._skin, max(total_width // max(width, height), 8) * _SCALE
        image = Image.new("RGB", (width * size + _SCALE, height * size + _SCALE), _ground(skin))
        draw = ImageDraw.Draw(image)
        for row, column in np.ndindex(height, width):
            left, top = column * size, row * size
            box = (left, top, left + size, top + size)
            draw.rectangle(box, outline=_frame(skin), width=_SCALE)
            owner = int(board[row, column])
            if owner:
                _draw_piece(draw, box, skin, owner - 1, has_text=(row, column) in texts)
            if (row, column) in texts:
                color = _text_color(skin, owner - 1) if owner else _PAPER
                _write(draw, box, texts[row, column], color, size * 0.4)
            if (row, column) in outlined:
                inner = (left + 4, top + 4, left + size - 4, top + size - 4)
                draw.rectangle(inner, outline=outlined[row, column], width=3 * _SCALE)
        return image.resize((image.width // _SCALE, image.height // _SCALE), Image.Resampling.BOX)


def _placed(before: np.ndarray, after: np.ndarray) -> list[Cell]:
    """Return the cells that a move has filled."""
    return [(int(row), int(column)) for row, column in np.argwhere((before == 0) & (after != 0))]


# --- colours --------------------------------------------------------------------------------------


def _hex(color) -> str:
    """Return a colour of rich as "#rrggbb"."""
    return color.get_truecolor(SVG_EXPORT_THEME).hex


def _ground(skin: Skin) -> str:
    background = Style.parse(skin.cell_style).bgcolor
    return _DARK if background is None else _hex(background)


def _frame(skin: Skin) -> str:
    return _hex(Style.parse(skin.frame_style).color)


def _piece_color(skin: Skin, player: int) -> str:
    return _hex(Style.parse(skin.piece_styles[player]).color)


def _text_color(skin: Skin, player: int) -> str:
    """Return black or white, whichever is easier to read on a piece."""
    red, green, blue = (int(_piece_color(skin, player)[i : i + 2], 16) for i in (1, 3, 5))
    return "#000000" if 0.3 * red + 0.6 * green + 0.1 * blue > 110 else "#ffffff"


# --- drawing --------------------------------------------------------------------------------------


def _draw_piece(draw, box: tuple, skin: Skin, player: int, has_text: bool) -> None:
    """Draw a disc, or a letter; under a text, a disc stands for the letter too."""
    left, top, right, bottom = box
    if skin.glyphs[player] == "●" or has_text:
        inset = (right - left) * 0.09
        disc = (left + inset, top + inset, right - inset, bottom - inset)
        draw.ellipse(disc, fill=_piece_color(skin, player))
    else:
        _write(draw, box, skin.glyphs[player], _piece_color(skin, player), (right - left) * 0.7)


def _write(draw, box: tuple, text: str, color: str, size: float) -> None:
    """Write a text in the middle of a box."""
    from PIL import ImageFont

    middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    draw.text(middle, text, fill=color, font=ImageFont.load_default(size), anchor="mm")


def _sheet(boards: list["Image"], captions: list[list[str]]) -> np.ndarray:
    """Return boards side by side with lines of text below each; or texts alone."""
    from PIL import Image, ImageDraw, ImageFont

    width = boards[0].width if boards else _GAME_WIDTH
    board_height = boards[0].height if boards else 0
    height = board_height + _MARGIN // 2 + _LINE_HEIGHT * max(map(len, captions))
    num_columns = min(len(captions), _PER_ROW)
    num_rows = -(-len(captions) // _PER_ROW)
    size = (width + _MARGIN) * num_columns + _MARGIN, (height + _MARGIN) * num_rows + _MARGIN
    sheet = Image.new("RGB", size, _PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(_FONT_SIZE)
    for index, lines in enumerate(captions):
        left = _MARGIN + index % _PER_ROW * (width + _MARGIN)
        top = _MARGIN + index // _PER_ROW * (height + _MARGIN)
        if boards:
            sheet.paste(boards[index], (left, top))
        for number, line in enumerate(lines):
            y = top + board_height + _MARGIN // 2 + number * _LINE_HEIGHT
            draw.text((left, y), _fitted(line, font, width), fill=_INK, font=font)
    return np.asarray(sheet)


def _fitted(line: str, font, width: int) -> str:
    """Return a line shortened so that it is at most ``width`` pixels wide."""
    while font.getlength(line) > width and len(line) > 4:
        line = line.removesuffix(" ...")[:-2] + " ..."
    return line
