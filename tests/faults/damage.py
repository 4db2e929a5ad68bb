"""Damage to files: [flip, "state.safetensors", 17] flips a bit of that file.

`apply` does a damage to a folder. What it forges has the right checksums.
"""

import json
import os
import pickle
import random
import shutil

import numpy as np

from alphazero.runtime.files import read_safetensors, write_safetensors

#: What takes the place of a file, besides another file.
PLACES = ("empty", "missing", "folder", "pipe", "loop", "text", "zeros")


def apply(folder, damage):
    """Do a damage to a file of ``folder``."""
    do, name, *more = damage
    do(folder / name, *more)


def flips(path, num_header, num_rest):
    """Return flips of a bit of so many bytes of the header, and of others."""
    size = header = path.stat().st_size
    if path.suffix == ".safetensors":
        header = 8 + int.from_bytes(path.read_bytes()[:8], "little")
    draw = random.Random(path.name)
    places = sorted(draw.sample(range(header), min(num_header, header)))
    places += [draw.randrange(header, size) for _ in range(num_rest)] if size > header else []
    return [[flip, path.name, 8 * place + draw.randrange(8)] for place in places]


def cuts(path, number):
    size = path.stat().st_size
    sizes = {0, 1, 7, 8, 9, size - 1, *np.linspace(0, size - 1, number).astype(int).tolist()}
    return [[cut, path.name, one] for one in sorted(sizes) if 0 <= one < size]


def flip(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


def swap(path, other):
    shutil.copyfile(path.parent / other, path)


def write(path, text):
    _remove(path)
    path.write_text(text)


def put(path, place):
    if not path.is_symlink():
        _remove(path)
    if place == "folder":
        path.mkdir()
    elif place == "pipe":
        os.mkfifo(path)
    elif place == "loop":
        path.symlink_to(path.name)
    elif place != "missing":
        texts = {"empty": b"", "text": b"hello, this is text\n" * 9, "zeros": bytes(999)}
        path.write_bytes(texts[place])


def _remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# --- forgery: the checksum is computed again ------------------------------------------------------


def forge(path, key, value):
    """Replace part of a network's metadata."""
    metadata, arrays = read_safetensors(path)
    if isinstance(value, dict):
        value = json.dumps(json.loads(metadata[key]) | value)
    write_safetensors(path, arrays, metadata | {key: value})


class _Canary:
    """What makes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return open, (self.marker, "w")


def pickled(path, marker, protocol):
    path.write_bytes(pickle.dumps(_Canary(marker), protocol))
