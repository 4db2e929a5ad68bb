"""Skins: how each game looks, and what its pieces and sides are called.

In: a game. Out: names, glyphs, colours and sizes for `alphazero.play.board`. This is the only file
of the package that knows particular games; a user's own game gets a plain skin.
"""

import re
from dataclasses import dataclass

from alphazero.games.batched_game import Game


@dataclass(frozen=True)
class Skin:
    """The looks of one game. Pairs hold the player who moves first in the game, then the other."""

    title: str
    sides: tuple[str, str]  #: what the players are called
    glyphs: tuple[str, str]  #: a piece of each, if the terminal has colours
    piece_styles: tuple[str, str]
    cell_style: str = ""  #: of the squares
    frame_style: str = "bright_black"
    mark_style: str = "on #2b3a5c"  #: behind the last piece or the winning line
    label_style: str = "dim"  #: of the numbers on empty squares
    cell_width: int = 3
    cell_height: int = 1
    move_word: str = "move"  #: "column", "square"
    move_range: str = ""  #: what a person may type
    line_length: int = 0  #: pieces in a row that win; 0 if no line wins
    counts_pieces: bool = False  #: whether the numbers of pieces decide


def skin_of(game: Game) -> Skin:
    """Return the skin of a game."""
    if game.name == "tic_tac_toe":
        return _TIC_TAC_TOE
    if game.name == "connect_four" or game.name.startswith("connect_x:"):
        return _connect_x(game)
    if re.fullmatch(r"othello(:\d+)?", game.name):
        return _othello(game)
    first, second = game.piece_letters[1:]
    letters = (first, second)
    return Skin(game.name, letters, letters, ("bold bright_cyan", "bold bright_magenta"))


_TIC_TAC_TOE = Skin(
    title="Tic-tac-toe",
    sides=("X", "O"),
    glyphs=("X", "O"),
    piece_styles=("bold bright_cyan", "bold bright_magenta"),
    cell_width=7,
    cell_height=3,
    move_word="square",
    move_range="1-9",
    line_length=3,
)


def _connect_x(game: Game) -> Skin:
    rows, columns, length = game.rules
    title = f"Connect-X, {rows} x {columns}, {length} in a row"
    if (rows, columns, length) == (6, 7, 4):
        title = "Connect Four"
    return Skin(
        title=title,
        sides=("Yellow", "Red"),
        glyphs=("●", "●"),
        piece_styles=("bold #ffd43b", "bold #ff5c5c"),
        cell_style="on #12306b",
        frame_style="#4f7fd9 on #12306b",
        mark_style="on #2f6fe0",
        move_word="column",
        move_range=f"0-{columns - 1}",
        line_length=length,
    )


def _othello(game: Game) -> Skin:
    size = game.planes_shape[1]
    return Skin(
        title="Othello" if size == 8 else f"Othello {size} x {size}",
        sides=("White", "Black"),
        glyphs=("●", "●"),
        piece_styles=("bold #ffffff", "bold #000000"),
        cell_style="on #1d6b3a",
        frame_style="#3f9a60 on #1d6b3a",
        mark_style="on #37a862",
        label_style="#9fd8b0",
        move_word="square",
        move_range="a number on the board",
        counts_pieces=True,
    )
