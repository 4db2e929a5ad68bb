"""A run is killed, or its power is cut, at any moment: it goes on as if nothing had happened.

What an undisturbed run does to its files is recorded. At many moments, within writes too, folders
are made as a kill or a power cut leaves them (see `disk`), and the run in them is resumed. After a
kill, networks and metrics are then the same, bit for bit and figure for figure, TensorBoard shows
each step once, and no file is left that an undisturbed run does not have. After a power cut, the
run goes on from its last stored iteration or the one after; TensorBoard's file is not synced, so it
may lack steps. `test_processes.py` kills processes.
"""

import collections
import re
import zlib

import pytest
from disk import Disk, write_tree
from harness import IS_FULL, run, tell
from run_samples import assert_same
from stored_runs import RESUME, Scenario, prepared, result_of, resume_words, run_in

from alphazero.storage.run_folder import RunFolder

NEW = Scenario("new", stored=0, end=2)
DROPS = ("run.keep_networks=2", "replay.window_start=20", "replay.window_max=20")
DROPPING = Scenario("dropping", DROPS, stored=4, end=6)
MEASURED_WORDS = ("pit.every=1", "evaluation.every=1")
MEASURED_WORDS += ("evaluation.num_games=2", "evaluation.num_simulations=2")
MEASURED = Scenario("measured", (*MEASURED_WORDS, "evaluation.uct_simulations=2"), 1, 3)
SCENARIOS = [RESUME, NEW, DROPPING, MEASURED] if IS_FULL else [RESUME, NEW]
NUM_PARTS = 8 if IS_FULL else 1  # tests that run beside each other


def left_by(scenario, is_killed, num_seeds):
    """Return what kills, or power cuts, leave: a list of moment, stored iterations and folder.

    TensorBoard's file changes often: power cuts that differ only in it are left out.
    """
    ready = prepared(scenario)
    disk = Disk(ready.before, str(ready.after.resolve()))
    found, known = [], set()
    stored, is_renamed = scenario.stored, False
    for number, (kind, path, *facts) in enumerate(ready.operations):
        if is_renamed and kind != "fsync":  # all of the state's writing is done
            stored, is_renamed = stored + 1, False
        if is_killed:
            found.append((number, stored, disk.killed()))
        if is_killed and kind == "write":
            at, data = facts
            for fraction in (0.01, 0.5, 0.99):
                disk.perform(kind, path, at, data[: int(len(data) * fraction)])
                found.append((number, stored, disk.killed()))
        disk.perform(kind, path, *facts)
        is_renamed |= kind == "rename" and path.endswith("/state.safetensors")
        for tree in () if is_killed else disk.cuts(range(number, number + num_seeds)):
            parts = [(name, data) for name, data in tree.items() if "tfevents" not in name]
            key = hash((stored, *parts))
            if key not in known:
                known.add(key)
                found.append((number, stored, tree))
    return found


def goes_on(scenario, root, stored, is_killed) -> str:
    """Resume a run, assert that it ends like an undisturbed one, and return from where it went."""
    ready = prepared(scenario)
    if not RunFolder(run_in(root)).states:
        assert not stored
        run(resume_words(root, scenario.end)).assert_refused()
        again = run(scenario.words_to_go_on(root))
        if again.status:
            again.assert_refused(str(run_in(root)))
        return "nothing was stored"
    ended = run(resume_words(root, scenario.end)).assert_ok()
    resumed = re.search(r"Resuming after iteration (\d+)", ended.stdout)
    iteration = int(resumed[1]) if resumed else scenario.end
    assert iteration >= stored, "a stored iteration was lost"
    if is_killed:
        ready.assert_same(root)
        return "same" if resumed else "finished before"
    found, expected = result_of(run_in(root)), dict(ready.result)
    del found["tensorboard"], expected["tensorboard"]
    if not resumed:  # what renaming and deleting did not do any more stays until the next iteration
        sure = {*expected["files"]} - {"state.previous.safetensors"}
        left = {*found["files"]} - sure
        assert all(name.startswith(("games/", "networks/", "state.previous")) for name in left)
        expected["files"] = sorted(sure)
        found["files"] = [name for name in found["files"] if name in sure]
        found["networks"] = {name: found["networks"][name] for name in sure & {*found["networks"]}}
    assert_same(found, expected)
    return "same" if iteration == stored else "same, from the iteration that was being stored"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(NUM_PARTS))
@pytest.mark.parametrize("is_killed", (True, False), ids=("killed", "power_cut"))
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_run_goes_on_as_if_nothing_had_happened(scenario, is_killed, part, tmp_path, amount):
    chosen = left_by(scenario, is_killed, amount(1, 10))
    start = zlib.crc32(scenario.name.encode()) % 20  # different ones of each scenario
    chosen = amount(chosen[start :: len(chosen) // 3], chosen[part::NUM_PARTS])
    found = collections.Counter()
    for index, (number, stored, tree) in enumerate(chosen):
        root = tmp_path / str(index)
        write_tree(tree, root)
        try:
            found[goes_on(scenario, root, stored, is_killed)] += 1
        except AssertionError as error:
            operations = prepared(scenario).operations[number : number + 1]
            raise AssertionError(f"at {number}, {operations}: {sorted(tree)}") from error
    tell("kills at an operation" if is_killed else "power cuts", found)
