"""Load a user's game, named as the path of a game file, ``module:Class``, or an entry point.

Loading runs the file or imports the module. A game file sets the variable `GAME` to compiled rules
or to a game in plain Python (`alphazero.own_games.python_game`). This module does not check whether
the rules obey the laws of games: `alphazero.own_games.checked_game` does that.
"""

import hashlib
import re
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
    """Return whether a game's name ends in ".py", which marks it as the path of a game file."""
    return name.endswith(".py")


def load_source(name: str) -> Any:
    """Run the file or import the module that a game's name refers to, and return its rules.

    Args:
        name: the path of a game file, ``module:Class``, or the name of an entry point.

    Returns:
        The NamedTuple of compiled rules, or the object or class of a game in plain Python;
        `game_of` makes a `Game` from either.

    Raises:
        ConfigError: if there is no such file, module or class, the import fails, or the file
            defines no game.
        Exception: any error that a game file raises while it runs.
    """
    if is_game_file(name):
        return _run_file(name)
    return made(load_own(name, GAMES, "game"), name)


def made(source: Any, name: str) -> Any:
    """Call a game's class or factory function without arguments, and return the game object.

    Args:
        source: the class or function; any other object is returned unchanged.
        name: the game's name, for the error message.

    Raises:
        ConfigError: if the call raises an error.
    """
    is_object = not callable(source) or has_python_rules(source)
    if is_object and not isinstance(source, type):
        return source
    try:
        return source()
    except ConfigError:
        raise
    except Exception as error:  # raised by the user's own code
        reason = f"it cannot be made without arguments: {reason_of(error)}"
        raise ConfigError.of("game", name, reason=reason) from error


def game_of(source: Any, name: str) -> Game:
    """Make the `Game` that compiled rules, a Python object or its class define.

    Args:
        source: a NamedTuple of compiled rules, a `Game`, an object that
            `alphazero.own_games.python_game` accepts, or a class or function that makes one.
        name: the name to give the game.

    Raises:
        ConfigError: if ``source`` does not define a game; the message names what is missing.
    """
    if is_compiled(source):
        return CompiledGame(name, source)
    source = made(source, name)
    if isinstance(source, Game):
        source.name = name
        return source
    return make_python_game(source, name)


def is_compiled(source: Any) -> bool:
    """Return whether an object is a NamedTuple, the form in which compiled rules are given."""
    return isinstance(source, tuple) and hasattr(source, "_fields")


def file_of(name: str, source: Any) -> Path | None:
    """Return the path of the file that defines a game; None if no file does.

    A class in a notebook, for example, has no file.

    Args:
        name: the game's name.
        source: what `load_source` returned for ``name``; not used for a game file.

    Raises:
        ConfigError: if ``name`` is the path of a game file that does not exist.
    """
    if is_game_file(name):
        return existing(name).resolve()
    return module_file(getattr(source, "__module__", ""))


def _run_file(name: str) -> Any:
    """Run a game file and return its `GAME` or, if it sets none, the only game class it defines.

    The module's name contains a digest of the file's path and text, so that files of the same name
    are different games. A file edited since the last call runs again under a new module name; games
    made earlier keep their rules. A game file can import modules from its folder.

    Raises:
        ConfigError: if there is no such file, or it sets no `GAME` and defines no game class or
            several.
        Exception: any error that the file raises while it runs.
    """
    path = existing(name)
    place = path.resolve()
    file = str(place)
    folder = str(place.parent)
    source = path.read_bytes()
    digest = hashlib.sha256(repr(file).encode() + source).hexdigest()[:16]
    module_name = f"alphazero_game_{place.stem}_{digest}"
    if module_name not in sys.modules:
        if folder not in sys.path:
            sys.path.append(folder)  # last: a random.py there must not hide Python's
        module = types.ModuleType(module_name)
        module.__file__ = file
        sys.modules[module_name] = module  # where pickle looks up its classes
        try:
            # The import system confuses versions of equal size that were saved in the same second.
            exec(compile(source, file, "exec"), module.__dict__)
        except BaseException:
            del sys.modules[module_name]
            raise
    module = sys.modules[module_name]
    if hasattr(module, "GAME"):
        return module.GAME
    return _only_class(module, name)


def _only_class(module: types.ModuleType, name: str) -> type:
    """Return the only class in a game file that has the methods of a game in plain Python.

    Args:
        module: the executed game file.
        name: the path of the file, for the error message.

    Raises:
        ConfigError: if there is no such class, or more than one.
    """
    values = [value for value in vars(module).values() if isinstance(value, type)]
    own = [value for value in values if value.__module__ == module.__name__]
    classes = list(filter(has_python_rules, own))
    if len(classes) == 1:
        return classes[0]
    methods = "nor one class with the methods of a game: add GAME = ..."
    raise refusal(f"the game file '{name}' defines no GAME, {methods}.", name)


def existing(name: str) -> Path:
    """Convert a game file's name to its path, after checking that the file exists.

    Raises:
        ConfigError: if there is no such file, or its name is not UTF-8: networks, runs and the page
            could not hold it.
    """
    if re.search("[\udc80-\udcff]", name):  # bytes that are not UTF-8, as Python reads them
        raise refusal(f"game={name} is not UTF-8: rename a folder, or call this inside.", name)
    path = Path(name)
    if not path.is_file():
        raise refusal(f"there is no game file '{path}'.", name)
    return path


def refusal(message: str, name: str) -> ConfigError:
    """Return the error to raise for a game file that cannot be used.

    Args:
        message: the whole text of the error.
        name: the path of the file as the user gave it.
    """
    return ConfigError(message, key="game", value=name, allowed=ALLOWED)
