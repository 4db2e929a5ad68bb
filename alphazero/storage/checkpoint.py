"""Store the state of a training run, nested data with numpy arrays, in one file.

The state consists of dictionaries, lists, numbers, strings and arrays. It is stored as a
safetensors file of the arrays, with JSON text for everything else. Files are written atomically and
with a checksum (`alphazero.runtime.files`); nothing in them is unpickled.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.files import parse_object, read_safetensors, write_safetensors

_ARRAY_KEY = "__array__"  # {_ARRAY_KEY: name} stands for an array in the JSON text


def save_state(path: Path, state: dict, previous: Path | None = None) -> str:
    """Write a nested dictionary to a file atomically; `load_state` reads it back.

    Args:
        path: the file to write.
        state: its values may be dictionaries, lists, arrays, numbers, strings and None.
        previous: the path to which an existing file is moved first; if None, it is overwritten.

    Returns:
        The file's checksum, a SHA-256 hex digest, with which `load_state` can verify the file.

    Raises:
        OSError: if the file cannot be written.
    """
    arrays: dict[str, np.ndarray] = {}
    plain = _without_arrays(state, "", arrays)
    return write_safetensors(path, arrays, {"state": json.dumps(plain)}, previous)


def load_state(path: Path, digest: str | None = None) -> dict:
    """Read a nested dictionary that `save_state` stored; tuples come back as lists.

    Args:
        path: the file to read.
        digest: the checksum that `save_state` returned for the file; if None, any undamaged file is
            accepted.

    Raises:
        StoredFileError: if the file is missing or damaged, is not a stored state, or has another
            checksum than ``digest``.
    """
    metadata, arrays = read_safetensors(path, digest)
    if "state" not in metadata:
        raise StoredFileError(f"'{path}' is not the state of a run.", path=path)
    plain = parse_object(metadata["state"], path, "its contents")
    return _with_arrays(plain, arrays)


def _without_arrays(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Return a copy of nested data in which each array is replaced by a reference to its name.

    Args:
        value: the nested data.
        name: the path of ``value`` within the whole data, which names its arrays.
        arrays: {name: array}, to which the replaced arrays are added.
    """
    if isinstance(value, np.ndarray):
        # np.ascontiguousarray would give an array without dimensions one dimension.
        arrays[name] = np.asarray(value, order="C")
        return {_ARRAY_KEY: name}
    if isinstance(value, dict):
        items = value.items()
        return {str(key): _without_arrays(item, f"{name}/{key}", arrays) for key, item in items}
    if isinstance(value, (list, tuple)):
        return list(_without_arrays(dict(enumerate(value)), name, arrays).values())
    if isinstance(value, np.generic):
        return value.item()
    return value


def _with_arrays(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return a copy of nested data in which each reference is replaced by the array that it names.

    Args:
        value: nested data that `_without_arrays` returned.
        arrays: {name: array}.

    Raises:
        KeyError: if an array is missing.
    """
    if isinstance(value, dict):
        if set(value) == {_ARRAY_KEY}:
            return arrays[value[_ARRAY_KEY]]
        return {key: _with_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_arrays(item, arrays) for item in value]
    return value
