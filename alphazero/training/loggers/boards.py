"""Pictures of boards, in the terminal's colors: a finished game, and misplayed positions.

In: positions of a game. Out: pixels, uint8[H, W, 3].
"""

import numpy as np

from alphazero.boards.painter import Picture, paint, text_width
from alphazero.boards.shapes import (
    INK,
    Cell,
    Letters,
    Shape,
    board_shapes,
    board_size,
    moved,
    placed,
    position_shapes,
)
from alphazero.boards.skin import skin_of
from alphazero.boards.text import ending_text, result_name
from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord
from alphazero.solvers.proof import Failure

# TensorBoard shows pictures up to 330 pixels wide (Images) or 200 high (Time Series).
_GAME_WIDTH, _MISPLAYED_WIDTH = 308, 150
_MARGIN = 12
_LINE_HEIGHT = 16
_FONT_SIZE = 12
_PER_ROW = 3  # number of boards side by side
_RED, _GREEN = "#ff3b30", "#8cff66"


class BoardPictures:
    """Draws boards of one game, such as Connect Four, as arrays of pixels."""

    def __init__(self, game: Game):
        self._game = game
        self._skin = skin_of(game)

    def sample_game(self, record: GameRecord) -> np.ndarray:
        """Draw the last position of a game.

        Squares show the ply at which they were taken; if pieces move, the last move is marked.
        """
        game = self._game
        skin = self._skin
        last = game.step(record.states[-1:], record.actions[-1:]).states[0]
        ending = ending_text(game, skin.sides, record.first_player_result)
        if skin.notation.kind == "move":
            action = int(record.actions[-1])
            shapes = position_shapes(game, skin, last, record.states[-1], action)
        else:
            shapes = board_shapes(game.cells(last), skin, texts=self._ply_numbers(record, last))
        caption = [f"{ending} after {len(record.actions)} plies"]
        return self._sheet([(shapes, caption)], _GAME_WIDTH)

    def _ply_numbers(self, record: GameRecord, last: np.ndarray) -> dict[Cell, str]:
        """Return the ply at which each piece of the last position was placed, by cell."""
        boards = [self._game.cells(state) for state in (*record.states, last)]
        numbers = dict[Cell, str]()
        for ply, (before, after) in enumerate(zip(boards, boards[1:]), 1):
            numbers |= dict.fromkeys(placed(before, after), str(ply))
        return {cell: number for cell, number in numbers.items() if boards[-1][cell]}

    def misplayed(self, failures: list[Failure]) -> np.ndarray:
        """Draw misplayed positions side by side, each with the move played and the right ones."""
        if not failures:
            text = Letters(_MARGIN, 20, "no misplayed position", _FONT_SIZE, INK, "left")
            return np.asarray(paint(Picture(_GAME_WIDTH, 40, 1, [text])))
        boards = [(self._failed_board(each), self._failure_lines(each)) for each in failures]
        return self._sheet(boards, _MISPLAYED_WIDTH)

    def _failed_board(self, failure: Failure) -> list[Shape]:
        """Draw a misplayed position with the moves outlined: green if right, red if played."""
        board = self._game.cells(failure.state)
        outlined = dict[Cell, str]()
        for color, actions in ((_GREEN, failure.best_actions), (_RED, [failure.action])):
            for action in actions:
                if self._skin.notation.kind == "move":
                    squares = self._skin.notation.squares(int(action))
                    outlined |= {divmod(square, board.shape[1]): color for square in squares}
                    continue
                after = self._game.step(failure.state[None], np.array([action])).states[0]
                outlined |= dict.fromkeys(placed(board, self._game.cells(after)), color)
        return board_shapes(board, self._skin, outlined=outlined)

    def _failure_lines(self, failure: Failure) -> list[str]:
        """Describe a mistake in two lines of text: the move played, and the right moves."""
        text = self._skin.notation.text
        mover = self._skin.sides[int(self._game.players(failure.state[None])[0])]
        right = ", ".join(text(action) for action in failure.best_actions)
        played = f"{mover} plays {text(failure.action)}"
        return [
            f"{played}: a {result_name(self._game, failure.value)}",
            f"right: {right} ({result_name(self._game, failure.best_value)})",
        ]

    def _sheet(self, boards: list[tuple[list[Shape], list[str]]], total_width: int) -> np.ndarray:
        """Draw boards side by side, each with lines of text below it.

        Args:
            boards: the shapes of each board and its lines of text.
            total_width: maximum width of a board, in pixels.
        """
        num_rows, num_columns = board_size(self._game)
        cell = max(total_width // max(num_rows, num_columns), 8)
        width = num_columns * cell
        board_height = num_rows * cell
        height = board_height + _MARGIN // 2 + _LINE_HEIGHT * max(len(lines) for _, lines in boards)
        shapes: list[Shape] = []
        for index, (board, lines) in enumerate(boards):
            left = _MARGIN + index % _PER_ROW * (width + _MARGIN)
            top = _MARGIN + index // _PER_ROW * (height + _MARGIN)
            shapes += moved(board, left, top, cell)
            for number, line in enumerate(lines):
                y = top + board_height + _MARGIN // 2 + (number + 0.5) * _LINE_HEIGHT
                shapes.append(Letters(left, y, _fitted(line, width), _FONT_SIZE, INK, "left"))
        num_across = min(len(boards), _PER_ROW)
        num_down = -(-len(boards) // _PER_ROW)
        size = (width + _MARGIN) * num_across + _MARGIN, (height + _MARGIN) * num_down + _MARGIN
        return np.asarray(paint(Picture(*size, 1, shapes)))


def _fitted(line: str, width: int) -> str:
    """Shorten a line of text to at most ``width`` pixels."""
    while text_width(line, _FONT_SIZE) > width and len(line) > 4:
        line = line.removesuffix(" ...")[:-2] + " ..."
    return line
