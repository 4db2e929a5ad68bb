"""Processes at work on a run, of which some are killed: each ends in its right result, or one line.

The run that is trained always ends as if nobody else had been there and nothing had happened. No
process outlives its learner.
"""

import collections
import contextlib
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from harness import Child, run, tell
from run_samples import assert_same, reports
from stored_runs import RESUME, SMALLEST, Scenario, prepared, run_in, tensorboard_steps

from alphazero.cli import main
from alphazero.network.weights import load_network
from alphazero.storage.run_folder import RunFolder, find_network
from alphazero.training.settings import check_run, settings_to_resume
from alphazero.training.trainer import Trainer

pytestmark = [
    pytest.mark.xdist_group("processes"),
    pytest.mark.skipif(sys.platform != "linux", reason="forks a process with torch"),
]
STORED, END = 2, 12  #: iterations of the run before a test, and after it
#: The rate does not depend on the length of the run, which is resumed twice.
LONG = Scenario("long", ("learner.schedule=constant", "run.keep_networks=2"), STORED, END)
_ENGINES = "num_simulations=2 engine=torch device=cpu endgame=off"
_RATE = "players=[random] anchor=random num_networks=1 num_games=4 games_per_match=4"
#: Commands on a run that is being trained. RUN is its folder.
COMMANDS = {
    "match": f"match game=tic_tac_toe a=RUN b=random num_games=2 {_ENGINES}",
    "play": f"play game=tic_tac_toe first=RUN second=random {_ENGINES}",
    "plot": "plot run=RUN output=plot.svg",
    "rate": f"rate run=RUN {_RATE} num_simulations=2 device=cpu",
    "export": "export network=RUN output=network.onnx",
    "engine": f"engine player=RUN {_ENGINES}",
}


@pytest.fixture
def start():
    """Return what starts a child; those that a failed test has left are killed."""
    children = []

    def start(*arguments, **more):
        children.append(Child(*arguments, **more))
        return children[-1]

    yield start
    for child in children:
        child.kill()


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a run to be trained further."""
    return run_in(prepared(LONG).copy(tmp_path / "runs"))


def resumed(folder: Path, end: int = END) -> list[str]:
    return ["train", f"resume={folder}", f"run.num_iterations={end}"]


def weights(folder: Path) -> dict:
    return load_network(find_network(folder)).arrays


def assert_undisturbed(folder: Path) -> None:
    """Assert that a trained run is the one that was alone."""
    assert_same(weights(folder), weights(run_in(prepared(LONG).after)))
    iterations = [row["iteration"] for row in RunFolder(folder).read_metrics()]
    assert iterations == list(range(1, END + 1))
    hidden = [path for path in folder.rglob(".*") if ".tmp" in path.name or path.name == ".lock"]
    assert hidden == []
    tensorboard_steps(folder)


def wait_for(condition, *arguments):
    """Wait until a condition holds, for any time that a busy machine may need; return its value."""
    until = time.monotonic() + 400
    while not (found := condition(*arguments)):
        assert time.monotonic() < until
        time.sleep(0.005)
    return found


# --- kills ----------------------------------------------------------------------------------------


@pytest.mark.faults
def test_a_run_killed_at_any_time_goes_on_as_if_nothing_had_happened(start, tmp_path):
    ready, numbers = prepared(RESUME), random.Random(0)
    begin = time.monotonic()
    start(RESUME.words_to_go_on(ready.copy(tmp_path / "usual"))).wait().assert_ok()
    usual_s = time.monotonic() - begin
    found = collections.Counter()
    for number in range(100):
        root = ready.copy(tmp_path / str(number))
        child = start(RESUME.words_to_go_on(root))
        time.sleep(numbers.uniform(0, usual_s))
        child.kill()
        found["killed" if child.wait().status == -signal.SIGKILL else "finished before"] += 1
        run(RESUME.words_to_go_on(root)).assert_ok()
        ready.assert_same(root)
    tell("kills at any time", found)


# --- a reader beside a learner --------------------------------------------------------------------


def list_runs(words):
    """List the runs of a run's root as the page does, and look at each."""
    from alphazero.web import found_runs
    from alphazero.web.backend import Backend

    found_runs._FRESH_S = 1e-6
    backend = Backend(str(Path(words[0]).parents[1]))
    for _ in range(5):
        backend.games()
        for found in backend.live()["runs"]:
            backend.run(found["id"])
    return 0


