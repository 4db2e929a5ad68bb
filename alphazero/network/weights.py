"""Stored networks: the weights with the game and the shape they belong to, in one safetensors file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.files import read_safetensors, write_atomically
from alphazero.runtime.stored_names import (
    SHAPES_OF_STORED_NETWORKS,
    check_stored_settings,
    current_metrics,
    current_overrides,
    current_settings,
    current_weights,
)

if TYPE_CHECKING:  # reading a network's metadata must not take the second that torch needs to load
    import torch

NETWORK_FORMAT = "alphazero-network-1"


class NetworkFile(NamedTuple):
    """A network as it is stored."""

    arrays: dict[str, np.ndarray]  #: the weights by name
    game: str  #: the game's name, as `alphazero.games.registry.make_game` reads it
    settings: dict  #: the network's settings, see `alphazero.network.interface.NetworkSettings`
    info: dict  #: anything else worth knowing: run, iteration, strength


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
    """Read a network of this version or an earlier one.

    Returns:
        The network, without the settings and weights that were removed since it was stored.

    Raises:
        StoredFileError: if the network depends on a setting that was removed.
        ValueError: if the file is missing or is no network of ours.
    """
    metadata, arrays = _read_network(path)
    settings = json.loads(metadata["network"])
    check_stored_settings(settings, path, "network.", SHAPES_OF_STORED_NETWORKS)
    settings = current_settings(settings, "network.")
    info = _current_info(metadata["info"])
    return NetworkFile(current_weights(arrays), metadata["game"], settings, info)


def network_game(path: Path) -> str:
    """Return the name of the game that a stored network plays, without loading its weights; raises ValueError as `load_network`."""
    return _read_network(path, with_arrays=False)[0]["game"]


def network_info(path: Path) -> dict:
    """Return what else a stored network says of itself, without loading its weights; raises ValueError as `load_network`."""
    return _current_info(_read_network(path, with_arrays=False)[0]["info"])


def _current_info(text: str) -> dict:
    """Return what a network says of itself under today's names."""
    info = json.loads(text)
    if "settings" in info:
        info["settings"] = current_settings(info["settings"])
    for section in {"exact", "proof"} & info.keys():
        info[section] = current_metrics(info[section], f"{section}.")
    if "recipe" in info:
        info["recipe"] = current_overrides(info["recipe"])
    return info


def _read_network(path, with_arrays: bool = True):
    metadata, arrays = read_safetensors(path, with_arrays)
    if metadata.get("format") != NETWORK_FORMAT:
        raise StoredFileError(
            f"'{path}' is not a network of this program (it lacks the mark '{NETWORK_FORMAT}').",
            path=path,
        )
    return metadata, arrays


def network_arrays(network: "torch.nn.Module") -> dict[str, np.ndarray]:
    """Return copies of the weights by name as numpy arrays; without the copy, arrays of a network on the CPU would follow its further learning."""
    return {
        name: tensor.detach().cpu().contiguous().numpy().copy()
        for name, tensor in network.state_dict().items()
    }


def load_arrays(network: "torch.nn.Module", arrays: dict[str, np.ndarray]) -> None:
    """Copy weights by name into ``network``; raises ValueError if names or shapes do not fit."""
    import torch

    try:
        network.load_state_dict(
            {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
        )
    except RuntimeError as error:
        raise ValueError(
            f"these weights do not fit this network: {str(error).splitlines()[-1].strip()}."
        ) from None
