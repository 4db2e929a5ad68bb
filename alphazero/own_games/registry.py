"""Make games by name: `connect_four`, `connect_x:5x5x4`, `examples/snort.py`, `module:Class`.

A name is a key of `_COMPILED` or begins with one of `_FAMILIES`, or is the path of a game file, a
class or a function in a module, or an entry point that an installed package announces in the group
`alphazero.games`. To add a game to this package, add a line to `_COMPILED`, its name to `_NAMES`,
and what its name begins with to `_SHIPPED_FAMILIES`.

`make_game` returns a batched game (`alphazero.games.batched_game.Game`), the interface that all
other packages use. This module alone decides which names exist and when two names mean the same
game. It also ensures that code from outside this package runs only if the user names it: a name
read from a stored file must go through `make_stored_game`.
"""

import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from alphazero.config.hints import nearest_key_hint
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.connect_x import ConnectX
from alphazero.games.connect_x_large import LargeConnectX
from alphazero.games.gomoku import Gomoku
from alphazero.games.othello import Othello
from alphazero.games.othello_large import LargeOthello
from alphazero.games.tic_tac_toe import TicTacToe
from alphazero.own_games.checked_game import load_named_game, load_object
from alphazero.own_games.game_file import is_game_file as is_game_file
from alphazero.own_games.rules_digest import identify
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import GAMES, announced, is_module_name

_NAMES = (
    "tic_tac_toe",
    "connect_four",
    "connect_x:ROWSxCOLUMNSxLENGTH",
    "othello",
    "othello:6",
    "othello:4",
    "othello:10",
    "gomoku",
    "gomoku:ROWSxCOLUMNSxLENGTH",
    "PATH/TO/YOUR_GAME.py",
    "MODULE:CLASS",
    "pettingzoo:connect_four_v3",
    "open_spiel:hex(board_size=7)",
    "pgx:go_9x9",
)
#: The games of this package from which users can choose in menus, the default first.
OFFERED = (
    "connect_four",
    "othello",
    "tic_tac_toe",
    "othello:6",
    "othello:4",
    "connect_x:5x5x4",
    "gomoku",
    "gomoku:9x9",
)
#: The games of this package that have a name without sizes.
_COMPILED: dict[str, Any] = {
    "tic_tac_toe": TicTacToe(3),
    "connect_four": ConnectX(6, 7, 4),
    "othello": Othello(8),
    "gomoku": Gomoku(15, 15, 5),
}
#: Families whose rules are in this package, so that stored files and requests may name them too.
_SHIPPED_FAMILIES = ("tic_tac_toe", "connect_four", "connect_x", "othello", "gomoku")
#: The lengths of lines that win if a name does not say so.
_USUAL_LENGTHS = {"connect_four": 4, "connect_x": 4, "gomoku": 5}
#: Other spellings of names, including those of the config group ``game``.
_SPELLINGS = {
    "connect_x": "connect_x:5x5x4",
    "othello:8": "othello",
    "othello_4x4": "othello:4",
    "othello_6x6": "othello:6",
    "gomoku:15x15": "gomoku",
    "gomoku_9x9": "gomoku:9x9",
}
#: Objects that the user passed to `make_game`, by their names.
_OBJECTS: dict[str, Any] = {}
#: Changes of rules that the user has been warned about: (stored digest, current digest).
_WARNED: set[tuple[str, str]] = set()


def game_names() -> tuple[str, ...]:
    """Return the names that `make_game` accepts, ending with those of installed packages.

    Words in capitals, such as "ROWS", are placeholders.
    """
    return (*_NAMES, *announced(GAMES))


