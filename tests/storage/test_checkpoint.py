"""Stored files come back as they were, survive a crash, and are refused if damaged; run folders."""

import json
import os

import numpy as np
import pytest
from target_quality import stored_games

from alphazero.inference.evaluator import UniformEvaluator
from alphazero.network.weights import load_network, network_game, save_network
from alphazero.own_games.registry import make_game
from alphazero.runtime import files
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.files import write_atomically
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.lockstep import SelfPlay
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.storage.checkpoint import load_state, save_state
from alphazero.storage.run_folder import RunFolder, find_network, folder_name

ARRAYS = {
    "w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "count": np.array(7),
    "none": np.zeros((0, 4), np.float32),
}


def save(path, game="tic_tac_toe", info=None):
    save_network(path, ARRAYS, game, {"blocks": 2, "kind": "resnet"}, info or {})
    return path


# --- round trips ----------------------------------------------------------------------------------


def test_a_network_comes_back_with_its_game_and_shape(tmp_path):
    info = {"iteration": 3, "run": 'a "quoted" näme'}
    path = save(tmp_path / "deep" / "net.safetensors", "connect_x:4x5x3", info)
    stored = load_network(path)
    assert stored.game == network_game(path) == "connect_x:4x5x3"
    assert stored.settings == {"blocks": 2, "kind": "resnet"}
    assert stored.info == info
    assert_same(stored.arrays, ARRAYS)


def test_a_state_comes_back_as_it_was(tmp_path):
    generator = np.random.default_rng(4)
    generator.random(7)
    state = {
        "text": "x",
        "none": None,
        "flag": True,
        "number": 3,
        "share": 0.1,
        "huge": generator.bit_generator.state["state"]["state"],  # 128 bits
        "numpy": np.float32(0.5),
        "arrays": {
            "scalar": np.array(2.5),
            "empty": np.zeros((0, 3), np.int8),
            "words": np.array([[2**64 - 1]], np.uint64),
        },
        "transposed": np.arange(12).reshape(3, 4).T,
        "list": [1, {"deep": np.ones(2, np.bool_)}, [None]],
        "generator": generator.bit_generator.state,
    }
    save_state(tmp_path / "state.safetensors", state)
    found = load_state(tmp_path / "state.safetensors")
    assert_same(found, state)
    other = np.random.default_rng(0)
    other.bit_generator.state = found["generator"]
    assert other.random() == generator.random()


def assert_same(found, expected):
    if isinstance(expected, dict):
        assert set(found) == set(expected)
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected):
            assert_same(ours, theirs)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype and np.array_equal(found, expected)
    else:
        assert found == expected


# --- nothing is half written ----------------------------------------------------------------------


@pytest.mark.parametrize("step", ("replace", "fsync"))
def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch, step):
    path = save(tmp_path / "net.safetensors", info={"version": 1})
    before = path.read_bytes()

    def crash(*_):
        raise OSError("the machine is gone")

    monkeypatch.setattr(files.os, step, crash)
    with pytest.raises(OSError, match="gone"):
        save(path, info={"version": 2})
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]  # no temporary file is left
    assert load_network(path).info == {"version": 1}
    save(path, info={"version": 3})
    assert load_network(path).info == {"version": 3}


def test_a_file_is_synced_before_it_takes_its_name(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        files.os, "fsync", lambda descriptor: calls.append(("fsync", os.fstat(descriptor).st_size))
    )
    replace = os.replace
    monkeypatch.setattr(
        files.os, "replace", lambda a, b: (calls.append(("replace", str(b))), replace(a, b))
    )
    write_atomically(tmp_path / "file", b"12345")
    file, folder = calls.pop(0), calls.pop()
    assert file == ("fsync", 5) and calls == [("replace", str(tmp_path / "file"))]
    assert folder == ("fsync", os.stat(tmp_path).st_size)
    assert os.listdir(tmp_path) == ["file"]


# --- bad files ------------------------------------------------------------------------------------


def test_the_newest_network_of_a_run_is_found(tmp_path):
    for iteration in (2, 10, 9):
        save(RunFolder(tmp_path).network(iteration))
    assert find_network(tmp_path).name == "000010.safetensors"
    assert find_network(tmp_path / "networks").name == "000010.safetensors"
    assert find_network(RunFolder(tmp_path).network(2)).name == "000002.safetensors"
    (tmp_path / "nothing").mkdir()
    for name in ("nothing", "absent"):
        with pytest.raises(StoredFileError) as error:
            find_network(tmp_path / name)
        assert error.value.path == tmp_path / name


# --- the folder of a run --------------------------------------------------------------------------


