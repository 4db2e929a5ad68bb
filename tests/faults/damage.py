"""Damage to files, as plain data: ["flip", "state.safetensors", 17] flips a bit of that file.

In: a folder and a damage. Out: the damaged folder.
"""

import json
import os
import pickle
import shutil

import numpy as np

#: What takes the place of a file, besides another file.
PLACES = ("empty", "missing", "folder", "pipe", "loop", "text", "zeros")


def apply(folder, damage):
    """Do a damage to a file of ``folder``."""
    kind, name, *more = damage
    _KINDS[kind](folder / name, *more)


def _flip(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def _cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


def _swap(path, other):
    shutil.copyfile(path.parent / other, path)


def _write(path, text):
    path.parent.mkdir(exist_ok=True)
    _remove(path)
    path.write_text(text)


def _place(path, place):
    if not path.is_symlink():
        _remove(path)
    if place == "empty":
        path.write_bytes(b"")
    elif place == "folder":
        path.mkdir()
    elif place == "pipe":
        os.mkfifo(path)
    elif place == "loop":
        path.symlink_to(path.name)
    elif place == "text":
        path.write_text("hello, this is text\n" * 9)
    elif place == "zeros":
        path.write_bytes(bytes(999))


def _remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# --- forgery: the checksum is computed again ------------------------------------------------------

#: What takes the place of a value: plain data, and changes of arrays.
PLAIN = [None, -1, 0, 2**31, 2**70, float("nan"), 1e300, True, "", "x", [], {}, [1], {"x": 1}]


#: An array of another kind, shape or range. None means that there is no such array.
ARRAYS = {
    "float64": lambda array: array.astype(np.float64),
    "int8": lambda array: array.astype(np.int8),
    "bool": lambda array: array.astype(np.bool_),
    "more dimensions": lambda array: array[None],
    "no dimensions": lambda array: array.reshape(-1)[:1].reshape(()) if array.size else None,
    "nothing": lambda array: array[:0] if array.ndim else None,
    "longer": lambda array: np.concatenate([array, array]) if array.ndim else None,
    "shorter": lambda array: array[:-1] if array.ndim and len(array) else None,
    "zeros": lambda array: np.zeros_like(array),
    "ones": lambda array: np.ones_like(array),
    "minus ones": lambda array: np.full(array.shape, -1).astype(array.dtype),
    "sevens": lambda array: np.full(array.shape, 7).astype(array.dtype),
    "hundreds": lambda array: np.full(array.shape, 100).astype(array.dtype),
    "largest": lambda array: np.full(array.shape, _largest(array.dtype), array.dtype),
    "nan": lambda array: array * np.nan if array.dtype.kind == "f" else None,
    "huge": lambda array: array * array.dtype.type(1e20) if array.dtype.kind == "f" else None,
    "negative": lambda array: -np.abs(array) - 1 if array.dtype.kind == "f" else None,
    "one bit": lambda array: _with_flipped_bit(array) if array.size else None,
}


def _largest(dtype):
    if dtype.kind == "b":
        return True
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max


def _with_flipped_bit(array):
    data = bytearray(array.tobytes())
    data[len(data) // 2] ^= 64
    return np.frombuffer(bytes(data), array.dtype).reshape(array.shape)


def leaves(value, keys=()):
    """Yield the keys of all values of nested data, sections included, and each value."""
    if keys:
        yield list(keys), value
    items = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield from leaves(item, (*keys, key))


def forgeries(name, value):
    """Return a damage for every value that may take the place of one of ``value``.

    Args:
        name: of the file that holds it, see `save_state`.
    """
    found = []
    for keys, old in leaves(value):
        found += [["forge", name, keys, "plain", place] for place in range(len(PLAIN))]
        if isinstance(old, np.ndarray):
            changes = [kind for kind, change in ARRAYS.items() if change(old) is not None]
            found += [["forge", name, keys, "array", kind] for kind in changes]
        else:
            found.append(["forge", name, keys, "array", "new"])
            found.append(["forge", name, keys, "missing", ""])
    return found


def _forge(path, keys, kind, change):
    from alphazero.storage.checkpoint import load_state, save_state

    state = load_state(path)
    place = state
    for key in keys[:-1]:
        place = place[key]
    if kind == "plain":
        place[keys[-1]] = PLAIN[change]
    elif kind == "missing":
        del place[keys[-1]]
    elif change == "new":
        place[keys[-1]] = np.arange(3.0)
    else:
        with np.errstate(all="ignore"):
            place[keys[-1]] = ARRAYS[change](place[keys[-1]])
    digest = save_state(path, state)
    if path.parent.name == "games":
        _name_digest(path, digest)


def _name_digest(path, digest):
    """Let the states of the run of these games name their new checksum."""
    from alphazero.storage.checkpoint import load_state, save_state

    for name in ("state.safetensors", "state.previous.safetensors"):
        file = path.parents[1] / name
        state = load_state(file)
        if str(int(path.stem)) in state["games"]:
            state["games"][str(int(path.stem))]["sha256"] = digest
            save_state(file, state)


def _forge_network(path, key, value):
    """Replace part of a network's metadata, or one of its arrays."""
    from alphazero.runtime.files import read_safetensors, write_safetensors

    metadata, arrays = read_safetensors(path)
    if key == "arrays":
        name, change = value
        with np.errstate(all="ignore"):
            changed = ARRAYS[change](arrays[name])
        arrays = {other: array for other, array in arrays.items() if other != name}
        arrays |= {} if changed is None else {name: changed}
    elif value is None:
        metadata.pop(key, None)
    elif key == "info" or key == "network":
        metadata[key] = json.dumps(json.loads(metadata[key]) | value)
    else:
        metadata[key] = value
    write_safetensors(path, arrays, metadata)


def _set(path, key, value):
    """Replace a setting."""
    from alphazero.config.files import parse_yaml
    from alphazero.runtime.files import read_text, with_checksum

    settings = place = parse_yaml(read_text(path))
    *sections, name = key.split(".")
    for section in sections:
        place = place[section]
    place[name] = value
    path.write_text(with_checksum(json.dumps(settings)))  # JSON is YAML, and NaN is a text


def _metrics(path, key, value):
    """Replace a figure of the newest iteration."""
    *lines, last = path.read_text().splitlines()
    path.write_text("\n".join([*lines, json.dumps(json.loads(last) | {key: value}), ""]))


class Canary:
    """What makes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return open, (self.marker, "w")


def _pickle(path, marker, protocol):
    path.write_bytes(pickle.dumps(Canary(marker), protocol))


_KINDS = {
    "flip": _flip,
    "cut": _cut,
    "swap": _swap,
    "write": _write,
    "place": _place,
    "forge": _forge,
    "forge network": _forge_network,
    "set": _set,
    "metrics": _metrics,
    "pickle": _pickle,
}
