"""Reads and writes network files: safetensors files with the weights and metadata.

The metadata are the game's name, the network's settings, and information such as the iteration.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alphazero.runtime.errors import InputError, StoredFileError
from alphazero.runtime.files import parse_object, read_safetensors, write_safetensors

if TYPE_CHECKING:  # importing torch takes a second, which reading metadata must not
    import torch

NETWORK_FORMAT = "alphazero-network-2"

#: The required types of the entries of `NetworkFile.info` that this program uses.
_TYPES_OF_INFO: dict[str, Any] = {
    "settings": dict,
    "strength": dict,
    "exact": dict,
    "proof": dict,
    "recipe": list,
    "also": list,
    "iteration": int,
    "elapsed_s": (int, float),
    "rules_digest": str,
}


class NetworkFile(NamedTuple):
    """A network file read into memory: weights, game, settings and further information."""

    arrays: dict[str, np.ndarray]  #: weights and normalization statistics by name
    game: str  #: the game's name, see `alphazero.own_games.registry.make_game`
    settings: dict  #: `alphazero.network.interface.NetworkSettings` as a dict
    #: further data, such as the run's name, the iteration, the strength, and the
    #: `Game.rules_digest` of a user-defined game
    info: dict


def save_network(
    path: Path, arrays: dict[str, np.ndarray], game: str, settings: dict, info: dict
) -> None:
    """Write a network file: the weights, and the game, settings and information as metadata.

    Args:
        path: the file to write.
        arrays, game, settings, info: the fields of `NetworkFile`; ``settings`` and ``info`` are
            stored as JSON.
    """
    metadata = {
        "format": NETWORK_FORMAT,
        "game": game,
        "network": json.dumps(settings),
        "info": json.dumps(info),
    }
    write_safetensors(path, arrays, metadata)


def load_network(path: Path) -> NetworkFile:
    """Read a network file.

    Raises:
        StoredFileError: if the file is missing, damaged or not a network.
    """
    metadata, arrays = _read_network(path)
    settings = parse_object(metadata.get("network"), path, "the settings of its network")
    info = _info(metadata, path)
    return NetworkFile(arrays, metadata["game"], settings, info)


def network_game(path: Path) -> str:
    """Return the name of the game that a network file is for.

    Raises:
        StoredFileError: if the file is missing, damaged or not a network.
    """
    metadata, _ = _read_network(path)
    return metadata["game"]


def network_info(path: Path) -> dict:
    """Return the information stored in a network file, such as its iteration and its strength.

    The entries are those of `NetworkFile.info`. The weights are not checked.

    Raises:
        StoredFileError: if the file is missing, damaged or not a network, or an entry has the wrong
            type.
    """
    metadata, _ = _read_network(path)
    return _info(metadata, path)


def network_arrays(network: "torch.nn.Module") -> dict[str, np.ndarray]:
    """Copy a network's weights and buffers to arrays, as {name: array}.

    Further training does not change the copies.
    """
    return {
        name: tensor.detach().cpu().contiguous().numpy().copy()
        for name, tensor in network.state_dict().items()
    }


def load_arrays(network: "torch.nn.Module", arrays: dict[str, np.ndarray]) -> None:
    """Copy stored weights into ``network``, in place.

    Args:
        network: the network whose weights are replaced.
        arrays: weights and buffers by name, as returned by `network_arrays`.

    Raises:
        InputError: if a weight or buffer is missing, unknown or of the wrong shape.
    """
    import torch

    wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    stored = {name: np.shape(array) for name, array in arrays.items()}
    for name in sorted(wanted | stored):
        if stored.get(name) != wanted.get(name):
            raise InputError(
                f"the weights do not fit the network: '{name}' is {_shape_text(stored.get(name))}, "
                f"where the network has {_shape_text(wanted.get(name))}."
            )
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
    network.load_state_dict(tensors)


def copy_weights(source: "torch.nn.Module", target: "torch.nn.Module") -> None:
    """Copy parameters and buffers from one network to another of the same architecture, in place.

    Compiled code and captured CUDA graphs that use ``target`` therefore stay valid. This package's
    networks have no buffers once they are folded; a user-defined network may have some.

    Args:
        source: the network to copy from.
        target: the network whose weights are replaced.
    """
    old_tensors = target.state_dict().values()
    new_tensors = source.state_dict().values()
    for old, new in zip(old_tensors, new_tensors):
        old.copy_(new)


def _shape_text(shape: tuple | None) -> str:
    return "missing" if shape is None else f"[{', '.join(map(str, shape))}]"


def _info(metadata: dict[str, str], path: Path) -> dict:
    """Parse `NetworkFile.info` from a file's metadata and check the types of its entries.

    Raises:
        StoredFileError: if the metadata is damaged or an entry has the wrong type.
    """
    info = parse_object(metadata.get("info"), path, "the facts about its network")
    for name, kind in _TYPES_OF_INFO.items():
        if name in info and not isinstance(info[name], kind):
            raise StoredFileError(
                f"'{path}' is damaged: the facts about its network have an impossible {name}.",
                path=path,
            )
    return info


def _read_network(path: Path) -> tuple[dict, dict]:
    """Read a network file; return its metadata and its arrays, each by name.

    Raises:
        StoredFileError: if the file is missing or damaged, has another format or does not name its
            game.
    """
    metadata, arrays = read_safetensors(path)
    if metadata.get("format") != NETWORK_FORMAT:
        raise StoredFileError(
            f"'{path}' is not a network of this program: its format is not '{NETWORK_FORMAT}'.",
            path=path,
        )
    if not metadata.get("game"):
        raise StoredFileError(f"'{path}' is damaged: it does not name its game.", path=path)
    return metadata, arrays
