"""The power is cut at any moment: the run goes on from its last or last but one iteration.

What a run does to its files is recorded. After each operation, folders are made as a power cut may
leave them, see `power_cut`; each run is resumed, to the weights of an undisturbed run. An iteration
that was stored is never lost. TensorBoard's file is not synced, so it may lack steps.
"""

import collections
import hashlib
import re
import sys

import pytest
from harness import IS_FULL, Fault, tell, the_zygote
from power_cut import Disk, write_tree
from stored_runs import Scenario, assert_equal, prepared, result_of, resume_words, run_in

from alphazero.storage.run_folder import RunFolder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks a process with torch")

RESUME = Scenario("resume")
NEW = Scenario("new", stored=0, end=2)
DROPS = ("run.keep_networks=2", "replay.window_start=20", "replay.window_max=20")
DROPPING = Scenario("dropping", DROPS, stored=4, end=6)
SCENARIOS = [RESUME, NEW, DROPPING] if IS_FULL else [RESUME]
NUM_PARTS = 6 if IS_FULL else 1


def cuts_of(run, root, num_seeds):
    """Return different folders that power cuts leave, each with the last iteration stored by then.

    TensorBoard's file changes often: what only differs in it is left out.
    """
    words = run.scenario.words_to_go_on(root)
    ended = the_zygote().run(words, Fault(str(root), record=True)).assert_ok()
    disk = Disk(run.before, str(root))
    found, known = [], set()
    stored, is_renamed = run.scenario.stored, False
    for number, (kind, path, *facts) in enumerate(ended.operations):
        if is_renamed and kind != "fsync":  # all of the state's writing is done
            stored, is_renamed = stored + 1, False
        disk.perform(kind, path, *facts)
        is_renamed |= kind == "rename" and path.endswith("/state.safetensors")
        for tree in disk.cuts(range(number, number + num_seeds)):
            digest = hashlib.sha256(bytes([stored]))
            for name, data in tree.items():
                if "tfevents" not in name:
                    digest.update(repr((name, data)).encode())
            if digest.digest() not in known:
                known.add(digest.digest())
                found.append((number, stored, tree))
    return found, len(ended.operations)


@pytest.mark.parametrize("part", range(NUM_PARTS))
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_run_goes_on_after_a_power_cut(scenario, part, tmp_path, amount):
    run = prepared(scenario)
    cuts, num_operations = cuts_of(run, run.copy(tmp_path / "recorded"), amount(1, 10))
    chosen = cuts[part::NUM_PARTS]
    if not IS_FULL:
        chosen = cuts[7 :: max(len(cuts) // 4, 1)]
    found = collections.Counter(operations=num_operations)
    for index, (number, stored, tree) in enumerate(chosen):
        root = tmp_path / str(index)
        write_tree(tree, root)
        try:
            found[goes_on(run, root, stored)] += 1
        except AssertionError as error:
            raise AssertionError(f"after operation {number}: {sorted(tree)}") from error
    tell("power cuts", found)


def goes_on(run, root, stored) -> str:
    """Resume a run after a power cut, and assert that it ends like an undisturbed one."""
    if not stored and not RunFolder(run_in(root)).states:
        the_zygote().run(resume_words(root, run.scenario.end)).assert_refused()
        return "nothing stored"
    ended = the_zygote().run(resume_words(root, run.scenario.end)).assert_ok()
    resumed = re.search(r"Resuming after iteration (\d+)", ended.stdout)
    iteration = int(resumed[1]) if resumed else run.scenario.end
    assert iteration >= stored, "a stored iteration was lost"
    found, expected = result_of(run_in(root), with_tensorboard=False), run.result
    if not resumed:  # what renaming and deleting did not do any more stays until the next iteration
        sure = {*expected["files"]} - {"state.previous.safetensors"}
        left = {*found["files"]} - sure
        assert all(name.startswith(("games/", "networks/", "state.previous")) for name in left)
        expected = expected | {"files": sorted(sure)}
        found["files"] = [name for name in found["files"] if name in sure]
        found["networks"] = {name: found["networks"][name] for name in sure & {*found["networks"]}}
    assert found["files"] == expected["files"]
    assert_equal(found, {key: expected[key] for key in found})
    return "goes on" if iteration == stored else "goes on from the iteration that was being stored"
