"""Files that hold the wrong thing: the error names the file and the fault, in words of ours.

`tests/faults/test_forgery.py` flips their bits, truncates and replaces them.
"""

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest
from network_samples import SMALL, small_network

from alphazero.cli import main
from alphazero.evaluation.exact.set_file import read_set, shipped_path
from alphazero.evaluation.ratings import RatingFile
from alphazero.network.weights import load_network, network_arrays, network_game, network_info
from alphazero.own_games.registry import make_game
from alphazero.players.network import load_network_player
from alphazero.runtime.errors import InputError, StoredFileError
from alphazero.runtime.files import write_safetensors
from alphazero.storage.checkpoint import load_state
from alphazero.storage.run_folder import STATE_FILE, RunFolder

GAME = make_game("tic_tac_toe")
METADATA = dict(format="alphazero-network-2", game="tic_tac_toe", network=json.dumps(SMALL))
METADATA["info"] = "{}"
#: What no message says: names of Python's types and of parsers' tokens.
INSIDE = "NoneType,object,codec,Expecting,os error,EOF,Errno,node,KeyError".split(",")


def write_network(path, arrays=None, **changes):
    """Write a network; a change to None leaves that part of the metadata out."""
    metadata = {key: text for key, text in (METADATA | changes).items() if text is not None}
    arrays = network_arrays(small_network(GAME)) if arrays is None else arrays
    write_safetensors(path, arrays, metadata)
    return path


@contextlib.contextmanager
def refused_by(path):
    """Assert that a file is refused by its path, in a sentence of ours."""
    with pytest.raises(StoredFileError) as refused:
        yield
    message = str(refused.value)
    assert refused.value.path == path and str(path) in message
    message = message.replace("JSON object", "")
    assert not any(word in message for word in INSIDE), message
    assert "\n" not in message and message.endswith("."), message


WRONG_METADATA = [("network", None), ("network", "{"), ("network", "[1]"), ("game", None)]
WRONG_METADATA += [("game", ""), ("info", None), ("info", "[]"), ("info", '{"settings": 5}')]


@pytest.mark.parametrize("key, value", [*WRONG_METADATA, ("info", '{"iteration": "x"}')])
def test_a_network_whose_metadata_are_wrong_is_refused_by_its_path(key, value, tmp_path):
    path = write_network(tmp_path / "x.safetensors", **{key: value})
    with refused_by(path):
        load_network(path)
        network_info(path)
        network_game(path)


CHANGES = {
    "not finite": lambda array: array * np.float32(np.nan),
    "another shape": lambda array: array[None],
    "missing": lambda array: None,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_weights_that_cannot_play_are_refused_by_the_path_of_their_file(change, tmp_path):
    arrays = network_arrays(small_network(GAME))
    name = sorted(arrays)[0]
    changed = change(arrays.pop(name))
    if changed is not None:
        arrays[name] = changed
    path = write_network(tmp_path / "x.safetensors", arrays)
    with refused_by(path):
        load_network_player(GAME, path)


def test_a_network_of_an_enormous_size_is_refused_before_it_is_made(tmp_path):
    path = write_network(tmp_path / "x.safetensors", network=json.dumps(SMALL | {"blocks": 10**9}))
    with pytest.raises(InputError):
        load_network_player(GAME, path)


NO_CONFIGS = [None, "", "- 1\n", "a: [1,\nb: }", "a: [1, 2", "{a: &x 1, b: *y}", "a: ${", "\0"]
NO_CONFIGS += ["game: null\n", "seed: 5\n", "game:\n  name: 5\n"]


@pytest.mark.parametrize("text", NO_CONFIGS)
def test_a_config_that_is_no_config_of_a_run_is_refused_by_its_path(text, tmp_path):
    folder = RunFolder(tmp_path)
    if text is not None:
        folder.config.write_text(text)
    with refused_by(folder.config):
        folder.read_config()


def test_lines_of_metrics_that_are_no_metrics_are_left_out(tmp_path):
    folder = RunFolder(tmp_path)
    with pytest.raises(StoredFileError):  # there are none yet
        folder.read_metrics()
    first = '{"iteration": 1, "elapsed_s": 1.5, "held_out.loss": 2.5}'
    last = '{"iteration": 7, "elapsed_s": 9}'
    strange = ["[1]", "null", '"a"', '{"a": 1}', '{"iteration": "x", "elapsed_s": 2}']
    strange += ['{"iteration": 2, "elapsed_s": "3"}', '{"iteration": 2, "elapsed_s": NaN}']
    folder.metrics.write_text("\n".join([first, *strange, last, '{"iterat']))
    assert folder.read_metrics() == [json.loads(first), json.loads(last)]
    for contents in (b"", b'{"iterat', b"\xff\xfe"):
        folder.metrics.write_bytes(contents)
        with refused_by(folder.metrics):
            folder.read_metrics()


@pytest.mark.parametrize("state", ["{", "[]"])
def test_a_state_that_is_damaged_inside_is_refused_by_its_path(state, tmp_path):
    path = tmp_path / STATE_FILE
    write_safetensors(path, {"x": np.zeros(1)}, {"state": state})
    with refused_by(path):
        load_state(path)


RATINGS = {"format": "alphazero-ratings-1", "game": "tic_tac_toe", "opening_plies": 4}
NO_RATINGS = ["", "{", "null", '{"format": "other"}', json.dumps(RATINGS)]
NO_RATINGS += [json.dumps(RATINGS | {"networks": {"a": 5}, "matches": []})]
NO_RATINGS += [json.dumps(RATINGS | {"networks": {}, "matches": [5]})]


@pytest.mark.parametrize("text", NO_RATINGS)
def test_ratings_that_are_none_are_refused_by_their_path(text, tmp_path):
    path = tmp_path / "ratings.json"
    path.write_text(text)
    with refused_by(path):
        RatingFile.open(path, "tic_tac_toe", 4)


# --- files to write -------------------------------------------------------------------------------


def places_that_cannot_be_written(folder):
    file = folder / "file.json"
    file.write_text("kept")
    return {
        "no folder": folder / "missing" / "x.json",
        "a folder": folder,
        "below a file": file / "x.json",
        "a system folder": Path("/proc/x"),
    }


@pytest.mark.parametrize("kind", ["no folder", "a folder", "below a file", "a system folder"])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    kind, tmp_path, capsys, monkeypatch
):
    def work(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr("alphazero.cli.match.Match", work)
    place = str(places_that_cannot_be_written(tmp_path)[kind])
    words = f"match game=tic_tac_toe a=random b=random num_games=2 json={place}"
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert place in error and error.count("\n") == 1


def test_a_text_with_a_checksum_is_read_as_it_was_stored_or_not_at_all(tmp_path):
    path = tmp_path / "set.csv"
    text = shipped_path("connect_four").read_text()
    line, _, body = text.partition("\n")
    assert line.startswith("# sha256: ")
    path.write_text(text)
    assert read_set(path, make_game("connect_four")).game_name == "connect_four"
    path.write_text(text.replace(":1 ", ":2 ", 1))
    with refused_by(path):
        read_set(path, make_game("connect_four"))
    path.write_text(body.replace(":1 ", ":2 ", 1))  # edited by someone who means it
    read_set(path, make_game("connect_four"))
