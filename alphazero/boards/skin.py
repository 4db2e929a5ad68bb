"""Skins: how each game looks, how its moves are written, and what its sides are called.

In: a game. Out: names, glyphs, colours, sizes and the notation for `alphazero.boards.text`. This is
the only file of the package that knows particular games; a user's own game gets a plain skin.

Colours with "#" are those of the 256-colour palette, so that 256 and 16 million colours show the
same. In a terminal of 16 colours rich substitutes the nearest ones. Colours without a square's
colour behind them are readable on black and on white.
"""

import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path

from alphazero.boards.notation import ColumnsFromOne, Notation, Squares
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.registry import is_game_file
from alphazero.runtime.errors import ConfigError

#: How Othello is set up: as in our rules, where white begins, or as everywhere else.
SETUPS = ("white_first", "standard")


@dataclass(frozen=True)
class Skin:
    """The looks of one game. Pairs hold the player who moves first in the game, then the other."""

    title: str
    notation: Notation
    letters: str  #: of an empty square and of the pieces, if the terminal has no colours
    sides: tuple[str, str]  #: what the players are called
    glyphs: tuple[str, str]  #: a piece of each, if the terminal has colours
    piece_styles: tuple[str, str] = ("bold #0087d7", "bold #d7005f")
    cell_style: str = ""  #: of the squares
    frame_style: str = "bright_black"
    mark_style: str = "reverse"  #: of the last piece or the winning line, added to the piece's
    label_style: str = "dim"  #: of the numbers on empty squares
    cell_width: int = 3
    cell_height: int = 1
    move_name: str = "a move"  #: what a person types: "a column (1-7)"
    line_length: int = 0  #: pieces in a row that win; 0 if no line wins
    counts_pieces: bool = False  #: whether the numbers of pieces decide
    note: str = ""  #: what a newcomer should know, printed once
    setup: str = SETUPS[0]  #: of Othello


def skin_of(game: Game, setup: str = SETUPS[0]) -> Skin:
    """Return the skin of a game.

    Args:
        setup: one of `SETUPS`.

    Raises:
        ConfigError: if the game has no such set-up.
    """
    if re.fullmatch(r"othello(:\d+)?", game.name):
        return _othello(game) if setup == SETUPS[0] else _usual_othello(game)
    if setup != SETUPS[0]:
        message = f"setup={setup} is for Othello; the game is {game.name}."
        raise ConfigError(message, key="setup", value=setup, allowed="Othello")
    if game.name == "tic_tac_toe":
        return _tic_tac_toe(game)
    if isinstance(game, CompiledGame) and game.name.startswith("connect_"):
        return _connect_x(game)
    letters = game.piece_letters
    pair = (letters[1], letters[2])
    title = Path(game.name).stem if is_game_file(game.name) else game.name
    return Skin(title, Notation(game), letters, pair, pair)


def _tic_tac_toe(game: Game) -> Skin:
    return Skin(
        title="Tic-tac-toe",
        notation=Notation(game),
        letters=game.piece_letters,
        sides=("X", "O"),
        glyphs=("X", "O"),
        cell_width=7,
        cell_height=3,
        move_name="a square (1-9)",
        line_length=3,
    )


def _connect_x(game: CompiledGame) -> Skin:
    rows, columns, length = game.rules
    title = f"Connect-X, {rows} x {columns}, {length} in a row"
    if (rows, columns, length) == (6, 7, 4):
        title = "Connect Four"
    return Skin(
        title=title,
        notation=ColumnsFromOne(game),
        letters=game.piece_letters,
        sides=("Yellow", "Red"),
        glyphs=("●", "●"),
        piece_styles=("bold #ffd75f", "bold #ff5f5f"),
        cell_style="on #00005f",
        frame_style="#5f87d7 on #00005f",
        mark_style="on #5f5fd7",
        move_name=f"a column (1-{columns})",
        line_length=length,
    )


def _othello(game: Game) -> Skin:
    """Return the skin of Othello in the set-up of our rules, where white begins."""
    size = game.planes_shape[1]
    return Skin(
        title="Othello" if size == 8 else f"Othello {size} x {size}",
        notation=Squares(game),
        letters=game.piece_letters,
        sides=("White", "Black"),
        glyphs=("●", "●"),
        piece_styles=("bold #ffffff", "bold #000000"),
        cell_style="on #008700",
        frame_style="#5faf5f on #008700",
        mark_style="on #5f5faf",
        label_style="#d7ffd7",
        move_name="a square such as d3",
        counts_pieces=True,
        note="White moves first here. With setup=standard black does, as in other programs.",
    )


def _usual_othello(game: Game) -> Skin:
    """Return the skin of Othello in its usual set-up, where black begins."""
    ours = _othello(game)
    empty, first, second = tuple(ours.letters)
    return dataclasses.replace(
        ours,
        notation=Squares(game, mirrored=True),
        letters=empty + second + first,
        sides=ours.sides[::-1],
        piece_styles=ours.piece_styles[::-1],
        note="",
        setup=SETUPS[1],
    )
