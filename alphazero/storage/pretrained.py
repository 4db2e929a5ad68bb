"""The networks that ship with the program, used by the player `best`.

    checkpoints/best/<game>.safetensors  in a clone; if installed, in alphazero/best_networks
    checkpoints/best/<game>.md           its model card

This module finds the network of a game: its own or, if there is none, one of windows that knows the
game on another board. `scripts/ship_network.py` writes both files.
"""

import functools
from collections.abc import Iterable
from pathlib import Path

from alphazero.network.weights import NetworkFile, load_network, network_game
from alphazero.network.window_states import has_seen
from alphazero.own_games.registry import family_of, make_game, same_game
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
    for path, network in _of_windows(shipped_folder()).items():
        if knows_board(learned_games(network), game_name):
            return path
    return None


@functools.cache
def _of_windows(folder: Path) -> dict[Path, NetworkFile]:
    """Return the networks of windows, which play boards of several sizes."""
    networks = ((path, load_network(path)) for path in sorted(folder.glob("*.safetensors")))
    return {path: one for path, one in networks if one.settings.get("kind") == "windows"}


def learned_games(network: NetworkFile) -> list[str]:
    """Return the names of the games that a network has learned: boards of one family."""
    return [network.game, *map(str, network.info.get("also", []))]


def knows_board(learned: Iterable[str], game_name: str) -> bool:
    """Return whether a network of windows knows a game from those of its family that it learned.

    Args:
        learned: names of games, perhaps from a stored file. Those of other families are ignored:
            making them may run a file.
        game_name: the name of a game that may be made.
    """
    family, board = family_of(game_name), _board_size(game_name)
    known = [name for name in learned if family_of(name) == family]
    return any(has_seen(_board_size(name), board) for name in known)


def _board_size(game_name: str) -> tuple[int, int]:
    _, rows, columns = make_game(game_name).planes_shape
    return rows, columns


def is_shipped(path: str | Path) -> bool:
    """Return whether a network file is in the folder of the networks that ship with the program."""
    return Path(path).resolve().parent == shipped_folder().resolve()
