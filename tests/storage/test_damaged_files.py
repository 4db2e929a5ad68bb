"""Files that are damaged, empty or of another kind: the error names the file and the fault.

Every case here once ended in a traceback, or in the words of a parser about its own inside.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from network_samples import SMALL, small_network

from alphazero.cli import main
from alphazero.evaluation.exact.set_file import read_set, shipped_path
from alphazero.evaluation.ratings import RatingFile
from alphazero.network.weights import load_network, network_arrays, network_game, network_info
from alphazero.own_games.registry import make_game
from alphazero.play.json_engine import Engine
from alphazero.players.network import load_network_player
from alphazero.plots.run import draw_run
from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.files import check_output, read_text, write_safetensors
from alphazero.storage.checkpoint import load_state
from alphazero.storage.run_folder import STATE_FILE, RunFolder, find_network

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


def assert_plain(message):
    assert not any(word in message for word in INSIDE), message
    assert message.endswith("."), message


@pytest.mark.parametrize(
    "changes",
    [
        dict(network=None),
        dict(network="{"),
        dict(network="[1]"),
        dict(info=None),
        dict(info="{"),
        dict(info="[]"),
        dict(info='{"settings": 5}'),
        dict(info='{"iteration": "x"}'),
        dict(game=None),
        dict(game=""),
    ],
    ids=str,
)
def test_a_network_whose_metadata_are_wrong_is_refused_by_its_path(changes, tmp_path):
    path = write_network(tmp_path / "x.safetensors", **changes)
    with pytest.raises(StoredFileError) as refused:
        load_network(path)
        network_info(path)
        network_game(path)
    assert refused.value.path == path
    assert str(path) in str(refused.value)
    assert_plain(str(refused.value).replace("JSON object", ""))


def arrays_with(change):
    arrays = network_arrays(small_network(GAME))
    name = sorted(arrays)[0]
    return arrays | {name: change(arrays[name])}


@pytest.mark.parametrize(
    "arrays",
    [
        arrays_with(lambda array: array * np.float32(np.nan)),
        arrays_with(lambda array: array[None]),
        {},
    ],
    ids=["not finite", "another shape", "no weights"],
)
def test_weights_that_cannot_play_are_refused_by_the_path_of_their_file(arrays, tmp_path):
    path = write_network(tmp_path / "x.safetensors", arrays)
    with pytest.raises(StoredFileError) as refused:
        load_network_player(GAME, path)
    assert refused.value.path == path
    assert "state_dict" not in str(refused.value)


def cut_in_half(path):
    data = write_network(path).read_bytes()
    path.write_bytes(data[: len(data) // 2])


DAMAGED = {
    "missing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_bytes(b"hello, this is text\n" * 9),
    "zeros": lambda path: path.write_bytes(b"\x10" + b"\0" * 99),
    "truncated": cut_in_half,
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("read", (load_network, load_state, network_game))
def test_a_file_that_is_no_safetensors_file_is_refused_without_the_parsers_words(
    read, damage, tmp_path
):
    path = tmp_path / "x.safetensors"
    damage(path)
    with pytest.raises(StoredFileError) as refused:
        read(path)
    assert refused.value.path == path and "\n" not in str(refused.value)
    assert_plain(str(refused.value))


def test_a_folder_and_a_missing_file_are_told_apart(tmp_path):
    messages = []
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(StoredFileError) as refused:
            read_text(path)
        assert_plain(str(refused.value))
        messages.append(str(refused.value).replace(str(path), ""))
    assert messages[0] != messages[1]


def test_the_state_of_a_run_is_no_network(tmp_path):
    write_network(tmp_path / STATE_FILE)
    with pytest.raises(StoredFileError):
        find_network(tmp_path)


NO_CONFIGS = [None, "", "- 1\n", "a: [1,\nb: }", "a: [1, 2", "{a: &x 1, b: *y}", "a: ${", "\0"]
NO_CONFIGS += ["game: null\n", "seed: 5\n", "game:\n  name: 5\n"]


@pytest.mark.parametrize("text", NO_CONFIGS)
def test_a_config_that_is_no_config_of_a_run_is_refused_by_its_path(text, tmp_path):
    folder = RunFolder(tmp_path)
    if text is not None:
        folder.config.write_text(text)
    with pytest.raises(StoredFileError) as refused:
        folder.read_config()
    assert refused.value.path == folder.config
    assert_plain(str(refused.value))


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
        with pytest.raises(StoredFileError) as refused:
            folder.read_metrics()
        assert refused.value.path == folder.metrics


def test_a_run_whose_metrics_lack_figures_is_drawn_without_them(tmp_path):
    picture = tmp_path / "x.png"
    draw_run([{"iteration": 1}, {"iteration": 2, "learner.loss": "x"}], "run", 5, picture)
    assert picture.stat().st_size > 0


def test_games_that_are_no_games_are_refused_by_their_path(tmp_path):
    folder = RunFolder(tmp_path)
    folder.path.joinpath("games").mkdir()
    path = folder.path / "games" / "000001.safetensors"
    write_safetensors(path, {"x": np.zeros(1)}, {"state": "{}"})
    with pytest.raises(StoredFileError) as refused:
        folder.load_games(1, GAME)
    assert refused.value.path == path


@pytest.mark.parametrize("state", ["{", "[]", '{"a": {"__array__": "missing"}}'])
def test_a_state_that_is_damaged_inside_is_refused_by_its_path(state, tmp_path):
    path = tmp_path / STATE_FILE
    write_safetensors(path, {"x": np.zeros(1)}, {"state": state})
    with pytest.raises(StoredFileError) as refused:
        load_state(path)
    assert refused.value.path == path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"format": "other"}',
        '{"format": "alphazero-ratings-1"}',
        '{"format": "alphazero-ratings-1", "game": "tic_tac_toe", "opening_plies": 4, '
        '"networks": {"a": 5}, "matches": []}',
        '{"format": "alphazero-ratings-1", "game": "tic_tac_toe", "opening_plies": 4, '
        '"networks": {}, "matches": [5]}',
    ],
)
def test_ratings_that_are_none_are_refused_by_their_path(text, tmp_path):
    path = tmp_path / "ratings.json"
    path.write_text(text)
    with pytest.raises(StoredFileError) as refused:
        RatingFile.open(path, "tic_tac_toe", 4)
    assert refused.value.path == path
    assert_plain(str(refused.value))


@pytest.mark.parametrize("moves", ["9" * 20, "9" * 200_000])
def test_a_set_with_an_enormous_number_is_refused_by_its_path(moves, tmp_path):
    path = tmp_path / "set.csv"
    path.write_text(f"# game: tic_tac_toe\nmoves,scores,source\n{moves},1:1,random\n")
    with pytest.raises(StoredFileError) as refused:
        read_set(path, GAME)
    assert refused.value.path == path


@pytest.mark.parametrize(
    "line", ["", "{", "[" * 100_000, "9" * 9_999, '{"moves": [1' + "0" * 9_999]
)
def test_a_request_that_is_no_json_is_answered_in_plain_words(line):
    error = Engine("random").answer(line)["error"]
    assert_plain(error)
    assert "Recursion" not in error


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
@pytest.mark.parametrize(
    "command",
    [
        "match game=tic_tac_toe a=random b=random num_games=2 json={}",
        "evaluate game=connect_four player=random json={}",
        "evaluate game=connect_four player=random plot={}.png",
        "make_evaluation_set game=tic_tac_toe num_positions=2 out={} replace=true",
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    command, kind, tmp_path, capsys, monkeypatch
):
    def work(*_, **__):
        raise AssertionError("the work has begun")

    for name in ("match.play_match", "evaluate.measure_accuracy", "make_evaluation_set.sample_set"):
        monkeypatch.setattr(f"alphazero.cli.{name}", work)
    place = str(places_that_cannot_be_written(tmp_path)[kind])
    if kind == "a folder" and "plot=" in command:
        (tmp_path.parent / f"{tmp_path.name}.png").mkdir()
    assert main(command.format(place).split()) == 2
    error = capsys.readouterr().err
    assert place in error and error.count("\n") == 1


def test_the_check_of_an_output_changes_nothing(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("kept")
    check_output(old, "json")
    check_output(new, "json")
    check_output(os.devnull, "json")
    assert old.read_text() == "kept"
    assert not new.exists()


@pytest.mark.parametrize("name", ["x.xyz", "x"])
def test_a_picture_of_an_unknown_kind_is_refused_before_the_work(name, tmp_path, capsys):
    words = f"evaluate game=connect_four player=random plot={tmp_path / name}"
    assert main(words.split()) == 2
    assert name in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_text_with_a_checksum_is_read_as_it_was_stored_or_not_at_all(tmp_path):
    path = tmp_path / "set.csv"
    text = shipped_path("connect_four").read_text()
    line, _, body = text.partition("\n")
    assert line.startswith("# sha256: ")
    path.write_text(text)
    assert read_set(path, make_game("connect_four")).game_name == "connect_four"
    path.write_text(text.replace(":1 ", ":2 ", 1))
    with pytest.raises(StoredFileError) as refused:
        read_set(path, make_game("connect_four"))
    assert refused.value.path == path
    path.write_text(body.replace(":1 ", ":2 ", 1))  # edited by someone who means it
    read_set(path, make_game("connect_four"))