@pytest.mark.slow
@pytest.mark.parametrize("reader", [*COMMANDS, list_runs])
def test_a_run_is_read_while_it_is_trained(reader, start, folder, tmp_path, amount):
    if reader not in amount(("match",), (reader,)):
        pytest.skip("in 'make test-faults'")
    call, words = main, [folder]
    if reader in COMMANDS:
        words = COMMANDS[reader].replace("RUN", str(folder)).split()
    else:
        call = reader
    learner = start(resumed(folder))
    while True:
        run(words, cwd=tmp_path, call=call).assert_ok()
        if not learner.is_running:
            break
    learner.wait().assert_ok()
    assert_undisturbed(folder)


@pytest.mark.slow
def test_a_network_that_was_the_newest_stays_until_the_one_after_the_next(folder):
    files = RunFolder(folder)
    newest = find_network(folder)
    shutil.copy(newest, files.network(STORED + 1))
    files.drop_networks(1)
    assert newest.exists()  # for a reader that has found it before
    shutil.copy(newest, files.network(STORED + 2))
    files.drop_networks(1)
    assert not newest.exists() or STORED & (STORED - 1) == 0


# --- two learners ---------------------------------------------------------------------------------


@pytest.mark.faults
def test_of_learners_of_one_run_one_trains_it(start, tmp_path):
    """However late the others come: also when the first one is just ending."""
    for number in range(8):
        folder = run_in(prepared(LONG).copy(tmp_path / str(number)))
        learner = start(resumed(folder))
        wait_for((folder / ".lock").exists)
        refused = [run(resumed(folder))]
        while learner.is_running:
            refused.append(run(resumed(folder)))
        learner.wait().assert_ok()
        if refused[-1].status == 0:  # it came last, and found nothing to do
            refused.pop()
        for ended in refused:
            ended.assert_refused("resume")
        assert_undisturbed(folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", ("same", ""))
def test_two_new_runs_are_one_run_if_they_have_the_same_name(name, start, tmp_path, amount):
    for number in range(amount(1 if name else 0, 12)):
        root = tmp_path / str(number)
        words = ["train", *SMALLEST, *LONG.words, f"run.root={root}"]
        words += [f"run.num_iterations={STORED}", f"run.name={name}"]
        ends = [child.wait() for child in [start(words), start(words)]]
        ends.sort(key=lambda ended: ended.status)
        ends[0].assert_ok()
        if name:
            ends[1].assert_refused(str(root / "tic_tac_toe" / "same"))
        else:
            ends[1].assert_ok()
        runs = list((root / "tic_tac_toe").iterdir())
        assert len(runs) == (1 if name else 2)
        for found in runs:
            assert_same(weights(found), weights(run_in(prepared(LONG).before)))


# --- a folder that is removed ---------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_whose_folder_is_removed_ends(start, folder, amount):
    """What it may leave of an iteration that was being stored is refused."""
    kept = folder.rename(folder.with_name("kept"))
    for number in range(amount(2, 25)):
        shutil.copytree(kept, folder)
        learner = start(resumed(folder, 1000))
        wait_for(lambda: find_network(folder).stem > f"{STORED:06d}")
        time.sleep(0.01 * number % 0.2)
        moved = folder.with_name("removed")
        if number % 2:
            folder.rename(moved)
        while folder.exists():  # someone else writes there
            shutil.rmtree(folder, ignore_errors=True)
        learner.wait(30).assert_refused(folder.name)
        run(resumed(folder)).assert_refused(folder.name)
        for path in (folder, moved):
            shutil.rmtree(path, ignore_errors=True)


def test_a_folder_that_is_removed_between_two_files_is_not_made_again(folder, monkeypatch):
    """The files of the next iteration do not begin another run there."""
    files, save_games = RunFolder(folder), RunFolder.save_games

    def removed_before(self, *arguments):
        shutil.rmtree(folder)
        return save_games(self, *arguments)

    monkeypatch.setattr(RunFolder, "save_games", removed_before)
    settings = settings_to_resume(files, None, None)
    trainer = Trainer(settings, files, check_run(settings))
    trainer.settings.run.num_iterations = END
    trainer.restore()
    with pytest.raises(OSError):
        reports(trainer)
    assert trainer.store.iteration <= STORED + 1
    assert not files.metrics.exists()


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


@pytest.mark.faults
@pytest.mark.parametrize("number", range(4))
def test_no_process_outlives_a_learner_that_is_killed(start, tmp_path, number):
    """Neither one that plays for minutes, nor one that is starting or waits."""
    more = ["selfplay.num_simulations=1000000"] if number < 2 else ["workers.mode=ordered"]
    more += ["workers=processes", "workers.num_processes=1"]
    learner = start([*RESUME.new_words(tmp_path, 1000), *more])
    workers = wait_for(workers_of, learner)
    if number != 3:
        wait_for(lambda: "has joined" in learner.stdout)
    os.kill(learner.pid, signal.SIGKILL)
    wait_for(lambda: all(map(has_ended, workers)))
