"""Workers that fail: they are killed, stopped or cut off, their disk or object store is full.

Whatever happens, each game counts once, and no process outlives its learner.
"""

import contextlib
import dataclasses
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from harness import Ended, kill, the_zygote
from run_samples import assert_same
from stored_runs import SMALLEST, run_in

from alphazero.network.weights import load_network
from alphazero.runtime.files import read_safetensors
from alphazero.storage.run_folder import RunFolder, find_network
from alphazero.workers.folder.shared_folder import SharedFolder

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


# --- a shared folder ------------------------------------------------------------------------------


class Site:
    """A shared folder, the run that is trained on it, and workers that sign their games.

    Attributes:
        shared: the folder.
        root: of the run.
    """

    def __init__(self, zygote, path: Path, shared: Path | None = None):
        self.shared = path / "shared" if shared is None else shared
        self.root = path / "runs"
        self._zygote = zygote
        self._written = path / "written"

    def learner(self, *more: str, end: int = 4) -> int:
        """Start a learner, or resume the run."""
        run = run_in(self.root)
        if RunFolder(run).states:
            return self._zygote.start(["train", f"resume={run}", *more])
        shutil.rmtree(run, ignore_errors=True)
        where = ["workers=folder", f"workers.folder={self.shared}", "workers.max_staleness=100"]
        return self._zygote.start(words(self.root, *where, *more, end=end))

    def worker(self, *more: str, ahead_s: float = 0.0) -> int:
        """Start a worker whose clock is ahead."""
        command = [str(self.shared), "num_threads=1", "device=cpu", *more]
        call = [str(ahead_s), self._written, *command]
        return self._zygote.start(call, call="process_cases:work")

    def end(self, worker: int, how: int = signal.SIGKILL) -> Ended:
        os.kill(worker, signal.SIGCONT)
        os.kill(worker, how)
        return self._zygote.wait(worker)

    def games(self) -> list[int]:
        """Return the signatures of all games that count; they are those of games once written."""
        found = []
        for path in sorted((run_in(self.root) / "games").glob("*.safetensors")):
            _, columns = read_safetensors(path)
            starts = [0, *columns["/lengths"].cumsum()[:-1]]
            found += [round(float(value) * (1 << 24)) for value in columns["/root_values"][starts]]
        assert set(found) <= set(map(int, self._written.read_text().split()))
        return found

    def num_played(self) -> int:
        """Return the number of games in the metrics of the stored iterations."""
        run = run_in(self.root)
        stored = sorted(int(path.stem) for path in (run / "games").glob("*.safetensors"))
        rows = RunFolder(run).read_metrics()
        assert len(rows) - 1 <= len(stored) <= len(rows)  # the last one may be interrupted
        return sum(row["selfplay.num_games"] for row in rows[: len(stored)])


@pytest.fixture
def site(zygote, tmp_path):
    return Site(zygote, tmp_path)


@pytest.mark.faults
def test_each_game_counts_once_whoever_is_killed(zygote, site, amount):
    """Workers and, now and then, the learner are killed or stopped at random moments."""
    seed, num_kills, end = 7, amount(5, 60), amount(6, 60)
    chance = random.Random(seed)
    learner = site.learner(end=end)
    workers = [site.worker(), site.worker()]
    wait_for(has_stored, run_in(site.root), 1)
    for number in range(num_kills):
        time.sleep(chance.uniform(0.0, 0.5))
        place = chance.randrange(2)
        if number % 5 == 4:
            os.kill(learner, signal.SIGKILL)
            zygote.wait(learner)
            time.sleep(chance.uniform(0.0, 0.3))  # the workers wait
            learner = site.learner(f"run.num_iterations={end}")
        elif number % 5 == 3:
            os.kill(workers[place], signal.SIGSTOP)
        else:
            site.end(workers[place])
            workers[place] = site.worker()
    zygote.wait(learner, 300).assert_ok()
    games = site.games()
    assert len(games) == len(set(games)) == site.num_played() > 0
    assert os.listdir(site.shared / "refused") == []
    assert num_stored(run_in(site.root)) == end


@pytest.mark.faults
def test_workers_whose_clocks_are_wrong_play_like_others(zygote, site):
    """Times of different machines are never compared."""
    learner = site.learner(end=8)
    workers = [site.worker(ahead_s=ahead_s) for ahead_s in (3600.0, -3600.0)]
    ended = zygote.wait(learner, 300).assert_ok()
    assert "gone" not in ended.stdout and "refused" not in ended.stdout
    assert ended.stdout.count("has joined") == 2
    games = site.games()
    assert len(games) == len(set(games)) == site.num_played()
    for worker in workers:
        assert "Traceback" not in site.end(worker, signal.SIGINT).stderr


@pytest.mark.faults
def test_a_folder_that_is_deleted_is_said_and_waited_for(zygote, site):
    learner, worker = site.learner(end=1000), site.worker()
    wait_for(has_stored, run_in(site.root), 1)
    shutil.rmtree(site.shared, ignore_errors=True)
    while site.shared.exists():
        shutil.rmtree(site.shared, ignore_errors=True)
    time.sleep(1.0)
    assert is_running(learner) and is_running(worker)
    stopped = site.end(worker, signal.SIGINT)
    os.kill(learner, signal.SIGINT)
    for ended in (stopped, zygote.wait(learner)):
        assert ended.status == 130 and "Traceback" not in ended.stderr, ended
    assert not site.shared.exists()


@pytest.mark.faults
def test_a_full_disk_of_the_folder_is_waited_for(zygote, tmp_path, small_disk):
    site = Site(zygote, tmp_path, small_disk / "shared")
    learner, worker = site.learner(end=1000), site.worker()
    wait_for(has_stored, run_in(site.root), 1)
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), open(filler, "wb", 0) as file:
        while True:
            file.write(bytes(1000))
    time.sleep(2.0)
    assert is_running(learner) and is_running(worker)
    filler.unlink()
    stored = num_stored(run_in(site.root))
    wait_for(has_stored, run_in(site.root), stored + 2)
    os.kill(learner, signal.SIGINT)
    ends = [zygote.wait(learner), site.end(worker, signal.SIGINT)]
    for ended in ends:
        assert ended.status == 130 and "Traceback" not in ended.stderr, ended
    games = site.games()
    assert len(games) == len(set(games)) == site.num_played()


def test_a_worker_of_another_version_or_game_is_refused_in_a_line(zygote, site):
    learner = site.learner()
    folder = SharedFolder(site.shared)
    posting = wait_for(folder.read_posting)
    os.kill(learner, signal.SIGSTOP)  # it posts again
    command = ["work", str(site.shared), "num_threads=1", "device=cpu"]
    zygote.run([*command, "game=connect_four"]).assert_refused("tic_tac_toe")
    other = dataclasses.replace(posting.job, code_version="0.0 (another)")
    folder.post(dataclasses.replace(posting, job=other))
    zygote.run(command).assert_refused("0.0 (another)")


# --- Ray ------------------------------------------------------------------------------------------


@pytest.mark.faults
def test_a_full_object_store_is_waited_for(zygote, tmp_path, in_order):
    pytest.importorskip("ray", reason="Ray is not installed")
    command = words(tmp_path, *ORDERED, "workers=ray")
    learner = zygote.start(command, call="process_cases:train_with_full_store")
    ended = zygote.wait(learner, 400).assert_ok()
    assert "object store" in ended.stdout
    assert_same(weights(run_in(tmp_path)), in_order)
