"""Squares by name, d3, and Othello's usual set-up against the one of our rules.

A name is the column's letter, from the left, and the row's number, from the top. In the usual
set-up of Othello black moves first and has discs on e4 and d5. Our white moves first and has discs
on d4 and e5. One is the other with the colours swapped and the columns mirrored, which changes no
rule, so a game of one is a game of the other:

      a b c d e f g h
    4 - - - W B - - -           the first moves in our set-up, white's: e3, f4, c5, d6
    5 - - - B W - - -           in the usual set-up, black's: d3, c4, f5, e6

Out of here come names, numbers of squares and text boards; no rule depends on them.
"""

import re

_NAME = re.compile(r"([a-z])([1-9]\d?)", re.ASCII)
_SWAPPED = str.maketrans("WB", "BW")


def square_name(square: int, size: int, mirrored: bool = False) -> str:
    """Return the name of a square, such as "d3", or "pass".

    Args:
        square: its number in our rules, row by row; size * size is the pass.
        size: of the board.
        mirrored: name it in the usual set-up instead of ours.
    """
    if square == size * size:
        return "pass"
    row, column = divmod(square, size)
    return f"{chr(ord('a') + (size - 1 - column if mirrored else column))}{row + 1}"


def named_square(name: str, size: int, mirrored: bool = False) -> int | None:
    """Return the number of the square with a name, or of a pass; None if there is no such square.

    Args:
        size, mirrored: see `square_name`.
    """
    name = name.strip().lower()
    if name == "pass":
        return size * size
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    column, row = ord(match[1]) - ord("a"), int(match[2]) - 1
    if column >= size or row >= size:
        return None
    return row * size + (size - 1 - column if mirrored else column)


def swap_set_up(board: str) -> str:
    """Return a text board of one set-up as it looks in the other: colors swapped, columns mirrored.

    Args:
        board: one line for each row, as `Game.state_to_text` writes it.
    """
    return "\n".join(line[::-1].translate(_SWAPPED) for line in board.strip("\n").split("\n"))
