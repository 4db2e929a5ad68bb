"""Processes at work on a run, of which some are killed: each ends in its right result, or one line.

The run that is trained always ends as if nobody else had been there and nothing had happened. No
process outlives its learner.
"""

import contextlib
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from harness import Child, amount, run
from run_samples import assert_same
from stored_runs import new_words, prepared, resume_words, run_in, tensorboard_steps

from alphazero.network.weights import load_network
from alphazero.storage.run_folder import RunFolder, find_network

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("processes"),
    pytest.mark.skipif(sys.platform != "linux", reason="forks a process with torch"),
]
STORED, END = 2, 12  #: iterations of the run before a test, and after it
#: Commands on a run that is being trained. RUN is its folder.
COMMANDS = {
    "match": "match game=tic_tac_toe a=RUN b=random num_games=2 num_simulations=2 engine=torch",
    "export": "export network=RUN output=network.onnx",
}


@pytest.fixture
def start():
    """Return what starts a child; those that a failed test has left are killed."""
    children = []

    def start(words):
        children.append(Child(words))
        return children[-1]

    yield start
    for child in children:
        child.kill()


@pytest.fixture
def root(tmp_path):
    """Return the root of a run to be trained further."""
    return prepared(STORED, END).copy(tmp_path / "runs")


def weights(folder: Path) -> dict:
    return load_network(find_network(folder)).arrays


def assert_undisturbed(folder: Path) -> None:
    """Assert that a trained run is the one that was alone."""
    assert_same(weights(folder), weights(run_in(prepared(STORED, END).after)))
    iterations = [row["iteration"] for row in RunFolder(folder).read_metrics()]
    assert iterations == list(range(1, END + 1))
    assert not [path for path in folder.rglob(".*") if ".tmp" in path.name or path.name == ".lock"]
    tensorboard_steps(folder)


def wait_for(condition, *arguments):
    """Wait until a condition holds, for any time that a busy machine may need; return its value."""
    until = time.monotonic() + 400
    while not (found := condition(*arguments)):
        assert time.monotonic() < until
        time.sleep(0.005)
    return found


def test_a_run_killed_at_any_time_goes_on_as_if_nothing_had_happened(start, tmp_path):
    ready, numbers = prepared(), random.Random(0)
    begin = time.monotonic()
    start(ready.words_to_go_on(ready.copy(tmp_path / "usual"))).wait().assert_ok()
    usual_s = time.monotonic() - begin
    for number in range(amount(5, 100)):
        root = ready.copy(tmp_path / str(number))
        child = start(ready.words_to_go_on(root))
        time.sleep(numbers.uniform(0, usual_s))
        child.kill()
        child.wait()
        run(ready.words_to_go_on(root)).assert_ok()
        ready.assert_same(root)


@pytest.mark.parametrize("reader", COMMANDS)
def test_a_run_is_read_while_it_is_trained(reader, start, root, tmp_path):
    words = COMMANDS[reader].replace("RUN", str(run_in(root))).split()
    learner = start(resume_words(root, END))
    while True:
        run(words, cwd=tmp_path).assert_ok()
        if not learner.is_running:
            break
    learner.wait().assert_ok()
    assert_undisturbed(run_in(root))


def test_a_run_whose_folder_is_removed_ends(start, root):
    """What it may leave of an iteration that was being stored is refused."""
    folder = run_in(root)
    kept = folder.rename(folder.with_name("kept"))
    for number in range(amount(2, 25)):
        shutil.copytree(kept, folder)
        learner = start(resume_words(root, 1000))
        wait_for(lambda: find_network(folder).stem > f"{STORED:06d}")
        time.sleep(0.01 * number % 0.2)
        moved = folder.with_name("removed")
        if number % 2:
            folder.rename(moved)
        while folder.exists():  # someone else writes there
            shutil.rmtree(folder, ignore_errors=True)
        learner.wait(30).assert_refused(folder.name)
        run(resume_words(root, END)).assert_refused(folder.name)
        for left in (folder, moved):
            shutil.rmtree(left, ignore_errors=True)


# --- workers --------------------------------------------------------------------------------------


def workers_of(learner: Child) -> list[int]:
    """Return the worker processes of a learner that have loaded this program."""
    found = []
    with contextlib.suppress(OSError):
        for pid in Path(f"/proc/{learner.pid}/task/{learner.pid}/children").read_text().split():
            if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(int(pid))
    return found


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, waited for or not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] == "Z"
    return True


@pytest.mark.parametrize("is_playing", (True, False), ids=("playing", "starting"))
def test_no_process_outlives_a_learner_that_is_killed(start, tmp_path, is_playing):
    """Neither one that plays for minutes, nor one that is starting."""
    words = [*new_words(tmp_path, 1000), "selfplay.num_simulations=1000000"]
    learner = start([*words, "workers=processes", "workers.num_processes=1"])
    workers = wait_for(workers_of, learner)
    if is_playing:
        wait_for(lambda: "has joined" in learner.stdout)
    os.kill(learner.pid, signal.SIGKILL)
    wait_for(lambda: all(map(has_ended, workers)))