def make_game(game: Any) -> Game:
    """Make the game that the user gives by name or as an object.

    A name that ends in ``.py`` is the path of a game file, which is run; ``module:Class`` is
    imported, and so is the module of an entry point. Never pass a name that was read from a stored
    file: use `make_stored_game` for that.

    Args:
        game: a name; a `Game`, which is returned as it is; or an object or a class with the rules
            of a game in plain Python (see `alphazero.own_games.python_game.Position`). After the
            call, the ``module:Class`` name of the object's class refers to this object in this
            process.

    Raises:
        ConfigError: if there is no such game, its sizes are impossible, or its rules break a law.
    """
    if isinstance(game, Game):
        return game if game.rules_digest else identify(game)
    if not isinstance(game, str):
        made_by = game if isinstance(game, type) else type(game)
        name = f"{made_by.__module__}:{made_by.__qualname__}"
        _OBJECTS[name] = game
        game = name
    if game in _OBJECTS:
        return identify(load_object(_OBJECTS[game], game))
    game = usual_name(game)
    if game in _COMPILED:
        return CompiledGame(game, _COMPILED[game])
    family, _, rest = game.partition(":")
    if family in _FAMILIES:
        return identify(_FAMILIES[family](game, rest))
    is_own = is_game_file(game) or is_module_name(game) or game in announced(GAMES)
    if is_own and not is_shipped_game(game):
        return identify(load_named_game(game))
    names = game_names()
    hint = nearest_key_hint(game, list(names))
    message = f"there is no game '{game}'.{hint} The games are {', '.join(names)}."
    raise ConfigError(message, key="game", value=game, allowed=names)


def make_stored_game(
    name: str, source: str, named: str | None = None, key: str = "game", digest: str = ""
) -> Game:
    """Make the game that a stored file names, without running code that the user has not named.

    People exchange stored files, and opening one must not run a program. A game file or module is
    therefore run only if the user names it too. Games of this package and environments of
    OpenSpiel, PettingZoo and pgx need no permission, nor do entry points of installed packages: the
    user chose to run those by installing them.

    Args:
        name: the game's name in the stored file.
        source: a description of the stored file for messages, such as "the network
            'x.safetensors'".
        named: the game that the user names in the same command; None if there is none.
        key: the setting with which the user can name the game, for error messages.
        digest: the digest of the game's rules in the stored file; "" if unknown. If the rules have
            changed since, the game is made all the same, and the caller must refuse it or call
            `warn_of_changed_rules`.

    Raises:
        ConfigError: if the name is a file or a module and the user does not name it, if the user
            names another game, or if there is no such game.
    """
    if named is not None:
        if digest or same_game(named, name):  # a game of another name may have the same rules
            game = make_game(named)
            if same_game(named, name, game.rules_digest, digest):
                return game
        raise ConfigError.of(key, named, name, f"{source} is of another game")
    if runs_own_code(name) and name not in _OBJECTS:
        message = f"{source} is of the game '{name}'. A stored file may not run a program by "
        message += f"itself: if you trust the game, name it with {key}={name}."
        raise ConfigError(message, key=key, allowed=name)
    try:
        return make_game(name)
    except ConfigError as error:
        message = f"{source} is of a game that is not available here: {error}"
        raise ConfigError(message, key=error.key, value=name, allowed=error.allowed) from None


def warn_of_changed_rules(game: Game, digest: str, source: str) -> None:
    """Print a warning to standard error if a game's rules have changed since a file was stored.

    Each change is reported once per process.

    Args:
        game: the game with its present rules.
        digest: the digest of the rules in the stored file; if "" (unknown), no warning is printed.
        source: a description of the stored file, such as "the network 'x.safetensors'".
    """
    change = (digest, game.rules_digest)
    has_changed = all(change) and digest != game.rules_digest
    if has_changed and change not in _WARNED:
        _WARNED.add(change)
        text = f"warning: the rules of {game.name} have changed since {source} was stored, so it "
        text += "plays a game that it was not trained for."
        print(text, file=sys.stderr)


def is_object(name: str) -> bool:
    """Return whether a name refers to an object or a class that the user passed to `make_game`."""
    return name in _OBJECTS


def runs_own_code(name: str) -> bool:
    """Return whether making a game runs a file or imports a module that its name points to.

    Entry points of installed packages do not count, because the user chose to install them.
    """
    family, _, rest = name.partition(":")
    module = name
    if family in _FAMILIES:
        module = rest.partition("(")[0]  # of pettingzoo:module:factory
    return is_game_file(name) or is_module_name(module)


def is_shipped_game(name: str) -> bool:
    """Return whether this package contains the rules of the named game, for any board size.

    Args:
        name: the name of a game, such as "connect_x:5x5x4".
    """
    return usual_name(name).partition(":")[0] in _SHIPPED_FAMILIES


