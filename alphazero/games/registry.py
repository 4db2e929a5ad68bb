"""Games by name: `connect_four`, `connect_x:5x5x4`, a file `examples/snort.py`, `module:Class`.

In: a name, or an object with the rules of a game. Out: the batched game
(`alphazero.games.batched_game.Game`) that everything else uses. This file alone decides which names
exist, when two names mean the same game, and who may run code that is not of this package: only the
user. A name that was read from a file goes through `make_stored_game`.
"""

import os
import re
from pathlib import Path
from typing import Any

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.game_file import load_checked_game
from alphazero.games.own_game import game_of_module, game_of_object, importable_name, is_module_name
from alphazero.runtime.errors import ConfigError

_NAMES = (
    "tic_tac_toe",
    "connect_four",
    "connect_x:ROWSxCOLUMNSxLENGTH",
    "othello",
    "othello:6",
    "othello:4",
    "PATH/TO/YOUR_GAME.py",
    "MODULE:CLASS",
    "pettingzoo:connect_four_v3",
    "pgx:go_9x9",
)
#: What games are called elsewhere, in small letters alone, and their names here.
_MEANT = {
    "c4": "connect_four",
    "connect4": "connect_four",
    "connectfour": "connect_four",
    "connectx": "connect_x:6x7x4",
    "fourinarow": "connect_four",
    "noughtsandcrosses": "tic_tac_toe",
    "othello": "othello",
    "othello6x6": "othello:6",
    "othello8": "othello",
    "othello8x8": "othello",
    "reversi": "othello",
    "tictactoe": "tic_tac_toe",
    "ttt": "tic_tac_toe",
}
#: Objects that the user passed to `make_game`, by their names.
_OBJECTS: dict[str, Any] = {}


def game_names() -> tuple[str, ...]:
    """Return the names that `make_game` takes, with capitals where the user fills something in."""
    return _NAMES


def make_game(game: Any) -> Game:
    """Return the game that the user names.

    A name that ends in ``.py`` is the path of a game file, which is run; ``module:Class`` is
    imported. Never pass a name that was read from a stored file: see `make_stored_game`.

    Args:
        game: a name; a `Game`, which is returned; or an object or a class with the rules of a game
            in plain Python, see `alphazero.games.python_game.Position`. The name of such an object
            is its class's ``module:Class``, and means this object from now on in this process.

    Raises:
        ConfigError: if there is no such game or its sizes are impossible.
    """
    if isinstance(game, Game):
        return game
    if not isinstance(game, str):
        name = importable_name(game)
        _OBJECTS[name] = game
        return game_of_object(game, name)
    if game in _OBJECTS:
        return game_of_object(_OBJECTS[game], game)
    if is_game_file(game):
        return load_checked_game(game)
    family, _, rest = game.partition(":")
    if family in _FAMILIES:
        return _FAMILIES[family](game, rest)
    if is_module_name(game):
        return game_of_module(game)
    meant = _MEANT.get(re.sub("[^a-z0-9]", "", game.lower()).removesuffix("v3"))
    hint = f" Did you mean {meant}?" if meant else ""
    games = ", ".join(_NAMES)
    raise _refusal(f"there is no game '{game}'.{hint} The games are {games}.", game, _NAMES)


def make_stored_game(name: str, source: str, named: str | None = None, key: str = "game") -> Game:
    """Return the game that a stored file names; run a game file only if the user names it as well.

    Stored files are exchanged: nobody who opens a network or a run expects it to run a program.
    Games of this package and the known PettingZoo environments need no permission.

    Args:
        name: the game's name in the stored file.
        source: what the stored file is, for messages: "the network 'x.safetensors'".
        named: the game that the user names in the same command, None if they name none.
        key: the setting by which they name it.

    Raises:
        ConfigError: if the name is that of a file or a module and the user does not name it, if
            the user names another game, or if there is no such game.
    """
    if named is not None:
        if not same_game(named, name):
            raise ConfigError.of(key, named, name, f"{source} is of another game")
        return make_game(named)
    if runs_own_code(name) and name not in _OBJECTS:
        message = f"{source} is of the game '{name}'. A stored file never runs a program by "
        message += f"itself: if you trust that game, name it with {key}={name}."
        raise ConfigError(message, key=key, allowed=name)
    try:
        return make_game(name)
    except ConfigError as error:
        message = f"{source} is of a game that cannot be played here: {error}"
        raise ConfigError(message, key=error.key, value=name, allowed=error.allowed) from None


