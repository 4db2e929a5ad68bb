"""Networks that ship with the program, at most one for each game: the player `best`, who is there without any training.

    checkpoints/best/<game>.safetensors    in a clone; in an installed package the folder is alphazero/best_networks
    checkpoints/best/<game>.md             its card: what it is, how it was made, how strong it is; see `alphazero.evaluation.model_card`

In: the name of a game. Out: a path. `alphazero ship` writes both files.
"""

from pathlib import Path

from alphazero.games.registry import same_game
from alphazero.network.weights import network_game
from alphazero.storage.run_folder import folder_name


def shipped_folder() -> Path:
    """Return the folder of the networks that ship: inside the installed package, or beside it in a clone."""
    inside = Path(__file__).parents[1] / "best_networks"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "checkpoints" / "best"


def shipped_network(game_name: str) -> Path | None:
    """Return the file of the network that ships with a game, None if there is none.

    Raises:
        ValueError: with one plain sentence if there is a file that is no network.
    """
    path = shipped_folder() / f"{folder_name(game_name)}.safetensors"
    # Two games may have the same file name, such as a file of somebody's own and a game of ours: what the network itself says decides.
    return path if path.is_file() and same_game(game_name, network_game(path)) else None


def is_shipped(path: str | Path) -> bool:
    """Return whether a network is one of those that ship."""
    return Path(path).resolve().parent == shipped_folder().resolve()
