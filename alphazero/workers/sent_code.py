"""Make sure that workers run the learner's code: this program and a user-defined game.

A game file is sent as text, with the modules from its folder that it imports. A class is not sent:
workers import it by its name, `module:Class`.
"""

import functools
import hashlib
import importlib.util
import json
import socket
import tempfile
from pathlib import Path

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.own_games.checked_game import load_named_game
from alphazero.own_games.game_file import existing
from alphazero.own_games.registry import is_game_file, is_object, make_game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically
from alphazero.runtime.jit import make_private, private_folder
from alphazero.runtime.process import version_of
from alphazero.runtime.source_text import read_source, source_files

_PACKAGE = Path(__file__).parents[1]


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


def own_files(name: str) -> str | None:
    """Read a user-defined game file, and the modules from its folder that it imports.

    The learner sends these texts to its workers.

    Args:
        name: the game's name, which may be the path of a game file.

    Returns:
        The texts as a JSON object, keyed by path relative to the game file's folder; None if
        ``name`` is not the path of a game file.
    """
    if not is_game_file(name):
        return None
    file = existing(name).resolve()
    folder = file.parent
    texts = dict[str, str]()
    for source in source_files(file):
        if source.is_relative_to(folder):
            texts[source.relative_to(folder).as_posix()] = read_source(source)
    return json.dumps(texts)


def why_not_elsewhere(game: Game) -> str | None:
    """Return a clause that says why other processes cannot recreate a game; None if they can."""
    if not is_object(game.name):
        return None
    module = game.name.partition(":")[0]
    remedy = "move its class to a file my_game.py, and import it from there"
    try:
        if module == "__main__" or importlib.util.find_spec(module) is None:
            return f"other processes cannot import '{game.name}'; {remedy}"
        made = load_named_game(game.name)
    except Exception as error:  # a module may do anything
        return f"other processes cannot make '{game.name}' ({error}); {remedy}"
    if not np.array_equal(made.initial_states(), game.initial_states()):
        return f"other processes would play '{game.name}' as it is made without arguments"
    return None


def game_here(name: str, files: str | None, rules_digest: str) -> Game:
    """Recreate the learner's game on a worker's machine.

    Args:
        name: the game's name on the learner's machine.
        files: the files of a user-defined game (see `own_files`); None for other games.
        rules_digest: the digest of the rules on the learner's machine; "" for other games.

    Raises:
        ConfigError: if the game cannot be made, or its rules differ on this machine.
    """
    game = make_game(_name_here(name, files))
    if game.rules_digest != rules_digest:
        allowed = "the version that the learner runs"
        reason = f"its rules are different on this machine ({socket.gethostname()})"
        raise ConfigError.of("game", name, allowed, reason)
    return game


def _name_here(name: str, files: str | None) -> str:
    """Return the name or path from which this machine can make the learner's game.

    Unless this machine has identical files at the same path, the game's files are first written to
    a temporary folder. Other users cannot write to that folder, because the files will be run.

    Args:
        name: the game's name on the learner's machine.
        files: the files of a user-defined game (see `own_files`); None for other games.
    """
    if files is None or Path(name).is_file() and own_files(name) == files:
        return name
    digest = hashlib.sha256(files.encode()).hexdigest()[:12]
    folder = private_folder(Path(tempfile.gettempdir()) / f"alphazero-{digest}")
    for file_name, text in json.loads(files).items():
        path = folder / file_name
        make_private(path.parent)
        write_atomically(path, text.encode())
    return str(folder / Path(name).name)
