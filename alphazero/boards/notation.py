"""How people write moves: what a screen shows, what is typed, and lists of moves as text.

In: actions, or text that a person typed or pasted. Out: text, or actions. Actions themselves count
from 0 (the JSON engine, stored games, Python); how a person writes them depends on the game:

    the rules' own text      tic-tac-toe's keys 1 to 9
    columns from 1           Connect-X
    squares by name          Othello; where a person is asked, also by the number on the board
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from alphazero.boards.session import Session
from alphazero.games.batched_game import Game
from alphazero.games.square_names import named_square, square_name
from alphazero.games.text import parse_index

#: Between moves; a minus in front of a number is none.
_SEPARATOR = re.compile(r"[\s,;]+|(?<=\w)-(?=\w)")


class Notation:
    """Moves as the rules of a game write them.

    Attributes:
        mirrored: whether the columns of the board are shown from right to left.
        column_names, row_names: what is written along the board's edges; empty for nothing.
    """

    mirrored = False
    column_names: Sequence[str] = ()
    row_names: Sequence[str] = ()

    def __init__(self, game: Game):
        self._game = game

    def text(self, action: int) -> str:
        """Return how a person writes an action."""
        return self._game.action_to_text(action)

    def action(self, typed: str) -> int:
        """Return the action that a person typed.

        Raises:
            ValueError: naming the text and what is allowed.
        """
        return self._game.text_to_action(typed)

    def numbered(self, legal_actions: Iterable[int]) -> list[int]:
        """Return the legal actions that the board numbers for a person: the first is number 0.

        An empty list means that moves are typed as `text` writes them, and in no other way.
        """
        return []

    def list_text(self, actions: Iterable[int]) -> str:
        """Return moves as `read_moves` reads them."""
        return ",".join(map(self.text, actions))

    def split(self, text: str) -> list[str]:
        """Return the moves in a text: separated, or run together where that is unambiguous."""
        words = _SEPARATOR.split(text.strip(" \t\r\n,;"))
        return [move for word in words if word for move in self._split_word(word)]

    def _split_word(self, word: str) -> list[str]:
        is_one_key = all(len(self.text(action)) == 1 for action in range(self._game.num_actions))
        if is_one_key and word.isascii() and word.isdigit():
            return list(word)
        names = re.findall(r"[a-z][1-9]", word.lower())
        return names if len(names) > 1 and "".join(names) == word.lower() else [word]


class ColumnsFromOne(Notation):
    """Columns of Connect-X, counted from 1."""

    def text(self, action: int) -> str:
        return str(action + 1)

    def action(self, typed: str) -> int:
        return parse_index(typed, self._game.num_actions, "column", first=1)


class Squares(Notation):
    """Squares of Othello by name; the legal ones have numbers.

    Args:
        mirrored: name them in the usual set-up instead of ours.
    """

    def __init__(self, game: Game, mirrored: bool = False):
        super().__init__(game)
        self._size, self.mirrored = game.planes_shape[1], mirrored
        self.column_names, self.row_names = "abcdefgh"[: self._size], "12345678"[: self._size]

    def text(self, action: int) -> str:
        return square_name(action, self._size, self.mirrored)

    def action(self, typed: str) -> int:
        square = named_square(typed, self._size, self.mirrored)
        if square is None:
            last = square_name(self._size**2 - 1, self._size)
            raise ValueError(f"'{typed.strip()}' is not a square: type one from a1 to {last}.")
        return square

    def numbered(self, legal_actions: Iterable[int]) -> list[int]:
        """Return the legal squares in the order in which they are seen, row by row."""
        return sorted(legal_actions, key=lambda action: self.text(action)[::-1])  # d3 as 3d

    def list_text(self, actions: Iterable[int]) -> str:
        """Return a transcript such as "f5d6c3", in which passes are left out, as is usual."""
        return "".join(text for text in map(self.text, actions) if text != "pass")


def read_moves(
    game: Game, notation: Notation, text: str, start: np.ndarray | None = None
) -> list[int]:
    """Return the actions of a list of moves.

    In brackets, ``[3,3,2]``, are actions, which count from 0 as in the JSON engine and in stored
    games. Anything else is written as `Notation.text` does: ``4,4,3`` or ``443`` in Connect Four,
    ``f5d6c3`` in Othello. A pass that is forced may be left out.

    Args:
        start: [K], the position before the moves; None is the start of the game.

    Raises:
        ValueError: for what is not a move or not legal, with its place in the list.
    """
    if text.strip().startswith("["):
        return Session(game, _bracketed(text.strip()), start).actions
    session = Session(game, start=start)
    for number, word in enumerate(notation.split(text), 1):
        try:
            action = notation.action(word)
            if session.is_forced_pass() and action != session.legal_actions[0]:
                session.play(session.legal_actions[0])
            check_legal(session, notation, word, action)
        except ValueError as error:
            counts_from_0 = word == "0" or (isinstance(notation, Squares) and word.isdigit())
            hint = " In brackets, such as [0,1], moves count from 0." if counts_from_0 else ""
            raise ValueError(f"move {number} of the list: {error}{hint}") from None
        session.play(action)
    return session.actions


def _bracketed(text: str) -> list[int]:
    """Return the numbers of a list in brackets."""
    if not re.fullmatch(r"\[[-\d\s,]*\]", text, re.ASCII):
        raise ValueError(
            f"'{text}' is not a list of actions: in brackets are numbers from 0, such as [3,3]."
        )
    return [int(number) for number in re.findall(r"-?\d{1,9}", text)]


def check_legal(session: Session, notation: Notation, word: str, action: int) -> None:
    """Raise ValueError if a move, given as a word and as an action, is not legal."""
    if session.over:
        raise ValueError(f"'{word}' follows the end of the game.")
    if action not in session.legal_actions:
        legal = ", ".join(map(notation.text, session.legal_actions))
        raise ValueError(f"'{word}' is not legal here; legal moves: {legal}.")