def usual_name(name: str) -> str:
    """Return the usual spelling of a game's name: "othello" for "othello:8".

    Five in a row are the usual length of Gomoku: "gomoku:9x9x5" is "gomoku:9x9".
    """
    name = re.sub(r"^(gomoku:\d+x\d+)x5$", r"\1", name)
    return _SPELLINGS.get(name, name)


def family_of(name: str) -> str:
    """Return a name for all games that differ from a game only in the size of the board.

    It is such as "othello" or "connect_x of length 4", to which Connect Four belongs, for this
    package's games. Other names are returned unchanged.
    """
    first, _, sizes = usual_name(name).partition(":")
    if first not in _USUAL_LENGTHS:
        return first if first in _SHIPPED_FAMILIES else name
    length = re.search(r"x\d+x(\d+)$", sizes)
    first = first.replace("connect_four", "connect_x")
    return f"{first} of length {length[1] if length else _USUAL_LENGTHS[first]}"


def same_game(name: str, stored_name: str, digest: str = "", stored_digest: str = "") -> bool:
    """Return whether a name in a stored file means the same game as the name that the user gave.

    Games with equal digests are the same under any name. Equal names mean the same game even if the
    rules have changed. Paths of game files are resolved before they are compared; if the stored
    path does not exist on this machine, only the file names are compared.

    Args:
        name: the name that the user gave.
        stored_name: the name in the stored file.
        digest, stored_digest: the digests of the two games' rules; "" if unknown, or for games of
            this package.
    """
    name, stored_name = usual_name(name), usual_name(stored_name)
    if name == stored_name or digest and digest == stored_digest:
        return True
    if not (is_game_file(name) and is_game_file(stored_name)):
        return False
    if os.path.isfile(stored_name):  # unlike Path.is_file, it never raises an error
        return Path(name).resolve() == Path(stored_name).resolve()
    file_name, stored_file_name = (re.split(r"[/\\]", path)[-1] for path in (name, stored_name))
    return file_name == stored_file_name


# --- families of games: functions of the whole name and of its part after the colon ---------------


def _connect_x(name: str, sizes: str) -> Game:
    numbers = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})x([0-9]{1,3})", sizes)
    rows, columns, length = map(int, numbers.groups()) if numbers else (0, 0, 0)
    if not (1 <= rows <= 64 and 1 <= columns <= 64 and 2 <= length <= max(rows, columns)):
        allowed = (
            "connect_x:ROWSxCOLUMNSxLENGTH, such as connect_x:5x5x4: rows and columns from 1 to "
            "64, a length from 2 to the longer side of the board"
        )
        raise ConfigError.of("game", name, allowed)
    fits_in_64_bits = (rows + 1) * columns <= 64
    rules = ConnectX if fits_in_64_bits else LargeConnectX
    return CompiledGame(name, rules(rows, columns, length))


def _gomoku(name: str, sizes: str) -> Game:
    numbers = re.fullmatch(r"([0-9]{1,2})x([0-9]{1,2})(?:x([0-9]{1,2}))?", sizes)
    rows, columns, length = map(int, numbers.groups("5")) if numbers else (0, 0, 0)
    if not (3 <= rows <= 19 and 3 <= columns <= 19 and 3 <= length <= max(rows, columns)):
        allowed = (
            "gomoku:ROWSxCOLUMNSxLENGTH, such as gomoku:9x9x5 or gomoku:9x9: rows and columns from "
            "3 to 19, a length from 3 to the longer side of the board, 5 if it is left out"
        )
        raise ConfigError.of("game", name, allowed)
    return CompiledGame(name, Gomoku(rows, columns, length))


def _othello(name: str, size: str) -> Game:
    if size not in ("4", "6", "8", "10", "12", "14", "16"):
        raise ConfigError.of("game", name, "othello:SIZE with an even size from 4 to 16")
    rules = Othello if int(size) <= 8 else LargeOthello
    return CompiledGame(name, rules(int(size)))


def _of_library(name: str, rest: str) -> Game:
    library = name.partition(":")[0]
    return import_module(f"alphazero.own_games.adapters.{library}_game").load_game(rest)


_FAMILIES = {
    "connect_x": _connect_x,
    "gomoku": _gomoku,
    "othello": _othello,
    **dict.fromkeys(("pettingzoo", "open_spiel", "pgx"), _of_library),
}
