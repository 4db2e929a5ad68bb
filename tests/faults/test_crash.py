"""A run is killed, or its power is cut, at any moment: it goes on as if nothing had happened.

What an undisturbed run does to its files is recorded. At many moments, within writes too, folders
are made as a kill or a power cut leaves them (see `disk`), and the run in them is resumed. After a
kill, networks and metrics are then the same, bit for bit and figure for figure, TensorBoard shows
each step once, and no file is left that an undisturbed run does not have. After a power cut, the
run goes on from its last stored iteration or the one after; TensorBoard's file is not synced, so it
may lack steps. `test_processes.py` kills processes.
"""

import re

import pytest
from disk import Disk, write_tree
from harness import IS_FULL, amount, run
from run_samples import assert_same
from stored_runs import prepared, result_of, resume_words, run_in

from alphazero.storage.run_folder import RunFolder

NUM_PARTS = 8 if IS_FULL else 1  # tests that run beside each other
NEW, RESUMED = (0, 2), (4, 6)


def left_by(ready, is_killed):
    """Return what kills, or power cuts, leave: a list of moment, stored iterations and folder.

    TensorBoard's file changes often: power cuts that differ only in it are left out.
    """
    disk = Disk(ready.before, str(ready.after.resolve()))
    found, known = [], set()
    stored, is_renamed = ready.stored, False
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
        for tree in () if is_killed else disk.cuts(range(number, number + amount(1, 10))):
            parts = [(name, data) for name, data in tree.items() if "tfevents" not in name]
            key = hash((stored, *parts))
            if key not in known:
                known.add(key)
                found.append((number, stored, tree))
    return found


def assert_goes_on(ready, root, stored, is_killed):
    """Resume a run and assert that it ends like an undisturbed one."""
    if not RunFolder(run_in(root)).states:
        assert not stored
        run(resume_words(root, ready.end)).assert_refused()
        again = run(ready.words_to_go_on(root))
        if again.status:
            again.assert_refused(str(run_in(root)))
        return
    ended = run(resume_words(root, ready.end)).assert_ok()
    resumed = re.search(r"Resuming after iteration (\d+)", ended.stdout)
    iteration = int(resumed[1]) if resumed else ready.end
    assert iteration >= stored, "a stored iteration was lost"
    if is_killed:
        ready.assert_same(root)
        return
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


@pytest.mark.slow
@pytest.mark.parametrize("part", range(NUM_PARTS))
@pytest.mark.parametrize("is_killed", (True, False), ids=("killed", "power_cut"))
@pytest.mark.parametrize("iterations", (NEW, RESUMED), ids=("new", "resumed"))
def test_a_run_goes_on_as_if_nothing_had_happened(iterations, is_killed, part, tmp_path):
    ready = prepared(*iterations)
    chosen = left_by(ready, is_killed)
    chosen = amount(chosen[7 :: len(chosen) // 3], chosen[part::NUM_PARTS])
    for index, (number, stored, tree) in enumerate(chosen):
        root = tmp_path / str(index)
        write_tree(tree, root)
        try:
            assert_goes_on(ready, root, stored, is_killed)
        except AssertionError as error:
            error.add_note(f"at {number}, {ready.operations[number : number + 1]}: {sorted(tree)}")
            raise
