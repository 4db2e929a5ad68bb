"""Boards as pictures, in the colours of the terminal: a finished game, and misplayed positions.

In: positions of a game. Out: pixels, uint8[H, W, 3]. Pillow paints the shapes of
`alphazero.boards.shapes`; recent versions of TensorBoard bring it along.
"""

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from alphazero.boards.shapes import INK, PAPER, Box, Cell, Disc, Shape, board_shapes, placed
from alphazero.boards.skin import skin_of
from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord
from alphazero.solvers.proof import Failure

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont

# TensorBoard shows pictures up to 330 pixels wide (Images) or 200 high (Time Series).
_GAME_WIDTH, _MISPLAYED_WIDTH = 308, 150
_SCALE = 2  # boards are drawn larger and then reduced, which smooths edges
_MARGIN = 12
_LINE_HEIGHT = 16
_FONT_SIZE = 12
_PER_ROW = 3  # boards side by side
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
            for cell in placed(before, after):
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
        outlined: dict[tuple[int, int], str] = {}
        for color, actions in ((_GREEN, failure.best_actions), (_RED, [failure.action])):
            for action in actions:
                after = self._game.step(failure.state[None], np.array([action])).states[0]
                board, after_board = self._game.cells(failure.state), self._game.cells(after)
                outlined |= dict.fromkeys(placed(board, after_board), color)
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
        """Draw one board, about ``total_width`` pixels wide; see `board_shapes`."""
        from PIL import Image

        height, width = board.shape
        size = max(total_width // max(width, height), 8) * _SCALE
        image = Image.new("RGB", (width * size + _SCALE, height * size + _SCALE), PAPER)
        _paint(image, board_shapes(board, self._skin, texts=texts, outlined=outlined), size)
        return image.resize((image.width // _SCALE, image.height // _SCALE), Image.Resampling.BOX)


def _paint(image: "Image", shapes: list[Shape], size: int) -> None:
    """Paint shapes whose unit is ``size`` pixels; all of them opaque, and text centred."""
    from PIL import ImageDraw, ImageFont

    draw = ImageDraw.Draw(image)
    for shape in shapes:
        if isinstance(shape, Box):
            half = shape.line_width / 2
            right, bottom = shape.left + shape.width + half, shape.top + shape.height + half
            corners = (shape.left - half, shape.top - half, right, bottom)
            width = max(round(shape.line_width * size), 1)
            draw.rectangle([size * end for end in corners], shape.fill, shape.line, width)
        elif isinstance(shape, Disc):
            x, y, radius = shape.x, shape.y, shape.radius
            corners = (x - radius, y - radius, x + radius, y + radius)
            draw.ellipse([size * end for end in corners], shape.fill)
        else:
            font = ImageFont.load_default(shape.size * size)
            place = (shape.x * size, shape.y * size)
            draw.text(place, shape.text, shape.color, font, anchor="mm")


def _sheet(boards: list["Image"], captions: list[list[str]]) -> np.ndarray:
    """Return boards side by side with lines of text below each; or texts alone."""
    from PIL import Image, ImageDraw, ImageFont

    width = boards[0].width if boards else _GAME_WIDTH
    board_height = boards[0].height if boards else 0
    height = board_height + _MARGIN // 2 + _LINE_HEIGHT * max(map(len, captions))
    num_columns = min(len(captions), _PER_ROW)
    num_rows = -(-len(captions) // _PER_ROW)
    size = (width + _MARGIN) * num_columns + _MARGIN, (height + _MARGIN) * num_rows + _MARGIN
    sheet = Image.new("RGB", size, PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(_FONT_SIZE)
    for index, lines in enumerate(captions):
        left = _MARGIN + index % _PER_ROW * (width + _MARGIN)
        top = _MARGIN + index // _PER_ROW * (height + _MARGIN)
        if boards:
            sheet.paste(boards[index], (left, top))
        for number, line in enumerate(lines):
            y = top + board_height + _MARGIN // 2 + number * _LINE_HEIGHT
            draw.text((left, y), _fitted(line, font, width), fill=INK, font=font)
    return np.asarray(sheet)


def _fitted(line: str, font: "FreeTypeFont | ImageFont", width: int) -> str:
    """Return a line shortened so that it is at most ``width`` pixels wide."""
    while font.getlength(line) > width and len(line) > 4:
        line = line.removesuffix(" ...")[:-2] + " ..."
    return line
