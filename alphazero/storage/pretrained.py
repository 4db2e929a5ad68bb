"""The networks that ship with the program, used by the player `best`.

    checkpoints/best/<game>.safetensors  in a clone; if installed, in alphazero/best_networks
    checkpoints/best/<game>.md           its model card

This module finds the network of a game: its own or, if there is none, that of another size of the
board, as networks of windows play all sizes. `scripts/ship_network.py` writes both files.
"""

import functools
from pathlib import Path

from alphazero.network.weights import load_network, network_game
from alphazero.own_games.registry import family_of, same_game
from alphazero.storage.run_folder import folder_name


def shipped_folder() -> Path:
    """Return the folder of the networks that ship with the program.

    It is ``best_networks`` in the installed package or, in a clone, ``checkpoints/best``.
    """
    package = Path(__file__).parents[1]
    installed = package / "best_networks"
    return installed if installed.is_dir() else package.parent / "checkpoints" / "best"


def shipped_network(game_name: str) -> Path | None:
    """Return the path of the network that ships with a game, or None if none ships.

    Raises:
        StoredFileError: if there is a file for the game but it is damaged or not a network.
    """
    path = shipped_folder() / f"{folder_name(game_name)}.safetensors"
    # A user's game may share the name of a shipped one, so compare the game named in the network.
    if path.is_file() and same_game(game_name, network_game(path)):
        return path
    return _all_sizes(shipped_folder()).get(family_of(game_name))


@functools.cache
def _all_sizes(folder: Path) -> dict[str, Path]:
    """Return the networks that play boards of every size, by their family of games."""
    networks = {path: load_network(path) for path in sorted(folder.glob("*.safetensors"))}
    return {
        family_of(network.game): path
        for path, network in reversed(networks.items())
        if network.settings.get("kind") == "windows"
    }


def is_shipped(path: str | Path) -> bool:
    """Return whether a network file is in the folder of the networks that ship with the program."""
    return Path(path).resolve().parent == shipped_folder().resolve()
