"""Define skins: the appearance of a game in the colours and characters of a terminal.

A skin is derived from the game's `alphazero.games.appearance.Appearance`, which names the colours
of the pieces and the kind of board.

Colours with "#" are in the 256-colour palette, so that they look the same with 256 and with 16
million colours. In a terminal with 16 colours, rich substitutes the nearest ones. Colours shown
without a square's colour behind them are readable on black and on white.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from alphazero.boards.notation import ColumnsFromOne, Notation, Squares
from alphazero.games.batched_game import Game
from alphazero.runtime.errors import ConfigError

#: The two set-ups of a game such as Othello: that of this package's rules, in which white begins,
#: and that of other programs, in which black begins.
SETUPS = ("white_first", "standard")


@dataclass(frozen=True)
class Skin:
    """The appearance of one game in a terminal: names, glyphs, colours, sizes and notation.

    In tuples, the player who begins the game comes first; a third entry is for blocked squares.
    """

    title: str  #: the game's name on boards and pictures
    notation: Notation  #: how moves are written
    letters: str  #: an empty square and the pieces in a terminal without colours
    sides: tuple[str, str]  #: names of the players
    glyphs: tuple[str, str, str]  #: the pieces in a terminal with colours
    piece_styles: tuple[str, str, str]  #: rich's styles of the pieces
    cell_style: str = ""  #: style of the squares
    frame_style: str = "bright_black"  #: style of the lines between squares
    mark_style: str = "reverse"  #: added to the style of marked squares, see `marked_cells`
    label_style: str = "dim"  #: style of the labels on empty squares
    cell_width: int = 3  #: in characters
    cell_height: int = 1  #: in lines of text
    line_length: int = 0  #: number of pieces in a row that win; 0 if lines do not win
    counts_pieces: bool = False  #: whether the player with more pieces wins
    note: str = ""  #: hint for new players, printed once
    setup: str = SETUPS[0]  #: one of `SETUPS`


#: The style of a piece, by its colour in `Appearance.colors`.
_PIECES = {
    "first": "bold #0087d7",
    "second": "bold #d7005f",
    "x": "bold #0087d7",
    "o": "bold #d7005f",
    "yellow": "bold #ffd75f",
    "red": "bold #ff5f5f",
    "light": "bold #ffffff",
    "dark": "bold #000000",
}
_BLOCKED = "#875f5f"  # the style of a blocked square
_LETTERS = ("first", "second", "x", "o")  #: colours of pieces that are letters
DISC = "●"  #: the glyph of all other pieces
WALL = "■"  #: the glyph of a blocked square
_WOOD = {
    "cell_style": "on #af875f",
    "frame_style": "#875f5f on #af875f",
    "mark_style": "on #5f87af",
    "label_style": "#ffffd7",
}
#: The fields of a skin that depend on `Appearance.board`.
_BOARDS: dict[str, dict] = {
    "plain": {},
    "wood": _WOOD,
    "points": _WOOD,
    "green": {
        "cell_style": "on #008700",
        "frame_style": "#5faf5f on #008700",
        "mark_style": "on #5f5faf",
        "label_style": "#d7ffd7",
    },
    "plate": {
        "cell_style": "on #00005f",
        "frame_style": "#5f87d7 on #00005f",
        "mark_style": "on #5f5fd7",
    },
    "lines": {"cell_width": 7, "cell_height": 3},
}


def skin_of(game: Game, setup: str = SETUPS[0]) -> Skin:
    """Return the appearance of a game at the terminal, in one of its set-ups.

    Args:
        setup: "white_first" or, in games such as Othello, "standard"; see `SETUPS`.

    Raises:
        ConfigError: if the game has no such set-up.
    """
    looks = game.appearance
    letters = game.piece_letters
    if setup not in setups_of(game):
        reason = f"{game.name} has no other set-up"
        raise ConfigError.of("setup", setup, list(setups_of(game)), reason)
    title = Path(game.name).stem if game.name.endswith(".py") else game.name
    _, first_letter, second_letter, *_ = tuple(letters)
    first_color, second_color = looks.colors
    skin = Skin(
        title=looks.title or title,
        notation=_notation(game),
        letters=letters,
        sides=(looks.sides[0] or first_letter, looks.sides[1] or second_letter),
        glyphs=(_glyph(first_color, first_letter), _glyph(second_color, second_letter), WALL),
        piece_styles=(_PIECES[first_color], _PIECES[second_color], _BLOCKED),
        line_length=looks.line_length,
        counts_pieces=looks.counts_pieces,
        **_BOARDS[looks.board],
    )
    if setup == SETUPS[1]:
        return _standard(skin, game)
    if not looks.has_standard_setup:
        return skin
    first, second = skin.sides
    other = f"With setup={SETUPS[1]} {second.lower()} does, as in other programs."
    return dataclasses.replace(skin, note=f"{first} moves first here. {other}")


def setups_of(game: Game) -> tuple[str, ...]:
    """Return the names of a game's set-ups; the first one is that of this package's rules."""
    return SETUPS if game.appearance.has_standard_setup else SETUPS[:1]


def _glyph(color: str, letter: str) -> str:
    return letter if color in _LETTERS else DISC


def _notation(game: Game, mirrored: bool = False) -> Notation:
    if game.appearance.board == "plate":
        return ColumnsFromOne(game)
    if game.appearance.has_standard_setup:
        return Squares(game, mirrored)
    return Notation(game)


def _standard(ours: Skin, game: Game) -> Skin:
    """Return a game's appearance in the standard set-up: colours swapped, columns mirrored.

    Args:
        ours: the appearance in the set-up of this package's rules.
    """
    empty, first, second, *blocked = tuple(ours.letters)
    return dataclasses.replace(
        ours,
        notation=_notation(game, mirrored=True),
        letters="".join((empty, second, first, *blocked)),
        sides=ours.sides[::-1],
        glyphs=_swapped(ours.glyphs),
        piece_styles=_swapped(ours.piece_styles),
        setup=SETUPS[1],
    )


def _swapped(looks: tuple[str, str, str]) -> tuple[str, str, str]:
    first, second, blocked = looks
    return second, first, blocked
