"""Files that are damaged are refused in one line.

Bit rot: bits are flipped, files truncated, emptied or missing, or something else lies in their
place. A checksum finds all that, so what is read is what was written, or nothing. Nothing that a
stored file names or holds is ever run, even with the right checksum.
`tests/training/test_damaged_runs.py` resumes damaged runs.
"""

import contextlib
import json
import os
import pickle
import random
import shutil
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from harness import amount, run
from run_samples import TINY
from wrong_inputs import INSIDE

from alphazero.config.settings import from_stored
from alphazero.network.weights import load_network, network_game, network_info
from alphazero.runtime.errors import InputError
from alphazero.runtime.files import read_safetensors, write_safetensors
from alphazero.storage.checkpoint import load_state
from alphazero.storage.run_folder import RunFolder
from alphazero.training.settings import TrainSettings, check_run

pytestmark = pytest.mark.xdist_group("forgery")

STATE = "state.safetensors"
GAMES, NETWORK = "games/000003.safetensors", "networks/000003.safetensors"
SETTINGS = ["pit.every=2", "pit.acceptance=0", "run.num_iterations=3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a run of three iterations."""
    root = tmp_path_factory.mktemp("runs")
    words = ["game=tic_tac_toe", *TINY, *SETTINGS, f"run.root={root}", "run.name=run"]
    run(["train", *words]).assert_ok()
    return root / "tic_tac_toe" / "run"


@contextlib.contextmanager
def damaged(folder, *damages):
    """Yield a copy of a folder after damages: name of a file, what is done to it, arguments."""
    with tempfile.TemporaryDirectory() as parent:
        copy = Path(shutil.copytree(folder, Path(parent) / "game" / "run"))
        try:
            for name, damage, *arguments in damages:
                damage(copy / name, *arguments)
            yield copy
        except BaseException as error:
            error.add_note(f"damaged by {str(damages)[:300]}")
            raise


# --- bit rot --------------------------------------------------------------------------------------


def flip(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def remove(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def replace(path, make):
    remove(path)
    make(path)


#: What takes the place of a file, besides another file.
REPLACEMENTS = {
    "missing": remove,
    "empty": partial(replace, make=Path.touch),
    "folder": partial(replace, make=Path.mkdir),
    "pipe": partial(replace, make=os.mkfifo),
    "loop": partial(replace, make=lambda path: path.symlink_to(path.name)),
    "text": partial(replace, make=lambda path: path.write_text("hello, this is text\n" * 9)),
    "zeros": partial(replace, make=lambda path: path.write_bytes(bytes(999))),
}


def rot(path, name, num_header, num_rest, num_cuts):
    """Return damages of a file: flipped bits of its header and of the rest, and truncations."""
    size = header = path.stat().st_size
    if path.suffix == ".safetensors":
        header = 8 + int.from_bytes(path.read_bytes()[:8], "little")
    draw = random.Random(name)
    places = draw.sample(range(header), min(num_header, header))
    places += [draw.randrange(header, size) for _ in range(num_rest)] if size > header else []
    found = [(name, flip, 8 * place + draw.randrange(8)) for place in places]
    sizes = {0, 1, 7, 8, 9, size - 1, *np.linspace(0, size - 1, num_cuts).astype(int).tolist()}
    return [*found, *((name, os.truncate, one) for one in sorted(sizes) if 0 <= one < size)]


def read_config(path):
    settings = from_stored(TrainSettings, RunFolder(path.parent).read_config(), path)
    check_run(settings)
    return str(settings)


READERS = {
    STATE: load_state,
    GAMES: load_state,
    NETWORK: lambda path: [*load_network(path), network_game(path), network_info(path)],
    "config.yaml": read_config,
}


@pytest.mark.parametrize("name", READERS)
def test_what_a_damaged_file_holds_is_never_believed(name, folder, tmp_path):
    path, read = folder / name, READERS[name]
    if name == "config.yaml":  # it takes some milliseconds to read
        cases = rot(path, path.name, amount(20, 1_500), 0, amount(5, 60))
    else:
        cases = rot(path, path.name, amount(20, 100_000), amount(20, 2_000), amount(10, 300))
        cases += [(path.name, damage) for damage in REPLACEMENTS.values()]
    shutil.copy(path, tmp_path)
    whole, num_refused = repr(read(path)), 0
    for case in cases:
        with damaged(tmp_path, case) as copy:
            try:
                value = repr(read(copy / path.name))
            except InputError as error:
                message = str(error)
                assert path.name in message and "\n" not in message, message
                assert not INSIDE.search(message), message
                num_refused += 1
                continue
            assert path.suffix != ".safetensors"
            # The checksum of a config begins it; without its mark, the text is read as it is.
            assert name != "config.yaml" or value == whole
    assert num_refused


# --- forgery: the checksum is computed again ------------------------------------------------------


def forge(path, key, value):
    """Replace part of a network's metadata."""
    metadata, arrays = read_safetensors(path)
    if isinstance(value, dict):
        value = json.dumps(json.loads(metadata[key]) | value)
    write_safetensors(path, arrays, metadata | {key: value})


class Canary:
    """What makes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return open, (self.marker, "w")


def put_pickle(path, marker):
    path.write_bytes(pickle.dumps(Canary(marker)))


COMMANDS = [
    "train resume={folder} run.num_iterations=4",
    "match game=tic_tac_toe a={folder} b=random num_games=2 num_simulations=2 device=cpu",
    "plot run={folder}",
]


def traps(folder, marker):
    """Return damages that would make the file ``marker`` if anything in them were run."""
    make = f"open({marker!r}, 'w')"
    yaml = (folder / "config.yaml").read_text().partition("\n")[2]  # without the checksum
    apply = f"!!python/object/apply:builtins.open [{marker!r}, w]"
    texts = [
        apply,
        f"{yaml}extra: {apply}\n",
        yaml.replace("kind: resnet", "kind: evil:Network"),
        yaml.replace("name: tic_tac_toe", "name: evil.py"),
        yaml.replace("name: tic_tac_toe", "name: evil:Game"),
        yaml.replace("seed: 0", f"seed: ${{eval:{make}}}"),
    ]
    assert yaml not in texts
    found = [("config.yaml", Path.write_text, text) for text in texts]
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    found += [(path.relative_to(folder).as_posix(), put_pickle, marker) for path in paths]
    return [
        *found,
        (NETWORK, forge, "game", "evil.py"),
        (NETWORK, forge, "game", "evil:Game"),
        (NETWORK, forge, "network", {"kind": "evil:Network"}),
        (NETWORK, forge, "info", {"recipe": [f"$({make})", "evil.py"]}),
    ]


def test_nothing_that_a_stored_file_holds_is_run(folder, tmp_path):
    marker = tmp_path / "it was run"
    code = f"import builtins\nbuiltins.open({str(marker)!r}, 'w')\n\n\nclass Game:\n    pass\n"
    cases = [(trap, command) for trap in traps(folder, str(marker)) for command in COMMANDS]
    for trap, command in cases[:: amount(29, 1)]:
        with damaged(folder, ("evil.py", Path.write_text, code), trap) as copy:
            ended = run(command.format(folder=copy).split(), cwd=copy)
            ended.assert_refused() if ended.status else ended.assert_ok()
    assert not marker.exists()
    put_pickle(tmp_path / "x", str(marker))  # the trap works
    pickle.loads((tmp_path / "x").read_bytes()).close()
    assert marker.exists()
