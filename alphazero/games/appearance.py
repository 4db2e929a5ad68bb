"""How a game looks: what its rules state of names, colours and board, for everything that draws it.

In: nothing; the rules of a game fill an `Appearance`. Terminals, pages and pictures translate it
into their own colours (`alphazero.boards.skin`, the styles of the page).
"""

import dataclasses
from typing import Any

COLORS = ("first", "second", "yellow", "red", "light", "dark", "x", "o")
BOARDS = ("plain", "wood", "green", "plate", "lines")


@dataclasses.dataclass(frozen=True)
class Appearance:
    """How a game looks. Pairs hold the player who moves first in the game, then the other."""

    title: str = ""  #: "" is the game's name
    sides: tuple[str, str] = ("", "")  #: what the players are called; "" is the piece's letter
    #: of the pieces, two of `COLORS`: "first" and "second" are letters in blue and red, on the page
    #: discs; "x" and "o" are letters everywhere; the others are discs
    colors: tuple[str, str] = ("first", "second")
    #: one of `BOARDS`: without a colour of its own, wooden, green, a plate in whose columns pieces
    #: fall and whose columns are counted from 1, or lines alone; discs need a coloured one
    board: str = "plain"
    rows_from_top: bool = False  #: whether row 1 is at the top; at the bottom it is as in chess
    numbers_squares: bool = False  #: whether a terminal numbers the legal squares, which are few
    line_length: int = 0  #: pieces in a row that win; 0 if no line wins
    counts_pieces: bool = False  #: whether the numbers of pieces decide
    #: whether elsewhere the same game begins with swapped colours and mirrored columns; for square
    #: boards with row 1 at the top
    has_standard_setup: bool = False

    def __post_init__(self) -> None:
        for name, pair in (("sides", self.sides), ("colors", self.colors)):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(f"{name} must be two texts, one for each player, not {pair!r}")
        for value, allowed in ((self.board, BOARDS), *((color, COLORS) for color in self.colors)):
            if value not in allowed:
                raise ValueError(f"'{value}' is not one of {', '.join(allowed)}")


def read_appearance(stated: Any) -> Appearance:
    """Return what a game states: an `Appearance`, or a dict of its fields.

    Raises:
        TypeError, ValueError: if a field does not exist or has an impossible value.
    """
    return stated if isinstance(stated, Appearance) else Appearance(**stated)
