"""Convert actions to the text with which people write moves and lists of moves, and back.

In Python, stored games and the JSON engine, actions are numbers from 0. How people write them
depends on the game:

    the rules' own notation  tic-tac-toe's keys 1 to 9
    columns from 1           Connect-X
    squares by name          Othello; at a prompt also by the number on the board
    from square to square    a2a3, in games whose pieces move
"""

import functools
import re
from collections.abc import Iterable, Sequence

import numpy as np

from alphazero.boards.session import Session
from alphazero.games.batched_game import Game
from alphazero.games.square_names import edge_names, named_squares, square_name
from alphazero.games.text import parse_index

_DASH = r"(?<=\w)-(?=\w)"  #: a dash between moves, but not the minus of a number
_MOVE_NUMBER = re.compile(r"\d+\.+(?=\D|$)")  #: the "1." of "1. f5 f4" and of "1.f5"
_PASSES = ("pa", "ps", "--")  #: a pass as other programs write it


class Notation:
    """The notation in which people write the moves of a game, as defined by the game's rules.

    Attributes:
        mirrored: whether the columns of the board are shown from right to left.
        column_names, row_names: names along the board's edges, from the left and from the top; []
            if the edges have no names.
    """

    mirrored = False

    def __init__(self, game: Game):
        self._game = game
        self._rows, self._columns = game.planes_shape[1:]
        self._squares = [game.action_squares(action) for action in range(game.num_actions)]
        self.column_names: list[str] = []
        self.row_names: list[str] = []
        if any(self._squares):
            self.column_names, self.row_names = edge_names(*self._naming)

    @functools.cached_property
    def kind(self) -> str:
        """What an action stands for: "column", "square", "move" between squares, or "other"."""
        if any(self._squares):
            return "move" if max(map(len, self._squares)) > 1 else "square"
        num_actions = len(self._squares)
        num_squares = self._rows * self._columns
        if num_actions == self._columns:
            return "column"
        if num_actions in (num_squares, num_squares + 1):  # the last action may be a pass
            return "square"
        return "other"

    def squares(self, action: int) -> tuple[int, ...]:
        """Return the squares that an action touches, in order, as row * W + column; () if none."""
        if self.kind == "square" and not any(self._squares):
            return (action,) if action < self._rows * self._columns else ()
        return self._squares[action]

    def text(self, action: int) -> str:
        """Format an action in the notation that people use, such as "d3"."""
        return self._game.action_to_text(action)

    def action(self, typed: str, legal_actions: Iterable[int] = ()) -> int:
        """Parse an action that a person typed, as its name or as the squares that it touches.

        Args:
            typed: what the person typed, such as "d3" or "a2a3".
            legal_actions: the actions that typed squares can mean; needed only in games whose
                pieces move.

        Raises:
            ValueError: if the text does not mean exactly one action; the message says what is
                allowed.
        """
        typed = typed.strip()
        action = self._named(typed)
        return self._parse_unnamed(typed, legal_actions) if action is None else action

    def _parse_unnamed(self, typed: str, legal_actions: Iterable[int]) -> int:
        """Parse an action that was not typed as its name, such as one typed as its squares.

        Raises:
            ValueError: if the text does not mean exactly one action; the message says what is
                allowed.
        """
        if self.kind == "move":
            squares = named_squares(typed, *self._naming)
            meant = [action for action in legal_actions if self.squares(action) == squares]
            if len(meant) == 1:
                return meant[0]
            if meant:
                choices = ", ".join(map(self.text, meant))
                raise ValueError(f"'{typed}' can mean several moves: type one of {choices}.")
        return self._game.text_to_action(typed)

    @functools.cached_property
    def _by_name(self) -> dict[str, int]:
        """{name: action}, with each name as `text` writes it and in lower case.

        A pass also has the names that other programs use (see `_PASSES`).
        """
        names = {self.text(action): action for action in range(self._game.num_actions)}
        lower_names = {name.lower(): action for name, action in names.items()}
        names = lower_names | names
        if "pass" in names:
            passes = dict.fromkeys(_PASSES, names["pass"])
            names = passes | names
        return names

    def what_to_type(self, legal_actions: Sequence[int]) -> str:
        """Describe what a person can type for a move, such as "a column (1-7)".

        Args:
            legal_actions: the legal actions in the position.
        """
        if self.kind == "other" or (self.kind == "move" and not legal_actions):
            return "a move"
        if self.kind == "move":
            return f"a move such as {self.text(legal_actions[0])}"
        if any(self._squares):
            column_name = self.column_names[min(3, self._columns - 1)]
            return f"a square such as {column_name}3"
        count = self._columns if self.kind == "column" else self._rows * self._columns
        return f"a {self.kind} ({self.text(0)}-{self.text(count - 1)})"

    def numbered(self, legal_actions: Iterable[int]) -> list[int]:
        """List the legal actions in the order in which the board numbers them, from 0.

        The list is empty if the board shows no numbers.
        """
        if not self._game.appearance.numbers_squares:
            return []
        return sorted(legal_actions)

    @functools.cached_property
    def separator(self) -> str:
        """The separator between moves in a list: ",", or ";" if moves contain commas."""
        return ";" if any("," in name for name in self._by_name) else ","

    def list_text(self, actions: Iterable[int]) -> str:
        """Format a list of moves as text that `read_moves` accepts, such as "4,4,3"."""
        return self.separator.join(map(self.text, actions))

    def split(self, text: str) -> list[str]:
        """Split a list of moves, such as "1. f5 d6" or "f5d6", into moves without move numbers.

        Names of moves that contain separators are not split.
        """
        separators = [self.separator, "[,;\n]", r"\s"]
        if self.kind != "move":
            separators.append(_DASH)
        return self._split(text, separators)

    def _split(self, text: str, separators: list[str]) -> list[str]:
        text = text.strip(" \t\r\n,;")
        if self._named(text) is not None:
            return [text]
        if not separators:
            return self._split_word(_MOVE_NUMBER.sub("", text))
        moves = []
        for part in re.split(separators[0], text):
            if part:
                moves += self._split(part, separators[1:])
        return moves

    def _split_word(self, word: str) -> list[str]:
        """Split a word such as "f5d6" into names of moves; keep it whole if that is impossible."""
        longest = max(map(len, self._by_name))
        # If names go up to 35, 77 is a typing error; it does not mean 7 twice.
        if longest > 1 and any(name[:1].isdigit() for name in self._by_name):
            return [word] if word else []
        names = sorted(map(re.escape, self._by_name), key=len, reverse=True)
        moves = re.findall("|".join(names), word, re.IGNORECASE)
        return moves if "".join(moves) == word else [word]

    def _named(self, text: str) -> int | None:
        return self._by_name.get(text, self._by_name.get(text.lower()))

    @property
    def _naming(self) -> tuple[int, int, bool]:
        return self._rows, self._columns, self._game.appearance.rows_from_top


