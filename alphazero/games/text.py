"""Parse text that a person typed: the number of a move or other choice, or a board."""

import numpy as np


def parse_index(text: str, count: int, noun: str = "move", also: str = "", first: int = 0) -> int:
    """Parse a number typed to choose one of ``count`` items; return the item's index, from 0.

    Args:
        text: the text that was typed.
        count: the number of items to choose from.
        noun: what an item is called in error messages, such as "move".
        also: what else may be typed, appended to error messages, such as ", or 'pass'".
        first: the number that people type for the first item.

    Raises:
        ValueError: if the text is not a number from ``first`` to ``first + count - 1``; the message
            says what is allowed.
    """
    text = text.strip()
    allowed = f"type a number from {first} to {first + count - 1}{also}"
    # Python refuses to read thousands of digits.
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(f"'{text}' is not a {noun}: {allowed}.")
    index = int(text) - first
    if not 0 <= index < count:
        raise ValueError(f"there is no {noun} {text}: {allowed}.")
    return index


def parse_board(text: str, shape: tuple[int, int], letters: str, game_name: str) -> np.ndarray:
    """Parse a board that a person typed, one line per row.

    Args:
        text: the board, one line per row and one letter per square.
        shape: (H, W) of the board.
        letters: the letters of an empty square, the first player's piece and the second player's,
            and of a blocked square if the game has any.
        game_name: the game's name for error messages.

    Returns:
        int8[H, W]: each square's index in ``letters``, such as 1 for the first player's piece.

    Raises:
        ValueError: if a row is missing or has the wrong length, or a square holds another letter;
            the message says where, counting lines and columns of the text from 1.
    """
    height, width = shape
    lines = [line.rstrip("\r") for line in text.strip("\n").split("\n")]
    if len(lines) != height:
        raise ValueError(f"the board of {game_name} has {height} rows, not {len(lines)}.")
    board = np.zeros(shape, np.int8)
    for row, line in enumerate(lines):
        for column, letter in enumerate(line[:width]):
            if letter not in letters:
                allowed = ", ".join(map(repr, letters))
                place = f"line {row + 1}, column {column + 1} of the board"
                raise ValueError(f"{place} holds '{letter}'; allowed are {allowed}.")
            board[row, column] = letters.index(letter)
        if len(line) != width:
            raise ValueError(f"line {row + 1} of the board needs {width} squares, not {len(line)}.")
    return board
