"""Draw boards as text: in colour, with box-drawing characters, or in plain letters.

Functions return a `rich.text.Text` or a string; nothing is printed. Two squares of a board whose
cells are 3 characters wide and 1 line high:

    ┌───┬───┐        +---+---+
    │ ● │ 3 │        | X | 3 |        a piece, and what to type for an empty square
    └───┴───┘        +---+---+

Shapes: H x W squares, K state words, A actions.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.text import Text

from alphazero.boards.notation import Notation
from alphazero.boards.skin import Skin
from alphazero.games.batched_game import Game


@dataclasses.dataclass(frozen=True)
class Medium:
    """The abilities of a terminal that affect how boards are drawn."""

    box: bool  #: whether the terminal shows box-drawing characters
    color: bool  #: whether the terminal shows colours

    @classmethod
    def of(cls, console: Console) -> "Medium":
        """Detect whether a console's terminal shows box-drawing characters and colours."""
        has_box = not console.options.ascii_only
        color = has_box and console.color_system is not None and not console.no_color
        return cls(has_box, color)


PLAIN = Medium(box=False, color=False)


class Labels(NamedTuple):
    """Texts on the board that tell a person what to type for each legal action."""

    squares: dict[int, str]  #: labels by square, numbered row by row; {} if actions are not squares
    columns: list[Text]  #: labels above the columns; [] if actions are not columns


def draw_board(
    game: Game,
    skin: Skin,
    state: np.ndarray,
    medium: Medium,
    previous_state: np.ndarray | None = None,
    labels: bool = True,
    numbered: bool = False,
    last_action: int | None = None,
) -> Text:
    """Draw a position as text, with the last move marked and the legal moves labelled.

    Args:
        skin: the game's appearance.
        state: the position, an array of K state words.
        medium: the abilities of the terminal.
        previous_state: the position before the last move, an array of K state words; if None, no
            cells are marked.
        labels: whether legal squares are labelled with what to type; columns always are, points
            never.
        numbered: whether the labels are numbers, in a game whose notation numbers the legal
            squares.
        last_action: the last move; needed only in games whose pieces move, to mark its squares.
    """
    drawn = game.drawn(state)
    if drawn is not None:
        return Text(drawn, no_wrap=True)
    board = game.cells(state)
    legal_action_mask = game.legal_action_mask(state[None])[0]
    label = _number_label(skin, legal_action_mask) if numbered else skin.notation.text
    if game.appearance.board == "points":
        labels = False  # every empty square is legal, and the edges name it
    shown = _labels(skin.notation, board.shape, legal_action_mask & labels, label)
    marked = marked_cells(game, skin, state, previous_state, last_action)
    return _Drawing(board, skin, medium, shown, marked).text()


def _labels(
    notation: Notation,
    shape: tuple[int, int],
    legal_action_mask: np.ndarray,
    label: Callable[[int], str],
) -> Labels:
    """Make the labels of the legal actions, for actions that are columns or single squares.

    Legal columns are bold, the others dim.

    Args:
        notation: the game's notation, which tells whether actions are columns or squares.
        shape: the height and the width of the board.
        legal_action_mask: bool[A], True for legal actions.
        label: returns the text that a person types for an action.
    """
    if notation.kind == "column":
        columns = []
        for column, is_legal in enumerate(legal_action_mask[: shape[1]]):
            columns.append(Text(label(column), "bold" if is_legal else "dim"))
        return Labels({}, columns)
    if notation.kind != "square":
        return Labels({}, [])
    labels = {}
    for action in np.flatnonzero(legal_action_mask).tolist():
        squares = notation.squares(action)
        if squares:
            labels[squares[0]] = label(action)
    return Labels(labels, [])


def _number_label(skin: Skin, legal_action_mask: np.ndarray) -> Callable[[int], str]:
    """Make a function that returns an action's number on the board, or its text if it has none.

    Args:
        skin: the game's appearance, whose notation numbers the actions.
        legal_action_mask: bool[A], True for legal actions.
    """
    actions = skin.notation.numbered(np.flatnonzero(legal_action_mask).tolist())
    numbers = {action: str(number) for number, action in enumerate(actions)}
    return lambda action: numbers.get(action) or skin.notation.text(action)


