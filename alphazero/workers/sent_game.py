"""A game that is sent to another machine: its name, and the text of the user's own game file."""

import os
import tempfile
from pathlib import Path

from alphazero.games.registry import is_game_file


def own_file_text(name: str) -> str | None:
    """Return the text of the user's own game file; None for a game of the package."""
    return Path(name).read_text(encoding="utf-8") if is_game_file(name) else None


def name_here(name: str, text: str | None, run: str) -> str:
    """Return the game's name on this machine.

    Args:
        name, text: of the game, see `own_file_text`.
        run: names a temporary folder, to which the file is written unless it is here already.
    """
    if text is None:
        return name
    own = Path(name)
    if own.is_file() and own.read_text(encoding="utf-8") == text:
        return name
    folder = Path(tempfile.gettempdir()) / f"alphazero-{run}"
    folder.mkdir(exist_ok=True)
    path = folder / own.name
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    return str(path)
