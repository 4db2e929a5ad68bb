"""Define how a game looks in terminals, pictures and the web page: its names, colours and board.

The rules of each game return an `Appearance`. `alphazero.boards.skin` translates it into terminal
colours, and the web page's style sheet into the colours of the page.
"""

import dataclasses
from typing import Any

COLORS = ("first", "second", "yellow", "red", "light", "dark", "x", "o")
BOARDS = ("plain", "wood", "points", "green", "plate", "lines")


@dataclasses.dataclass(frozen=True)
class Appearance:
    """How a game looks; the first entry of each pair is for the player who begins the game."""

    title: str = ""  #: title shown with boards and in pictures; "" means the game's name
    sides: tuple[str, str] = ("", "")  #: names of the players; "" means the letter of their pieces
    #: Colours of the pieces, two of `COLORS`: "first" and "second" are blue and red letters (on the
    #: web page, discs), "x" and "o" are always letters, and the others are discs.
    colors: tuple[str, str] = ("first", "second")
    #: Style of the board, one of `BOARDS`: "plain" has no colour, "lines" shows only lines,
    #: "points" is of wood, marks no legal moves and on the web page has its pieces where lines
    #: cross, and "plate" is a board into whose columns pieces fall, with columns numbered from 1.
    #: Discs need a coloured board.
    board: str = "plain"
    rows_from_top: bool = False  #: True if row 1 is at the top; in chess it is at the bottom
    numbers_squares: bool = False  #: whether a terminal numbers the squares that are legal moves
    line_length: int = 0  #: number of pieces in a row that win; 0 if no line wins the game
    counts_pieces: bool = False  #: whether the player with more pieces at the end wins
    #: True if other programs start the game with swapped colours and mirrored columns, as they do
    #: Othello; allowed only for square boards with row 1 at the top.
    has_standard_setup: bool = False
    #: The rules in one or two sentences, for people who do not know the game; "" means the first
    #: paragraph of the docstring of the user's file.
    rules: str = ""

    def __post_init__(self) -> None:
        for name, pair in (("sides", self.sides), ("colors", self.colors)):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(f"{name} must be two strings, one for each player, not {pair!r}")
        _check_choice(self.board, BOARDS)
        for color in self.colors:
            _check_choice(color, COLORS)


def _check_choice(value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"'{value}' is not one of {', '.join(allowed)}")


def read_appearance(stated: Any) -> Appearance:
    """Convert the appearance that a game's rules return to an `Appearance`.

    Args:
        stated: an `Appearance`, which is returned unchanged, or a dict of its fields.

    Raises:
        TypeError: if a field does not exist.
        ValueError: if a field has a value that is not allowed.
    """
    if isinstance(stated, Appearance):
        return stated
    return Appearance(**stated)
