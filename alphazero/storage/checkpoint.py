"""Files: a network that carries its game and its shape, and the state of a run. Nothing is ever unpickled, and nothing is ever half written.

Both are safetensors files: arrays, and a JSON text beside them. A file is written under a temporary name, synced, then renamed, so that a
reader sees the old file or the new one and never a part (KataGo's habit).
"""

import json
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from alphazero.runtime.files import read_safetensors, write_atomically


def save_state(path: Path, state: dict) -> None:
    """Store a nested dictionary of arrays, numbers, texts, lists and None."""
    arrays: dict[str, np.ndarray] = {}
    plain = _split(state, "", arrays)
    write_atomically(path, safetensors.numpy.save(arrays, {"state": json.dumps(plain)}))


def load_state(path: Path) -> dict:
    """Read what `save_state` stored; raises ValueError with one plain sentence if it cannot be read."""
    metadata, arrays = read_safetensors(path)
    if "state" not in metadata:
        raise ValueError(f"'{path}' is not the state of a run.")
    return _join(json.loads(metadata["state"]), arrays)


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