def is_game_file(name: str) -> bool:
    """Return whether a game's name is the path of a game file."""
    return name.endswith(".py")


def runs_own_code(name: str) -> bool:
    """Return whether making the game of this name runs the user's code: a file or a module."""
    is_known = name.partition(":")[0] in _FAMILIES
    return is_game_file(name) or is_module_name(name) and not is_known


def same_game(name: str, stored_name: str) -> bool:
    """Return whether a name in a stored file means the game of the given name.

    Paths of game files are compared as places, however they are spelled. A stored path that leads
    nowhere from the current folder was stored in another folder or on another machine; then the
    file's name decides. This never makes a difference to which file is run: that is always the one
    the user named.
    """
    if not (is_game_file(name) and is_game_file(stored_name)):
        return name == stored_name
    if os.path.isfile(stored_name):  # unlike Path.is_file, no name makes it raise
        return canonical_name(name) == canonical_name(stored_name)
    return re.split(r"[/\\]", name)[-1] == re.split(r"[/\\]", stored_name)[-1]


def canonical_name(name: str) -> str:
    """Return one spelling for a game's name: of a game file, its resolved path."""
    return str(Path(name).resolve()) if is_game_file(name) else name


# --- families of games: the name before the colon, and what makes a game of the rest --------------


def _tic_tac_toe(name: str, sizes: str) -> Game:
    from alphazero.games.tic_tac_toe import TicTacToe

    if name != "tic_tac_toe":
        raise _refusal(f"'{name}' is impossible: tic_tac_toe has one size.", name, "tic_tac_toe")
    return CompiledGame(name, TicTacToe(3))


def _connect_four(name: str, sizes: str) -> Game:
    if name != "connect_four":
        raise _refusal(f"'{name}' is impossible: other sizes are connect_x's.", name, _NAMES)
    return _connect_x(name, "6x7x4")


def _connect_x(name: str, sizes: str) -> Game:
    match = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})(?:x([0-9]{1,3})?)?", sizes)
    if match is None:
        allowed = "connect_x:ROWSxCOLUMNSxLENGTH, such as connect_x:5x5x4"
        raise ConfigError.of("game", name, allowed)
    rows, columns = int(match[1]), int(match[2])
    if not match[3]:
        raise _without_length(name, rows, columns)
    length = int(match[3])
    if not (1 <= rows <= 64 and 1 <= columns <= 64 and 2 <= length <= max(rows, columns)):
        allowed = "rows and columns from 1 to 64, a length from 2 to the longer side of the board"
        raise _refusal(f"'{name}' is impossible: Connect-X takes {allowed}.", name, allowed)
    if (rows + 1) * columns <= 64:
        from alphazero.games.connect_x import ConnectX

        return CompiledGame(name, ConnectX(rows, columns, length))
    from alphazero.games.connect_x_large import LargeConnectX

    return CompiledGame(name, LargeConnectX(rows, columns, length))


def _without_length(name: str, rows: int, columns: int) -> ConfigError:
    example = f"connect_x:{rows}x{columns}x{min(4, max(rows, columns))}"
    message = f"'{name}' lacks the number in a row that wins, ROWSxCOLUMNSxLENGTH: try {example}."
    return _refusal(message, name, example)


def _othello(name: str, sizes: str) -> Game:
    from alphazero.games.othello import Othello

    if name not in ("othello", "othello:8", "othello:6", "othello:4"):
        raise _refusal(f"'{name}' is impossible: Othello has a side of 4, 6 or 8.", name, (4, 6, 8))
    return CompiledGame(name, Othello(int(sizes or 8)))


def _pettingzoo(name: str, environment: str) -> Game:
    from alphazero.games.pettingzoo_game import make_pettingzoo_game

    return make_pettingzoo_game(environment)


def _pgx(name: str, environment: str) -> Game:
    from alphazero.games.pgx_game import PgxGame

    return PgxGame(environment)


_FAMILIES = {
    "tic_tac_toe": _tic_tac_toe,
    "connect_four": _connect_four,
    "connect_x": _connect_x,
    "othello": _othello,
    "pettingzoo": _pettingzoo,
    "pgx": _pgx,
}


def _refusal(message: str, name: str, allowed: Any) -> ConfigError:
    return ConfigError(message, key="game", value=name, allowed=allowed)