class ColumnsFromOne(Notation):
    """The notation of Connect-X, which counts columns from 1."""

    def text(self, action: int) -> str:
        return str(action + 1)

    def _parse_unnamed(self, typed: str, legal_actions: Iterable[int]) -> int:
        return parse_index(typed, self._game.num_actions, "column", first=1)


class Squares(Notation):
    """The notation of Othello, which names squares such as d3, in one of its two set-ups.

    Args:
        mirrored: True for the standard set-up, in which columns are named and shown from right to
            left; False for the set-up of this package's rules.
    """

    def __init__(self, game: Game, mirrored: bool):
        super().__init__(game)
        self._size = game.planes_shape[1]
        self.mirrored = mirrored

    def text(self, action: int) -> str:
        return square_name(action, self._size, self.mirrored)

    def _parse_unnamed(self, typed: str, legal_actions: Iterable[int]) -> int:
        last = square_name(self._size**2 - 1, self._size)
        raise ValueError(f"'{typed}' is not a square: type one from a1 to {last}.")

    def numbered(self, legal_actions: Iterable[int]) -> list[int]:
        """Return the legal actions in the order in which the board numbers them: row by row."""
        right = -1 if self.mirrored else 1
        return sorted(legal_actions, key=lambda action: (action // self._size, right * action))

    def list_text(self, actions: Iterable[int]) -> str:
        """Format a list of moves as a transcript such as "f5d6c3", which by custom omits passes."""
        texts = map(self.text, actions)
        return "".join(text for text in texts if text != "pass")


def read_moves(
    game: Game, notation: Notation, text: str, start: np.ndarray | None = None
) -> list[int]:
    """Parse a list of moves into actions.

    A list in brackets, ``[3,3,2]``, contains actions, which count from 0 as in the JSON engine and
    in stored games. Other text is in the form of `Notation.text`: ``4,4,3`` or ``443`` in Connect
    Four, ``f5d6c3`` or ``1. f5 d6 2. c3`` in Othello. Forced passes may be omitted.

    Args:
        notation: the notation in which moves are written in this game.
        text: the list of moves.
        start: the position before the moves, an array of K state words; None means the start of the
            game.

    Returns:
        The actions, including forced passes that the text omits.

    Raises:
        ValueError: if a move is illegal or unreadable; the message says where in the list it is.
    """
    if text.strip().startswith("["):
        actions = _bracketed(text.strip())
        return Session(game, actions, start).actions
    session = Session(game, start=start)
    for number, word in enumerate(notation.split(text), 1):
        try:
            action = notation.action(word, session.legal_actions)
            while session.is_forced_pass() and action != session.legal_actions[0]:
                session.play(session.legal_actions[0])
            check_legal(session, notation, word, action)
        except ValueError as error:
            hint = ""
            if word == "0" or (isinstance(notation, Squares) and word.isdigit()):
                hint = " In brackets, such as [0,1], moves count from 0."
            raise ValueError(f"move {number} of the list: {error}{hint}") from None
        session.play(action)
    return session.actions


def _bracketed(text: str) -> list[int]:
    """Parse a list of actions in brackets, such as "[3,3,2]".

    Raises:
        ValueError: if the text is not a list of whole numbers.
    """
    numbers = [word for word in re.split(r"[\s,]+", text[1:-1]) if word]
    are_numbers = all(re.fullmatch(r"-?\d{1,9}", number, re.ASCII) for number in numbers)
    if not (text.endswith("]") and are_numbers):
        raise ValueError(
            f"'{text}' is not a list of actions, which are numbers from 0, such as [3,3]."
        )
    return list(map(int, numbers))


def check_legal(session: Session, notation: Notation, word: str, action: int) -> None:
    """Check that a typed move is legal in the current position of a game.

    Args:
        session: the game in progress.
        notation: the notation in which the message lists the legal moves.
        word: the move as it was typed, for the message.
        action: the action that the word means.

    Raises:
        ValueError: if the action is not legal, or the game is over.
    """
    if session.over:
        raise ValueError(f"'{word}' follows the end of the game.")
    if action not in session.legal_actions:
        legal = ", ".join(map(notation.text, session.legal_actions))
        raise ValueError(f"'{word}' is not legal here; legal moves: {legal}.")
