"""Load users' code by name, and make sure that workers run the same code as the learner.

A name is ``module:name``, or the name of an entry point.

An installed package declares entry points in its ``pyproject.toml``:

    [project.entry-points."alphazero.games"]
    breakthrough = "my_package.rules:GAME"

Importing a module runs its code, so callers must make sure that the user agrees. A ``module:name``
that comes from a stored file may be imported only if the user has given it too. Entry points need
no permission, because the user has installed their packages.

A game file is sent to workers as text, with the modules from its folder that it imports. A class is
not sent: workers import it by its name.
"""

import functools
import hashlib
import importlib
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically
from alphazero.runtime.jit import make_private, private_folder
from alphazero.runtime.process import version_of
from alphazero.runtime.source_text import read_source, source_files

# The names of the entry-point groups.
GAMES = "alphazero.games"
NETWORKS = "alphazero.networks"
PLAYERS = "alphazero.players"
_PLAIN = (ImportError, AttributeError, SyntaxError)  # errors that are clear without their type
_PACKAGE = Path(__file__).parents[1]
_PYTHON = Path(os.__file__).parent
_LIBRARIES = {"torch", "numpy", "numba"}


def is_module_name(name: str) -> bool:
    """Return whether a name has the form ``module:name``, in which both parts may contain dots.

    A file in the current folder may stand for its module, as in ``rules.py:Game``.
    """
    module, _, attribute = name.partition(":")
    parts = [*module.split("."), *attribute.split(".")]
    return bool(attribute) and all(part.isidentifier() for part in parts)


def announced(group: str) -> dict[str, EntryPoint]:
    """Return {name: entry point} for those that installed packages declare in a group.

    No entry point is loaded, so no code of these packages runs.
    """
    return {entry.name: entry for entry in entry_points(group=group)}


def load_own(name: str, group: str, key: str, others: Sequence[str] = ()) -> Any:
    """Import and return the object that ``module:name`` or an entry point refers to.

    Args:
        name: ``module:name``, or the name of an entry point.
        group: the group in which to look for the entry point, such as "alphazero.games".
        key: the setting that gave the name, for errors.
        others: further values that the setting accepts, such as names of built-in games, listed in
            errors.

    Raises:
        ConfigError: if there is no such module, object or entry point, or the import fails.
    """
    target = name
    if not is_module_name(name):
        entries = announced(group)
        if name not in entries:
            raise ConfigError.of(key, name, [*others, *entries, "module:name"])
        target = entries[name].value.partition("[")[0].strip()
    module_name, _, attribute = target.partition(":")
    if os.getcwd() not in sys.path:  # present with `python -m`, but not in a console command
        sys.path.insert(0, os.getcwd())
    try:
        imported: Any = importlib.import_module(module_name.removesuffix(".py"))
        for part in filter(None, attribute.split(".")):
            imported = getattr(imported, part)
        return imported
    except Exception as error:  # a module may raise anything while it runs
        where = "" if target == name else f"its entry point {target}: "
        raise ConfigError.of(key, name, reason=f"{where}{reason_of(error)}") from error


def reason_of(error: BaseException) -> str:
    """Describe an error in a user's code as a clause such as "KeyError: 3 (my_game.py, line 12)".

    File and line are those of the last frame in the user's code; they are left out if there is none
    or if the message of a syntax error states them already.
    """
    text = " ".join(str(error).split()).rstrip(".")
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    place = ""
    if own and not isinstance(error, SyntaxError):  # its message names the line
        last = own[-1]
        place = f" ({Path(last.filename).name}, line {last.lineno})"
    kind = "" if isinstance(error, _PLAIN) else f"{type(error).__name__}: "
    return f"{kind}{text}{place}"


def _is_own(file: str) -> bool:
    """Return whether a source file is not part of this package, Python or a numeric library."""
    path = Path(file)
    if file.startswith("<") or path.is_relative_to(_PACKAGE) or _LIBRARIES & {*path.parts}:
        return False
    return "site-packages" in path.parts or not path.is_relative_to(_PYTHON)


# --- the learner's code on workers ----------------------------------------------------------------


@functools.lru_cache
def code_version() -> str:
    """Return this program's version and the start of its source code's SHA-256 digest.

    The text, such as "0.1.0 (0b9c4e21aa37)", is equal only for equal source code. The learner
    refuses workers that return a different one.
    """
    digest = hashlib.sha256()
    for source in sorted(_PACKAGE.rglob("*.py")):
        digest.update(source.relative_to(_PACKAGE).as_posix().encode())
        digest.update(source.read_bytes().replace(b"\r\n", b"\n"))
    return f"{version_of('alphazero-selfplay')} ({digest.hexdigest()[:12]})"


def own_files(file: str) -> str:
    """Read a user-defined game file, and the modules from its folder that it imports.

    The learner sends these texts to its workers.

    Returns:
        The texts as a JSON object, keyed by path relative to the game file's folder.
    """
    path = Path(file).resolve()
    return json.dumps(
        {
            source.relative_to(path.parent).as_posix(): read_source(source)
            for source in source_files(path)
            if source.is_relative_to(path.parent)
        }
    )


def file_here(file: str, texts: str) -> str:
    """Return the path of a game file on this machine that is equal to the learner's.

    Unless this machine has identical files at the same path, they are first written to a temporary
    folder. Other users cannot write to that folder, because the files will be run.

    Args:
        file: the game file's path on the learner's machine.
        texts: the texts that `own_files` has returned there.
    """
    if Path(file).is_file() and own_files(file) == texts:
        return file
    digest = hashlib.sha256(texts.encode()).hexdigest()[:12]
    folder = private_folder(Path(tempfile.gettempdir()) / f"alphazero-{digest}")
    for name, text in json.loads(texts).items():
        make_private((folder / name).parent)
        write_atomically(folder / name, text.encode())
    return str(folder / Path(file).name)
