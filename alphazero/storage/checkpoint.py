"""Files: a network that carries its game and its shape, and the state of a run. Nothing is ever unpickled, and nothing is ever half written.

Both are safetensors files: arrays, and a JSON text beside them. A file is written under a temporary name, synced, then renamed, so that a
reader sees the old file or the new one and never a part (KataGo's habit).
"""

import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

NETWORK_FORMAT = "alphazero-network-1"


class NetworkFile(NamedTuple):
    """A network as it is stored."""

    arrays: dict[str, np.ndarray]  #: the weights by name
    game: str  #: the game's name, as `alphazero.games.registry.make_game` reads it
    settings: dict  #: the network's settings, see `alphazero.network.network.NetworkSettings`
    info: dict  #: anything else worth knowing: run, iteration, strength


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` so that ``path`` holds either what it held before or all of it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp{os.getpid()}")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def save_network(
    path: Path, arrays: dict[str, np.ndarray], game: str, settings: dict, info: dict
) -> None:
    """Store a network's weights with what is needed to use them."""
    metadata = {
        "format": NETWORK_FORMAT,
        "game": game,
        "network": json.dumps(settings),
        "info": json.dumps(info),
    }
    write_atomically(
        path,
        safetensors.numpy.save(
            {name: np.asarray(array, order="C") for name, array in arrays.items()}, metadata
        ),
    )


def load_network(path: Path) -> NetworkFile:
    """Read a network.

    Raises:
        ValueError: with one plain sentence if the file is missing or is no network of ours.
    """
    metadata, arrays = _read_network(path)
    return NetworkFile(
        arrays, metadata["game"], json.loads(metadata["network"]), json.loads(metadata["info"])
    )


def network_game(path: Path) -> str:
    """Return the name of the game that a stored network plays, without loading its weights; raises ValueError as `load_network`."""
    return _read_network(path, with_arrays=False)[0]["game"]


def network_info(path: Path) -> dict:
    """Return what else a stored network says of itself, without loading its weights; raises ValueError as `load_network`."""
    return json.loads(_read_network(path, with_arrays=False)[0]["info"])


def folder_name(game: str) -> str:
    """Return a game's name as a part of a path: of the folder of its runs, and of the network that ships with it."""
    return Path(game).stem if game.endswith(".py") else game.replace(":", "_")


def find_network(path: str | Path) -> Path:
    """Return the network file that a person means: the file itself, or the newest one of a run's directory.

    Raises:
        ValueError: with one plain sentence if there is none.
    """
    path = Path(path)
    if path.is_file():
        return path
    found = sorted(path.glob("networks/*.safetensors")) or sorted(path.glob("*.safetensors"))
    if not path.exists():
        raise ValueError(f"there is no file or directory '{path}'.")
    if not found:
        raise ValueError(f"'{path}' holds no network (no networks/*.safetensors in it).")
    return found[-1]


def save_state(path: Path, state: dict) -> None:
    """Store a nested dictionary of arrays, numbers, texts, lists and None."""
    arrays: dict[str, np.ndarray] = {}
    plain = _split(state, "", arrays)
    write_atomically(path, safetensors.numpy.save(arrays, {"state": json.dumps(plain)}))


def load_state(path: Path) -> dict:
    """Read what `save_state` stored; raises ValueError with one plain sentence if it cannot be read."""
    metadata, arrays = _read(path)
    if "state" not in metadata:
        raise ValueError(f"'{path}' is not the state of a run.")
    return _join(json.loads(metadata["state"]), arrays)


def _read_network(path, with_arrays: bool = True):
    metadata, arrays = _read(path, with_arrays)
    if metadata.get("format") != NETWORK_FORMAT:
        raise ValueError(
            f"'{path}' is not a network of this program (it lacks the mark '{NETWORK_FORMAT}')."
        )
    return metadata, arrays


def _read(path, with_arrays: bool = True):
    try:
        with safetensors.safe_open(str(path), framework="numpy") as file:
            return file.metadata() or {}, {
                name: file.get_tensor(name) for name in file.keys()
            } if with_arrays else {}
    except FileNotFoundError:
        raise ValueError(f"there is no file '{path}'.") from None
    except (safetensors.SafetensorError, OSError) as error:
        raise ValueError(f"'{path}' cannot be read as a safetensors file ({error}).") from None


def _split(value, name, arrays):
    """Return ``value`` with every array replaced by a mark of its name, and collect the arrays."""
    if isinstance(value, np.ndarray):
        arrays[name] = np.asarray(
            value, order="C"
        )  # ascontiguousarray would give a single number a dimension
        return {"__array__": name}
    if isinstance(value, dict):
        return {str(key): _split(item, f"{name}/{key}", arrays) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_split(item, f"{name}/{index}", arrays) for index, item in enumerate(value)]
    return value.item() if isinstance(value, np.generic) else value


def _join(value, arrays):
    if isinstance(value, dict):
        if set(value) == {"__array__"}:
            return arrays[value["__array__"]]
        return {key: _join(item, arrays) for key, item in value.items()}
    return [_join(item, arrays) for item in value] if isinstance(value, list) else value
