"""The board as coloured text, or as plain letters where the terminal has neither colours nor box characters.

In: a game, its skin and a position. Out: a `rich.text.Text`, nothing printed. One square of a board with cells 3 wide and 1 high:

    ┌───┬───┐        +---+---+
    │ ● │ 3 │        | X | 3 |        a piece, and the number to type for an empty square
    └───┴───┘        +---+---+
"""

from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.text import Text

from alphazero.games.batched_game import Game
from alphazero.play.skin import Skin

_BOX = {"top": "╭─┬╮", "middle": "├─┼┤", "bottom": "╰─┴╯", "side": "│"}
_ASCII = {"top": "+-++", "middle": "+-++", "bottom": "+-++", "side": "|"}


@dataclass(frozen=True)
class Medium:
    """What the terminal can show."""

    box: bool  #: box-drawing characters
    color: bool

    @classmethod
    def of(cls, console: Console) -> "Medium":
        box = not console.options.ascii_only
        return cls(box, box and console.color_system is not None and not console.no_color)


def draw_board(
    game: Game,
    skin: Skin,
    state: np.ndarray,
    medium: Medium,
    previous_state: np.ndarray | None = None,
    labels: bool = True,
) -> Text:
    """Draw a position.

    Args:
        state: [K].
        previous_state: the position before the last move, whose piece is marked; None marks nothing.
        labels: whether legal moves carry their numbers.
    """
    board = game.cells(state)
    marked = marked_cells(game, skin, state, previous_state)
    by_column = game.num_actions == board.shape[1]
    texts = {} if by_column or not labels else _square_labels(game, state)
    width = max([skin.cell_width, *(len(text) for text in texts.values())])
    characters = _BOX if medium.box else _ASCII
    lines = [_column_labels(game, state, width, labels)] if by_column else []
    lines.append(_rule(characters["top"], board.shape[1], width, skin, medium))
    for row in range(board.shape[0]):
        if row:
            lines.append(_rule(characters["middle"], board.shape[1], width, skin, medium))
        for line in range(skin.cell_height):
            middle = line == skin.cell_height // 2
            lines.append(
                _row(
                    game, skin, medium, board, marked, texts, row, width, characters["side"], middle
                )
            )
    lines.append(_rule(characters["bottom"], board.shape[1], width, skin, medium))
    return Text("\n", no_wrap=True, overflow="crop").join(lines)


def piece(game: Game, skin: Skin, player: int, medium: Medium) -> Text:
    """Return the piece of a player, 0 for the one who moves first in the game."""
    if medium.color:
        # Black and white need the board's own colour behind them, or one of them vanishes on a terminal of its colour.
        behind = f" {skin.cell_style}" if skin.counts_pieces else ""
        return Text(
            f" {skin.glyphs[player]} " if behind else skin.glyphs[player],
            skin.piece_styles[player] + behind,
        )
    return Text(game.piece_letters[1 + player])


def side(game: Game, skin: Skin, player: int, medium: Medium) -> Text:
    """Return the piece and the name of a player; where they are the same letter, once."""
    mark = piece(game, skin, player, medium)
    return (
        mark
        if mark.plain == skin.sides[player]
        else Text.assemble(mark, (f" {skin.sides[player]}", "bold"))
    )


def marked_cells(
    game: Game, skin: Skin, state: np.ndarray, previous_state: np.ndarray | None
) -> np.ndarray:
    """Return bool[H, W]: the piece that the last move put down or, of a finished game, the lines that won it."""
    board = game.cells(state)
    if previous_state is None:
        return np.zeros(board.shape, bool)
    placed = (game.cells(previous_state) == 0) & (board != 0)
    if skin.line_length and game.over(state[None])[0]:
        won = np.zeros(board.shape, bool)
        for row, column in zip(*np.nonzero(placed)):
            won |= _lines_through(board, int(row), int(column), skin.line_length)
        if won.any():
            return won
    return placed


def _lines_through(board: np.ndarray, row: int, column: int, length: int) -> np.ndarray:
    """Return bool[H, W]: the lines of at least ``length`` equal pieces that run through a square."""
    found = np.zeros(board.shape, bool)
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        line = [(row, column)]
        for sign in (1, -1):
            r, c = row + sign * down, column + sign * right
            while (
                0 <= r < board.shape[0]
                and 0 <= c < board.shape[1]
                and board[r, c] == board[row, column]
            ):
                line.append((r, c))
                r, c = r + sign * down, c + sign * right
        if len(line) >= length:
            found[tuple(zip(*line))] = True
    return found


def _square_labels(game: Game, state: np.ndarray) -> dict[int, str]:
    """Return what to type for each legal square, by the square's number; {} if actions are not squares."""
    num_cells = int(np.prod(game.planes_shape[1:]))
    if game.num_actions not in (num_cells, num_cells + 1):
        return {}
    legal = np.flatnonzero(game.legal_action_mask(state[None])[0])
    return {int(action): game.action_to_text(int(action)) for action in legal if action < num_cells}


def _column_labels(game: Game, state: np.ndarray, width: int, labels: bool) -> Text:
    legal = game.legal_action_mask(state[None])[0]
    line = Text(" ")
    for column in range(game.num_actions):
        text = game.action_to_text(column) if labels or game.over(state[None])[0] else ""
        line.append(text.center(width), "bold" if legal[column] else "dim").append(" ")
    return line


def _rule(characters: str, columns: int, width: int, skin: Skin, medium: Medium) -> Text:
    left, line, cross, right = characters
    return Text(
        left + cross.join([line * width] * columns) + right,
        skin.frame_style if medium.color else "",
    )


def _row(game, skin, medium, board, marked, texts, row, width, side, middle) -> Text:
    line = Text()
    frame = skin.frame_style if medium.color else ""
    for column in range(board.shape[1]):
        line.append(side, frame)
        content, style = _cell(game, skin, medium, board, marked, texts, row, column, width)
        line.append(content if middle else " " * width, style)
    return line.append(side, frame)


def _cell(game, skin, medium, board, marked, texts, row, column, width) -> tuple[str, str]:
    """Return the text of a square, ``width`` characters, and its style."""
    owner, is_marked = int(board[row, column]), bool(marked[row, column])
    if not owner:
        text = texts.get(row * board.shape[1] + column, "")
        return text.center(width), f"{skin.label_style} {skin.cell_style}" if medium.color else ""
    if not medium.color:
        letter = game.piece_letters[owner]
        return (f"[{letter}]" if is_marked else letter).center(width), ""
    behind = skin.mark_style if is_marked else skin.cell_style
    return skin.glyphs[owner - 1].center(width), f"{skin.piece_styles[owner - 1]} {behind}"