def piece(skin: Skin, player: int, medium: Medium) -> Text:
    """Draw the piece of a player, in colour if the terminal shows colours.

    Args:
        skin: the game's appearance.
        player: 0 for the player who began the game, 1 for the other.
        medium: the abilities of the terminal.
    """
    if not medium.color:
        return Text(skin.letters[1 + player])
    glyph = skin.glyphs[player]
    style = skin.piece_styles[player]
    if skin.cell_style:
        # On the board's colour a piece is visible in a terminal of any colour.
        return Text(f" {glyph} ", f"{style} {skin.cell_style}")
    return Text(glyph, style)


def side(skin: Skin, player: int, medium: Medium) -> Text:
    """Draw the piece and the name of a player, or only the piece if both are the same letter.

    Args:
        skin: the game's appearance.
        player: 0 for the player who began the game, 1 for the other.
        medium: the abilities of the terminal.
    """
    mark = piece(skin, player, medium)
    name = skin.sides[player]
    if mark.plain == name:
        return mark
    return Text.assemble(mark, (f" {name}", "bold"))


# --- marked squares -------------------------------------------------------------------------------


def marked_cells(
    game: Game,
    skin: Skin,
    state: np.ndarray,
    previous_state: np.ndarray | None,
    last_action: int | None = None,
) -> np.ndarray:
    """Return which cells to mark: those of the last move or, after a win, the winning lines.

    Args:
        skin: the game's appearance.
        state: the position, an array of K state words.
        previous_state: the position before the last move, an array of K state words; if None, no
            cells are marked.
        last_action: the action between the two states; needed only in games whose pieces move, in
            which its squares are marked.

    Returns:
        bool[H, W], True for the cells to mark.
    """
    board = game.cells(state)
    if previous_state is None:
        return np.zeros(board.shape, bool)
    if last_action is not None and skin.notation.kind == "move":
        marked = np.zeros(board.shape, bool)
        marked.flat[list(skin.notation.squares(last_action))] = True
        return marked
    placed = (game.cells(previous_state) == 0) & (board != 0)
    if skin.line_length and game.over(state[None])[0]:
        won = _lines(board, skin.line_length)
        if won.any():
            return won
    return placed


def _lines(board: np.ndarray, length: int) -> np.ndarray:
    """Return which cells belong to a line of ``length`` equal pieces, bool[H, W].

    Args:
        board: int8[H, W], the content of each square, as `Game.cells` numbers it; blocked squares
            form no lines.
        length: number of equal pieces in a row that make a line.
    """
    in_line = np.zeros(board.shape, bool)
    steps = np.arange(length)
    for row, column in np.argwhere((board == 1) | (board == 2)):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            rows = row + down * steps
            columns = column + right * steps
            is_inside = rows[-1] < board.shape[0] and 0 <= columns[-1] < board.shape[1]
            if is_inside and (board[rows, columns] == board[row, column]).all():
                in_line[rows, columns] = True
    return in_line


# --- drawing --------------------------------------------------------------------------------------


