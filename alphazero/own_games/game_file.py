"""The rules that a user names: a game file, ``module:Class``, or an entry point.

In: a name. Out: the object that the file or the module defines, and its game. Loading runs the file
or the module. `GAME` in a file is compiled rules, or a game in plain Python
(`alphazero.own_games.python_game`). `alphazero.own_games.checked_game` checks the rules.
"""

import hashlib
import sys
import types
from pathlib import Path
from typing import Any

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.own_games.python_game import has_python_rules, make_python_game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import GAMES, load_own, reason_of
from alphazero.runtime.source_text import module_file

ALLOWED = "the path of a file that defines GAME, or module:Class, and obeys the laws of games"


def is_game_file(name: str) -> bool:
    """Return whether a game's name is the path of a game file."""
    return name.endswith(".py")


def load_source(name: str) -> Any:
    """Return what a name stands for: compiled rules, an object, or its class.

    Raises:
        ConfigError: if there is no such file, module or name, or it is not a game.
    """
    if is_game_file(name):
        return _run_file(name)
    return made(load_own(name, GAMES, "game"), name)


def made(source: Any, name: str) -> Any:
    """Return the object of a game; a class or a function is called without arguments.

    Raises:
        ConfigError: if it raises an error.
    """
    if not (isinstance(source, type) or callable(source) and not has_python_rules(source)):
        return source
    try:
        return source()
    except ConfigError:
        raise
    except Exception as error:  # of the user's own code
        reason = f"it cannot be made without arguments: {reason_of(error)}"
        raise ConfigError.of("game", name, reason=reason) from error


def game_of(source: Any, name: str) -> Game:
    """Return the game of what `load_source` returns.

    Raises:
        ConfigError: if it is not a game, naming what is missing.
    """
    if is_compiled(source):
        return CompiledGame(name, source)
    source = made(source, name)
    if isinstance(source, Game):
        source.name = name
        return source
    return make_python_game(source, name)


def is_compiled(source: Any) -> bool:
    """Return whether an object holds the sizes of a game with compiled rules."""
    return isinstance(source, tuple) and hasattr(source, "_fields")


def file_of(name: str, source: Any = None) -> Path | None:
    """Return the file of a game; None if it has none, as in a notebook.

    Args:
        source: what `load_source` returns; not needed for a game file.
    """
    if is_game_file(name):
        return existing(name).resolve()
    return module_file(getattr(source, "__module__", ""))


def _run_file(name: str) -> Any:
    """Run a game file and return its `GAME`; without one, its only game in plain Python.

    The name of its module contains a digest of its path and text, so that files of the same name
    are different games. A file edited since the last call runs again, as another module; games made
    earlier keep their rules. A game file can import modules from its folder.
    """
    path = existing(name)
    place, source = path.resolve(), path.read_bytes()
    digest = hashlib.sha256(f"{place}\0".encode() + source).hexdigest()[:16]
    module_name = f"alphazero_game_{place.stem}_{digest}"
    if module_name not in sys.modules:
        if str(place.parent) not in sys.path:
            sys.path.append(str(place.parent))  # last: a file random.py must not hide Python's
        module = types.ModuleType(module_name)
        module.__file__ = str(place)
        sys.modules[module_name] = module  # where its classes are looked up when they are unpickled
        try:
            # The import system would take two texts of the same second and size for the same text.
            exec(compile(source, str(place), "exec"), module.__dict__)
        except BaseException:
            del sys.modules[module_name]
            raise
    module = sys.modules[module_name]
    return module.GAME if hasattr(module, "GAME") else _only_class(module, name)


def _only_class(module: types.ModuleType, name: str) -> type:
    """Return the only class in a file that is a game in plain Python."""
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and has_python_rules(value)
    ]
    if len(found) == 1:
        return found[0]
    message = f"the game file '{Path(name)}' defines no GAME"
    if found:
        names = ", ".join(one.__name__ for one in found)
        message += f" and several classes ({names}): add GAME = {found[-1].__name__}"
    raise refusal(f"{message}.", name)


def existing(name: str) -> Path:
    """Return the path of a game file; raise `ConfigError` if there is none."""
    path = Path(name)
    if not path.is_file():
        raise refusal(f"there is no game file '{path}'.", name)
    return path


def refusal(message: str, name: str) -> ConfigError:
    """Return the error that refuses a game."""
    return ConfigError(message, key="game", value=name, allowed=ALLOWED)
