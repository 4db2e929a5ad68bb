"""Workers that fail: they are killed, stopped or cut off, their disk or object store is full.

Whatever happens, each game counts once, and no process outlives its learner.
"""

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest
from harness import kill, the_zygote
from run_samples import assert_same
from stored_runs import SMALLEST, run_in

from alphazero.network.weights import load_network
from alphazero.storage.run_folder import find_network

pytestmark = [
    pytest.mark.xdist_group("faults of workers"),
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the harness needs Linux"),
]
#: A network is larger than what a pipe holds.
ORDERED = ["workers.mode=ordered", "workers.unit_games=1", "network.channels=64"]
ENDED_S = 400  #: a generous limit: what is asserted is that it happens at all


@pytest.fixture
def zygote():
    """Return the process that starts children, and kill those that a failed test has left."""
    found = the_zygote()
    before = set(found._started)
    yield found
    for pid in set(found._started) - before:
        kill(pid)
        found.wait(pid)


def words(root: Path, *more: str, end: int = 4) -> list[str]:
    """Return the words that train a new run."""
    return [
        "train",
        *SMALLEST,
        f"run.root={root}",
        "run.name=run",
        f"run.num_iterations={end}",
        *more,
    ]


def weights(run: Path) -> dict:
    return load_network(find_network(run)).arrays


def wait_for(condition, *arguments):
    """Wait until a condition holds; return its value."""
    until = time.monotonic() + ENDED_S
    while not (found := condition(*arguments)):
        assert time.monotonic() < until
        time.sleep(0.005)
    return found


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    with contextlib.suppress(OSError):
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    return []


def workers_of(pid: int) -> list[int]:
    """Return the worker processes of a learner that have loaded this program."""
    return [child for child in children_of(pid) if b"spawn_main" in command_of(child)]


def command_of(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def is_running(pid: int) -> bool:
    """Return whether a process exists and has not ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    return False


def num_stored(run: Path) -> int:
    """Return the number of iterations in a run's metrics."""
    path = run / "metrics.jsonl"
    return len(path.read_text().splitlines()) if path.exists() else 0


def has_stored(run: Path, iteration: int) -> bool:
    return num_stored(run) >= iteration


def all_ended(processes: list[int]) -> bool:
    return not any(map(is_running, processes))


# --- processes ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def in_order(tmp_path_factory):
    """Return the weights of an ordered run on a thread."""
    root = tmp_path_factory.mktemp("threads")
    the_zygote().run(words(root, *ORDERED)).assert_ok()
    return weights(run_in(root))


PROCESSES = ["workers=processes", "workers.num_processes=1"]


@pytest.mark.faults
@pytest.mark.parametrize("name", ("SIGKILL", "SIGSEGV", "SIGSTOP"))
def test_a_process_that_fails_changes_no_game(zygote, tmp_path, in_order, name):
    """Once it has its first unit; a stopped one is given up after `workers.timeout_s`."""
    root = tmp_path / "runs"
    more = ["workers.timeout_s=30"] if name == "SIGSTOP" else []
    learner = zygote.start(words(root, *ORDERED, *PROCESSES, *more))
    wait_for(has_stored, run_in(root), 1)
    (worker,) = wait_for(workers_of, learner)
    os.kill(worker, getattr(signal, name))
    ended = zygote.wait(learner, 300).assert_ok()
    assert not is_running(worker)
    assert "Traceback" not in ended.stderr
    assert_same(weights(run_in(root)), in_order)
    assert ("given up" if name == "SIGSTOP" else name) in ended.stdout


@pytest.mark.faults
def test_no_process_outlives_a_learner_that_is_killed(zygote, tmp_path, amount):
    """Neither one that plays for minutes, nor one that is starting or waits."""
    for number in range(amount(1, 4)):
        root = tmp_path / str(number)
        more = ["selfplay.num_simulations=1000000"] if number < 2 else ORDERED
        learner = zygote.start(words(root, *more, *PROCESSES, end=1000))
        workers = wait_for(workers_of, learner)
        if number != 3:
            wait_for(has_printed, zygote, learner, "has joined")
        os.kill(learner, signal.SIGKILL)
        wait_for(all_ended, workers)
        zygote.wait(learner)


def has_printed(zygote, pid: int, text: str) -> bool:
    """Return whether a child has printed a text so far."""
    return text in zygote._files(zygote._started[pid][0])["stdout"].read_text()


# --- Ray ------------------------------------------------------------------------------------------


@pytest.mark.faults
def test_a_full_object_store_is_waited_for(zygote, tmp_path, in_order):
    pytest.importorskip("ray", reason="Ray is not installed")
    command = words(tmp_path, *ORDERED, "workers=ray")
    learner = zygote.start(command, call="process_cases:train_with_full_store")
    ended = zygote.wait(learner, 400).assert_ok()
    assert "object store" in ended.stdout
    assert_same(weights(run_in(tmp_path)), in_order)
