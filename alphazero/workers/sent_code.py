"""The code that both sides of a run must share: this program and the user's own game.

A game file is sent as its text. A class is not sent: workers import it by its name, `module:Class`.
"""

import functools
import hashlib
import importlib.metadata
import importlib.util
import socket
import tempfile
from pathlib import Path

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.games.game_file import load_imported_game
from alphazero.games.registry import is_game_file, is_object, make_game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically
from alphazero.runtime.jit import private_folder
from alphazero.runtime.own_code import GAMES, load_own

_PACKAGE = Path(__file__).parents[1]


@functools.lru_cache
def code_version() -> str:
    """Return the version and a digest of all sources; workers of another one are refused."""
    digest = hashlib.sha256()
    for source in sorted(_PACKAGE.rglob("*.py")):
        digest.update(source.relative_to(_PACKAGE).as_posix().encode())
        digest.update(source.read_bytes().replace(b"\r\n", b"\n"))
    return f"{_release()} ({digest.hexdigest()[:12]})"


def _release() -> str:
    try:
        return importlib.metadata.version("alphazero-selfplay")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def own_file_text(name: str) -> str | None:
    """Return the text of the user's own game file; None for a game of the package."""
    return Path(name).read_text(encoding="utf-8") if is_game_file(name) else None


def why_not_elsewhere(game: Game) -> str | None:
    """Return why another process cannot make a game from its name, as a clause; None if it can."""
    if not is_object(game.name):
        return None
    module = game.name.partition(":")[0]
    remedy = "move its class to a file my_game.py, and import it from there"
    if module == "__main__":
        return f"other processes cannot import '{game.name}'; {remedy}"
    try:
        is_found = importlib.util.find_spec(module) is not None
        made = load_imported_game(load_own(game.name, GAMES, "game"), game.name)
    except Exception as error:  # a module may do anything
        return f"other processes cannot make '{game.name}' ({error}); {remedy}"
    if not is_found:
        return f"other processes cannot import '{game.name}'; {remedy}"
    if not np.array_equal(made.initial_states(), game.initial_states()):
        return f"other processes would play '{game.name}' as it is made without arguments"
    return None


def game_here(name: str, text: str | None, rules_digest: str) -> Game:
    """Return the game, made on this machine.

    Args:
        name, text: of the game, see `own_file_text`.
        rules_digest: of the game where it was sent from.

    Raises:
        ConfigError: if its rules are others here.
    """
    game = make_game(_name_here(name, text))
    if game.rules_digest != rules_digest:
        allowed = "the version that the learner runs"
        reason = f"its rules are others on this machine ({socket.gethostname()})"
        raise ConfigError.of("game", name, allowed, reason)
    return game


def _name_here(name: str, text: str | None) -> str:
    """Return the game's name on this machine.

    The file is written to a temporary folder unless it is here already. Other users cannot write
    there: the file is going to be run.

    Args:
        name, text: of the game, see `own_file_text`.
    """
    if text is None:
        return name
    own = Path(name)
    if own.is_file() and own.read_text(encoding="utf-8") == text:
        return name
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    try:
        folder = private_folder(Path(tempfile.gettempdir()) / f"alphazero-{digest}")
    except OSError:  # another user's
        folder = Path(tempfile.mkdtemp(prefix="alphazero-"))
    path = folder / own.name
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text.encode())
    return str(path)
