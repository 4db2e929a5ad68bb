"""The games, by name: `make_game("connect_four")`, `"connect_x:5x5x4"`, `"othello:6"`, or a file of your own, `"examples/nim.py"`."""

import hashlib
import re
import sys
import types
from pathlib import Path

from alphazero.games.batched_game import CompiledGame, Game, Transition

__all__ = ["CompiledGame", "Game", "Transition", "game_names", "make_game"]

_NAMES = (
    "tic_tac_toe",
    "connect_four",
    "connect_x:ROWSxCOLUMNSxLENGTH",
    "othello",
    "othello:6",
    "othello:4",
    "PATH/TO/YOUR_GAME.py",
    "pettingzoo:connect_four_v3",
)


def game_names() -> tuple[str, ...]:
    """Return the names that `make_game` understands, as a person would read them."""
    return _NAMES


def make_game(name: str) -> Game:
    """Return the game called ``name``.

    Raises:
        ValueError: with one plain sentence if there is no such game or its sizes are impossible.
    """
    if name.endswith(".py"):
        return _load_game_file(Path(name))
    if name == "tic_tac_toe":
        from alphazero.games.tic_tac_toe import TicTacToe

        return CompiledGame(name, TicTacToe(3))
    if name == "connect_four":
        return _connect_x(name, 6, 7, 4)
    if match := re.fullmatch(r"connect_x:(\d{1,3})x(\d{1,3})x(\d{1,3})", name):
        return _connect_x(name, *map(int, match.groups()))
    if match := re.fullmatch(r"othello(?::(\d{1,3}))?", name):
        return _othello(name, int(match[1] or 8))
    if name.startswith("pettingzoo:"):
        from alphazero.games.pettingzoo_game import make_pettingzoo_game

        return make_pettingzoo_game(name.removeprefix("pettingzoo:"))
    raise ValueError(f"there is no game '{name}'; there are: {', '.join(_NAMES)}.")


def _connect_x(name: str, rows: int, columns: int, length: int) -> CompiledGame:
    if not (1 <= rows <= 64 and 1 <= columns <= 64 and 2 <= length <= max(rows, columns)):
        raise ValueError(
            f"'{name}' is impossible: rows and columns go from 1 to 64, and the length to win from 2 to the longer side of the board."
        )
    if (rows + 1) * columns <= 64:
        from alphazero.games.connect_x import ConnectX as Board
    else:
        from alphazero.games.connect_x_large import LargeConnectX as Board

    return CompiledGame(name, Board(rows, columns, length))


def _othello(name: str, size: int) -> CompiledGame:
    from alphazero.games.othello import Othello

    if size not in (4, 6, 8):
        raise ValueError(
            f"'{name}' is impossible: the board of Othello has a side of 4, 6 or 8 here."
        )
    return CompiledGame(name, Othello(size))


def _load_game_file(path: Path) -> CompiledGame:
    """Run a user's game file, which holds the sizes of its game as `GAME`, and return the game.

    The file's path and text name its module, so files of the same name do not meet. A file that is
    edited while the process lives is run again by the next call, as a module of its own; games that
    were made before the edit keep the rules they were made with.
    """
    if not path.is_file():
        raise ValueError(f"there is no game file '{path}'.")
    place, source = path.resolve(), path.read_bytes()
    digest = hashlib.sha256(f"{place}\0".encode() + source).hexdigest()[:16]
    module_name = f"alphazero_game_{place.stem}_{digest}"
    if module_name not in sys.modules:
        module = types.ModuleType(module_name)
        module.__file__ = str(place)
        sys.modules[module_name] = module  # where its classes are looked up when they are unpickled
        try:
            # The import system would take two texts of the same second and size for the same text.
            exec(compile(source, str(place), "exec"), module.__dict__)
        except BaseException:
            del sys.modules[module_name]
            raise
    if not hasattr(sys.modules[module_name], "GAME"):
        raise ValueError(
            f"the game file '{path}' defines no GAME, the NamedTuple of its sizes (docs/ADD_A_GAME.md)."
        )
    return CompiledGame(str(path), sys.modules[module_name].GAME)