def some_records(num_games, seed=0):
    """Return finished games of random moves."""
    rng = np.random.default_rng(seed)
    settings = SelfPlaySettings(num_parallel_games=num_games)
    selfplay = SelfPlay(
        make_game("tic_tac_toe"), UniformEvaluator(9), settings, SearchSettings(), rng
    )
    return list(selfplay.play(num_games))[:num_games]


def test_games_come_back_oldest_first(tmp_path):
    folder = RunFolder(tmp_path)
    records = {iteration: list(some_records(3, iteration)) for iteration in range(1, 6)}
    game = make_game("tic_tac_toe")
    for iteration, found in records.items():
        folder.save_games(iteration, found)
    everything = [record for iteration in range(1, 6) for record in records[iteration]]
    for found, expected in zip(stored_games(folder, game), everything, strict=True):
        for ours, theirs in zip(found, expected):
            assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    assert len(folder.load_games(4, game)) == 3


def test_kept_networks_are_spread_evenly_and_include_the_newest(tmp_path):
    folder = RunFolder(tmp_path)
    folder.drop_networks(3)  # there may be none yet

    def kept():
        return [int(path.stem) for path in sorted((tmp_path / "networks").iterdir())]

    expected = {4: [1, 2, 3, 4], 5: [2, 4, 5], 7: [2, 4, 6, 7], 11: [4, 8, 10, 11]}
    for iteration in range(1, 12):
        save(folder.network(iteration))
        folder.drop_networks(3)
        if iteration in expected:
            assert kept() == expected[iteration]
    save(folder.network(12))
    folder.drop_networks(0)
    assert kept() == [4, 8, 10, 11, 12]
    folder.drop_networks(1)
    assert kept() == [11, 12]


def test_lines_of_unfinished_iterations_are_cut(tmp_path):
    folder = RunFolder(tmp_path)
    folder.cut_metrics(3)  # there may be none yet
    rows = [{"iteration": iteration, "elapsed_s": 1.5} for iteration in (1, 2, 3, 4)]
    lines = [json.dumps(row) + "\n" for row in rows]
    folder.metrics.write_text("".join(lines) + '{"iterat')
    folder.cut_metrics(3)
    assert folder.metrics.read_text() == "".join(lines[:3])


def test_each_run_gets_its_own_folder(tmp_path):
    root = str(tmp_path)
    named = RunFolder.create(root, "othello:6", "first")
    assert named.path == tmp_path / "othello_6" / "first"
    (named.path / "notes.txt").touch()
    with pytest.raises(ConfigError) as error:
        RunFolder.create(root, "othello:6", "first")
    assert (error.value.key, error.value.value) == ("run.name", "first")
    paths = {RunFolder.create(root, "tic_tac_toe", "").path for _ in range(4)}
    assert len(paths) == 4
    assert folder_name("examples/snort.py") == "snort"
    assert folder_name("connect_x:5x5x4") == "connect_x_5x5x4"


def test_a_folder_that_cannot_be_created_is_a_config_error(tmp_path):
    root = tmp_path / "a.file"
    root.write_text("")
    with pytest.raises(ConfigError) as error:
        RunFolder.create(str(root), "othello:6", "")
    assert (error.value.key, error.value.value) == ("run.root", str(root))


def test_the_latest_run_is_the_one_that_was_trained_last(tmp_path):
    root = str(tmp_path)

    def assert_refused(path, game, key="resume"):
        with pytest.raises(ConfigError) as error:
            RunFolder.find(path, root, game, key)
        assert (error.value.key, error.value.value) == (key, path)

    assert_refused("latest", None)
    runs = (("tic_tac_toe", "old"), ("othello:6", "new"), ("tic_tac_toe", "z"))
    for number, (game, name) in enumerate(runs):
        folder = RunFolder.create(root, game, name)
        if name != "z":  # it has no finished iteration
            save_state(folder.state, {})
            folder.write_config({})
            folder.add_metrics({"iteration": 1, "elapsed_s": 1.0})
            for path in (folder.state, folder.metrics):
                os.utime(path, (9 - number, 9 - number))  # as a copy changes it
    assert RunFolder.find("latest", root, None).path.name == "new"
    assert RunFolder.find("latest", root, "tic_tac_toe").path.name == "old"
    assert_refused("latest", "connect_four")
    assert_refused(str(tmp_path / "tic_tac_toe" / "z"), None, "network")
    assert RunFolder.find(str(tmp_path / "tic_tac_toe" / "old"), root, None).path.name == "old"


def test_the_settings_and_the_versions_come_back(tmp_path):
    folder = RunFolder(tmp_path)
    settings = {"game": {"name": "x"}, "a": {"b": 1, "c": 0.5, "d": [0.5, 0.8], "e": ""}, "f": True}
    folder.write_config(settings)
    assert folder.read_config() == settings
    versions = json.loads((tmp_path / "versions.json").read_text())
    assert {"python", "torch", "numpy", "numba"} <= set(versions)
