"""How a game looks wherever it is drawn: its names, its colours and its board.

The rules of a game return an `Appearance`. Terminals, web pages and pictures translate it into
their own colours (in `alphazero.boards.skin` and the page's style sheet).
"""

import dataclasses
from typing import Any

COLORS = ("first", "second", "yellow", "red", "light", "dark", "x", "o")
BOARDS = ("plain", "wood", "green", "plate", "lines")


@dataclasses.dataclass(frozen=True)
class Appearance:
    """How a game looks where it is drawn; in pairs, the player who begins the game comes first."""

    title: str = ""  #: name on boards and pictures; "" means the game's name
    sides: tuple[str, str] = ("", "")  #: names of the players; "" means the piece's letter
    #: Colours of the pieces, two of `COLORS`: "first" and "second" are blue and red letters (discs
    #: on the page), "x" and "o" are always letters, the others are discs.
    colors: tuple[str, str] = ("first", "second")
    #: One of `BOARDS`: uncoloured, wooden, green, only lines, or a plate into whose columns pieces
    #: fall, with columns counted from 1. Discs need a coloured board.
    board: str = "plain"
    rows_from_top: bool = False  #: True if row 1 is at the top; in chess it is at the bottom
    numbers_squares: bool = False  #: whether a terminal shows the numbers of the legal squares
    line_length: int = 0  #: number of pieces in a row that win; 0 if lines do not win
    counts_pieces: bool = False  #: whether the player with more pieces wins
    #: True if other programs set up the game with swapped colours and mirrored columns; only for
    #: square boards with row 1 at the top.
    has_standard_setup: bool = False

    def __post_init__(self) -> None:
        for name, pair in (("sides", self.sides), ("colors", self.colors)):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(f"{name} must be two texts, one for each player, not {pair!r}")
        _check_choice(self.board, BOARDS)
        for color in self.colors:
            _check_choice(color, COLORS)


def _check_choice(value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"'{value}' is not one of {', '.join(allowed)}")


def read_appearance(stated: Any) -> Appearance:
    """Convert what a game gives as its appearance, an `Appearance` or a dict of its fields.

    Raises:
        TypeError, ValueError: if a field does not exist or has an impossible value.
    """
    if isinstance(stated, Appearance):
        return stated
    return Appearance(**stated)
