"""Store a run's state, which is nested plain data with numpy arrays, in one file.

In: dictionaries, lists, numbers, strings and arrays. Out: a safetensors file of the arrays, with
JSON text for the rest. Files are written atomically and with a checksum
(`alphazero.runtime.files`); nothing in them is unpickled.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.files import parse_object, read_safetensors, write_safetensors

_ARRAY_KEY = "__array__"  # {_ARRAY_KEY: name} stands for an array in the JSON text


def save_state(path: Path, state: dict, previous: Path | None = None) -> str:
    """Write a nested dictionary atomically; `load_state` reads it.

    Args:
        state: its values may be dictionaries, lists, arrays, numbers, strings and None.
        previous: the path to which the old file is moved, see `write_atomically`.

    Returns:
        The file's checksum.
    """
    arrays: dict[str, np.ndarray] = {}
    plain = _without_arrays(state, "", arrays)
    return write_safetensors(path, arrays, {"state": json.dumps(plain)}, previous)


def load_state(path: Path, digest: str | None = None) -> dict:
    """Read a state that `save_state` stored; tuples come back as lists.

    Args:
        digest: the expected checksum, if known.

    Raises:
        StoredFileError: if the file is missing, damaged, not a state, or not the expected one.
    """
    metadata, arrays = read_safetensors(path, digest)
    if "state" not in metadata:
        raise StoredFileError(f"'{path}' is not the state of a run.", path=path)
    plain = parse_object(metadata["state"], path, "its contents")
    try:
        return _with_arrays(plain, arrays)
    except (KeyError, TypeError, RecursionError):  # a forged file
        message = f"'{path}' is damaged: its arrays are not those of its contents."
        raise StoredFileError(message, path=path) from None


def _without_arrays(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Return ``value`` with references in place of arrays, which are added to ``arrays``."""
    if isinstance(value, np.ndarray):
        # np.ascontiguousarray would give an array without dimensions one dimension.
        arrays[name] = np.asarray(value, order="C")
        return {_ARRAY_KEY: name}
    if isinstance(value, dict):
        plain = {}
        for key, item in value.items():
            plain[str(key)] = _without_arrays(item, f"{name}/{key}", arrays)
        return plain
    if isinstance(value, (list, tuple)):
        items = enumerate(value)
        return [_without_arrays(item, f"{name}/{index}", arrays) for index, item in items]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _with_arrays(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return ``value`` with arrays in place of the references to them."""
    if isinstance(value, dict):
        if set(value) == {_ARRAY_KEY}:
            return arrays[value[_ARRAY_KEY]]
        return {key: _with_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_arrays(item, arrays) for item in value]
    return value
