"""Convert squares and moves to names such as d3 and a2a3 and back, for Othello in both set-ups.

A square's name is its column's letter, from the left, followed by its row's number, counted from
the bottom as in chess or from the top as in Othello. A move's name is the name of its only square,
or of the square that it starts from followed by that of the square that it goes to.

In the usual set-up of Othello black moves first and has discs on e4 and d5. In ours, white moves
first and has discs on d4 and e5. Swapping the colours and mirroring the columns turns one into the
other and changes no rule, so every game in one set-up is also a game in the other:

      a b c d e f g h
    4 - - - W B - - -           the first moves in our set-up, white's: e3, f4, c5, d6
    5 - - - B W - - -           in the usual set-up, black's: d3, c4, f5, e6
"""

import re
from collections import Counter
from collections.abc import Sequence

_NAME = re.compile(r"([a-z]+)([1-9]\d*)", re.ASCII)
#: Separators between the squares of a move: a2-a3, a2xb3, a2 a3.
_BETWEEN = re.compile(r"(?<=\d)\s*[-:>x]?\s*(?=[a-z])", re.ASCII)


def edge_names(rows: int, columns: int, from_top: bool = False) -> tuple[list[str], list[str]]:
    """Return the names of a board's columns, left to right, and of its rows, top to bottom.

    Columns are named a, b, c, ... and rows 1, 2, 3, ...

    Args:
        rows, columns: the size of the board.
        from_top: True if row 1 is at the top, False if it is at the bottom.
    """
    numbers = [str(row + 1) for row in range(rows)]
    if not from_top:
        numbers.reverse()
    letters = [_letters(column) for column in range(columns)]
    return letters, numbers


def _letters(column: int) -> str:
    """Name a column, counted from 0: a, b, ... z, aa, ab, ..."""
    before, letter = divmod(column, 26)
    prefix = _letters(before - 1) if before else ""
    return prefix + chr(ord("a") + letter)


def action_names(
    squares: Sequence[tuple[int, ...]], rows: int, columns: int, from_top: bool = False
) -> list[str]:
    """Name each action after its squares, such as "a2a3", or by its number if it has no squares.

    Actions with the same squares, such as promotions in chess, are numbered: "a7a8=1", "a7a8=2".

    Args:
        squares: the flat indices of each action's squares (see `rules.action_squares`).
        rows, columns: the size of the board.
        from_top: True if row 1 is at the top, False if it is at the bottom.

    Raises:
        ValueError: if one of the squares is not on the board.
    """
    column_names, row_names = edge_names(rows, columns, from_top)
    texts = []
    for action, own_squares in enumerate(squares):
        text = ""
        for square in own_squares:
            if not 0 <= square < rows * columns:
                allowed = f"squares of this board are 0 to {rows * columns - 1}"
                raise ValueError(
                    f"'action_squares' of action {action} is {own_squares}: {allowed}."
                )
            text += column_names[square % columns] + row_names[square // columns]
        texts.append(text)
    num_equal = Counter(texts)
    numbers = Counter[str]()
    names = []
    for action, text in enumerate(texts):
        if not text:
            names.append(str(action))
        elif num_equal[text] == 1:
            names.append(text)
        else:
            numbers[text] += 1
            names.append(f"{text}={numbers[text]}")
    return names


def named_squares(
    text: str, rows: int, columns: int, from_top: bool = False
) -> tuple[int, ...] | None:
    """Parse the squares of a move typed as "a2a3", "a2-a3" or "A2xB3".

    Args:
        text: the text that was typed, in lower or upper case.
        rows, columns: the size of the board.
        from_top: True if row 1 is at the top, False if it is at the bottom.

    Returns:
        The squares as flat indices, row * columns + column with row 0 at the top; None if the text
        is not a sequence of names of the board's squares.
    """
    column_names, row_names = edge_names(rows, columns, from_top)
    squares = []
    for name in _BETWEEN.split(text.strip().lower()):
        match = _NAME.fullmatch(name)
        if match is None or match[1] not in column_names or match[2] not in row_names:
            return None
        row = row_names.index(match[2])
        column = column_names.index(match[1])
        squares.append(row * columns + column)
    return tuple(squares)


def named_action(
    text: str, squares: Sequence[tuple[int, ...]], rows: int, columns: int, from_top: bool = False
) -> int:
    """Return the action that a person typed as its name or as its squares.

    Args:
        text: a name from `action_names`, such as "a2a3", "a7a8=1" or the number of an action
            without squares; or squares, such as "a2-a3".
        squares: the flat indices of each action's squares (see `rules.action_squares`).
        rows, columns: the size of the board.
        from_top: True if row 1 is at the top, False if it is at the bottom.

    Raises:
        ValueError: if the text names no action, or squares that several actions share; the message
            says what to type.
    """
    typed = text.strip().lower()
    names = action_names(squares, rows, columns, from_top)
    if typed in names:
        return names.index(typed)
    named = named_squares(typed, rows, columns, from_top)
    meant = [action for action in range(len(squares)) if named and squares[action] == named]
    if len(meant) == 1:
        return meant[0]
    if meant:
        choices = ", ".join(names[action] for action in meant)
        raise ValueError(f"'{text.strip()}' can mean several moves: type one of {choices}.")
    example = next(name for name, own_squares in zip(names, squares) if own_squares)
    raise ValueError(f"'{text.strip()}' is not a move: type its squares, such as {example}.")


def square_name(square: int, size: int, mirrored: bool = False) -> str:
    """Return the name of the square where an Othello action plays, such as "d3", or "pass".

    Args:
        square: the action in this package's rules: row * size + column, or size * size for the
            pass.
        size: the number of rows, equal to that of columns.
        mirrored: True to name the square as in the usual set-up of Othello, whose columns are
            mirrored.
    """
    if square == size * size:
        return "pass"
    row, column = divmod(square, size)
    if mirrored:
        column = size - 1 - column
    return f"{_letters(column)}{row + 1}"


def named_square(name: str, size: int, mirrored: bool = False) -> int | None:
    """Return the Othello action for the name of a square, such as "d3", or for "pass".

    This is the inverse of `square_name`.

    Args:
        size: the number of rows, equal to that of columns.
        mirrored: True if the name is from the usual set-up of Othello, whose columns are mirrored.

    Returns:
        The action in this package's rules: row * size + column, or size * size for the pass; None
        if the board has no such square.
    """
    name = name.strip().lower()
    if name == "pass":
        return size * size
    squares = named_squares(name, size, size, from_top=True)
    if squares is None or len(squares) != 1:
        return None
    row, column = divmod(squares[0], size)
    if mirrored:
        column = size - 1 - column
    return row * size + column