class _Drawing:
    """Draws one board as lines of text.

    Args:
        board: int8[H, W], the content of each square, as `Game.cells` numbers it.
        skin: the game's appearance.
        medium: the abilities of the terminal.
        labels: what a person types for each legal action.
        marked: bool[H, W], True for the cells to mark.
    """

    def __init__(
        self, board: np.ndarray, skin: Skin, medium: Medium, labels: Labels, marked: np.ndarray
    ):
        self._board = board
        self._skin = skin
        self._medium = medium
        self._labels = labels
        self._marked = marked
        self._margin = max(map(len, skin.notation.row_names), default=-1) + 1
        self._columns = list(range(board.shape[1]))
        if skin.notation.mirrored:
            self._columns.reverse()
        self._box = box.ROUNDED if medium.box else box.ASCII2
        self._frame_style = skin.frame_style if medium.color else ""
        self._label_width = max(map(len, labels.squares.values()), default=0)
        self._width = max(skin.cell_width, self._label_width)  # width of a cell

    def text(self) -> Text:
        """Draw the whole board, with labels above it and the names of rows beside it."""
        widths = [self._width] * self._board.shape[1]
        height = self._skin.cell_height
        lines = [self._column_labels(), self._rule(self._box.get_top(widths))]
        for row in range(len(self._board)):
            if row:
                lines.append(self._rule(self._box.get_row(widths)))
            lines += [self._row(row, line == height // 2) for line in range(height)]
        lines.append(self._rule(self._box.get_bottom(widths)))
        return Text("\n", no_wrap=True, overflow="crop").join(filter(None, lines))

    def _column_labels(self) -> Text:
        """Draw the line above the board: the labels of its columns or else their names.

        The line is empty if the columns have neither.
        """
        names = [Text(name, "dim") for name in self._skin.notation.column_names]
        labels = self._labels.columns or names
        line = Text(" " * (self._margin + 1) if labels else "")
        for label in labels:
            line.append(label.plain.center(self._width), label.style).append(" ")
        return line

    def _rule(self, line: str) -> Text:
        return Text.assemble(" " * self._margin, (line, self._frame_style))

    def _row(self, row: int, is_middle: bool) -> Text:
        """Draw one of the text lines that make up a row of squares.

        Args:
            row: the row of the board, counted from the top.
            is_middle: whether it is the middle line, which shows the contents of the squares.
        """
        names = self._skin.notation.row_names
        name = ""
        if names and is_middle:
            name = names[row] + " "
        line = Text().append(name.rjust(self._margin), "dim")
        for column in self._columns:
            content, style = self._cell(row, column)
            line.append(self._box.mid_left, self._frame_style)
            line.append(content if is_middle else " " * self._width, style)
        return line.append(self._box.mid_left, self._frame_style)

    def _cell(self, row: int, column: int) -> tuple[str, str]:
        """Return the text of a square and the text's rich style.

        The text is padded to the width of a cell.
        """
        skin = self._skin
        owner = int(self._board[row, column])
        is_marked = bool(self._marked[row, column])
        background = skin.mark_style if is_marked else skin.cell_style
        if owner and self._medium.color:
            style = f"{skin.piece_styles[owner - 1]} {background}".strip()
            return skin.glyphs[owner - 1].center(self._width), style
        if owner:
            letter = skin.letters[owner]
            if is_marked:
                letter = f"[{letter}]"
            return letter.center(self._width), ""
        if is_marked and not self._medium.color:
            return "[ ]".center(self._width), ""
        square = row * self._board.shape[1] + column
        label = self._labels.squares.get(square, "").rjust(self._label_width)
        style = f"{skin.label_style} {background}".strip() if self._medium.color else ""
        return label.center(self._width), style


# --- results --------------------------------------------------------------------------------------


def own_text(game: Game, value: float) -> str:
    """Format a result or a mean of results on the game's own scale, such as "3.5" points.

    The given ``value`` is in [-1, 1]; it is rounded to two decimals.
    """
    return f"{round(game.own_result(value), 2) + 0.0:g}"  # adding 0 turns -0 into 0


def result_name(game: Game, value: float) -> str:
    """Name a result in [-1, 1], such as "win", "loss (-0.5)" or "result of 3".

    Args:
        value: the result for the player whose win or loss is named.
    """
    if game.num_players == 1:
        return f"result of {own_text(game, value)}"
    if value == 0:
        name = "draw"
    else:
        name = "win" if value > 0 else "loss"
    if game.own_result(value) in (1, 0, -1):
        return name
    return f"{name} ({own_text(game, value)})"


def ending_text(game: Game, sides: tuple[str, str], first_result: float) -> str:
    """Describe the ending of a game, such as "X wins", "a draw" or "a result of 3".

    Args:
        sides: the names of the players.
        first_result: the result in [-1, 1], for the player who began the game.
    """
    value = abs(first_result) if game.num_players == 2 else first_result
    name = result_name(game, value)
    if not name.startswith("win"):
        return f"a {name}"
    winner = sides[first_result < 0]
    return name.replace("win", f"{winner} wins", 1)


def expectation_text(value: float, game: Game) -> str:
    """Format an expected result in [-1, 1] such as ``+0.12 (56%)``; NaN becomes "".

    The percentage is the expected score, in which a draw counts as half a win.

    Args:
        value: the expected result; the text keeps its viewpoint.
        game: the game. With one player, the result is written on its own scoring scale instead.
    """
    if math.isnan(value):
        return ""
    if game.num_players == 1:
        return own_text(game, value)
    rounded = round(value, 2) + 0.0  # adding 0 turns -0.00 into +0.00
    return f"{rounded:+.2f} ({50 + 50 * value:.0f}%)"
