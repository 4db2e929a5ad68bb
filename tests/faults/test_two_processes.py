"""Two processes at work on one run: each ends in its right result, or in one line.

The run that is trained always ends as if nobody else had been there. `harness` starts the children.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import process_cases
import pytest
from harness import GAME, the_zygote
from run_samples import assert_same, reports

from alphazero.network.weights import load_network
from alphazero.storage.run_folder import RunFolder, find_network
from alphazero.training.settings import settings_to_resume
from alphazero.training.trainer import Trainer

pytestmark = [
    pytest.mark.xdist_group("two_processes"),
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the harness needs Linux"),
]
STORED, END = 2, 12  #: iterations of the run before a test, and after it
SMALLEST = [*GAME, "selfplay.num_parallel_games=3", "selfplay.games_per_iteration=3"]
SMALLEST += ["selfplay.num_simulations=3", "learner.replay_ratio=1"]
SMALLEST += ["learner.schedule=constant"]  # not by the length of the run, which is resumed twice
_ENGINES = "num_simulations=2 engine=torch device=cpu endgame=off"
_RATE = "players=[random] anchor=random num_networks=1 num_games=4 games_per_match=4"
#: Commands on a run that is being trained. RUN is its folder, OTHER that of a finished run.
COMMANDS = {
    "match": f"match game=tic_tac_toe a=RUN b=random num_games=2 {_ENGINES}",
    "play": f"play game=tic_tac_toe first=RUN second=random {_ENGINES}",
    "evaluate": "evaluate player=RUN baseline=OTHER set=SET num_simulations=2 engine=torch",
    "plot": "plot run=RUN output=plot.svg",
    "rate": f"rate run=RUN {_RATE} num_simulations=2 engine=torch device=cpu output=rated.svg",
    "export": "export network=RUN output=network.onnx",
    "engine": f"engine player=RUN {_ENGINES}",
}
#: Functions of `process_cases`, and their words.
CALLS = {"runs of the page": ("list_runs", "ROOT"), "TensorBoard": ("read_tensorboard", "RUN")}
#: What the small part tries, besides the functions.
FEW = ("match", "plot")


@pytest.fixture(scope="module")
def zygote():
    """Return the process that starts children."""
    return the_zygote()


@pytest.fixture(scope="module")
def samples(zygote, tmp_path_factory):
    """Return a folder with a stored run, the same run after more iterations, and a set."""
    folder = tmp_path_factory.mktemp("samples")
    words = ["train", *SMALLEST, "run.keep_networks=2", f"run.root={folder}"]
    zygote.run([*words, "run.name=before", f"run.num_iterations={STORED}"]).assert_ok()
    shutil.copytree(before(folder), after(folder))
    zygote.run(resumed(after(folder))).assert_ok()
    words = ["make_evaluation_set", "game=tic_tac_toe", "num_positions=8", f"out={folder}/set.csv"]
    zygote.run(words, timeout_s=300).assert_ok()  # kernels may have to be compiled
    return folder


def before(samples: Path) -> Path:
    return samples / "tic_tac_toe" / "before"


def after(samples: Path) -> Path:
    return samples / "tic_tac_toe" / "after"


def resumed(run: Path, end: int = END) -> list[str]:
    """Return the words that train a run further."""
    return ["train", f"resume={run}", f"run.num_iterations={end}"]


@pytest.fixture
def run(samples, tmp_path):
    """Return the folder of a run to be trained further."""
    return Path(shutil.copytree(before(samples), tmp_path / "runs" / "tic_tac_toe" / "run"))


def weights(run: Path) -> dict:
    return load_network(find_network(run)).arrays


def assert_undisturbed(run: Path, samples: Path) -> None:
    """Assert that a trained run is the one that was alone."""
    assert_same(weights(run), weights(after(samples)))
    iterations = [row["iteration"] for row in RunFolder(run).read_metrics()]
    assert iterations == list(range(1, END + 1))
    hidden = [path for path in run.rglob(".*") if ".tmp" in path.name or path.name == ".lock"]
    assert hidden == []
    assert process_cases.read_tensorboard([str(run)]) == 0


def is_running(pid: int) -> bool:
    """Return whether a child has not ended; the harness has not waited for it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"


def wait_for(condition, timeout_s=60) -> None:
    until = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


# --- a reader beside a learner --------------------------------------------------------------------


def beside(zygote, run, words, call="alphazero.cli:main", least=1):
    """Run a command again and again while a run is trained; return how each ended.

    Args:
        least: how many times at least, also when the training has ended before.
    """
    learner = zygote.start(resumed(run))
    ends = []
    while len(ends) < least or is_running(learner):
        ends.append(zygote.run(words, call=call, cwd=run.parents[2]))
    zygote.wait(learner).assert_ok()
    return ends


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_reads_a_run_while_it_is_trained(zygote, samples, run, name, amount):
    if name not in amount(FEW, COMMANDS):
        pytest.skip("in 'make test-faults'")
    words = COMMANDS[name].replace("RUN", str(run)).replace("OTHER", str(after(samples)))
    words = words.replace("SET", f"{samples}/set.csv")
    for ended in beside(zygote, run, words.split()):
        ended.assert_ok()
        assert "Traceback" not in ended.stderr
    assert_undisturbed(run, samples)


@pytest.mark.faults
@pytest.mark.parametrize("name", CALLS)
def test_a_run_is_looked_at_while_it_is_trained(zygote, samples, run, name):
    function, where = CALLS[name]
    word = {"RUN": run, "ROOT": run.parents[1]}[where]
    for ended in beside(zygote, run, [word], call=f"process_cases:{function}"):
        ended.assert_ok()
    assert_undisturbed(run, samples)


@pytest.mark.faults
def test_the_newest_network_is_there_for_whoever_reads_it(zygote, samples, run):
    """A reader that has found it may be as slow as an iteration of the learner."""
    reader = zygote.start([run, str(END)], call="process_cases:read_newest")
    zygote.run([*resumed(run), "run.keep_networks=1"]).assert_ok()
    assert int(zygote.wait(reader).assert_ok().stdout) > 0
    assert_undisturbed(run, samples)


def test_a_network_that_was_the_newest_stays_until_the_one_after_the_next(samples, run):
    folder = RunFolder(run)
    newest = find_network(run)
    shutil.copy(newest, folder.network(STORED + 1))
    folder.drop_networks(1)
    assert newest.exists()  # for a reader that has found it before
    shutil.copy(newest, folder.network(STORED + 2))
    folder.drop_networks(1)
    assert not newest.exists() or STORED & (STORED - 1) == 0


# --- two learners ---------------------------------------------------------------------------------


@pytest.mark.faults
def test_of_learners_of_one_run_one_trains_it(zygote, samples, run, amount):
    """However late the others come: also when the first one is just ending."""
    for _ in range(amount(1, 8)):
        shutil.rmtree(run)
        shutil.copytree(before(samples), run)
        learner = zygote.start(resumed(run))
        wait_for((run / ".lock").exists)
        refused = [zygote.run(resumed(run))]
        while is_running(learner):
            refused.append(zygote.run(resumed(run)))
        zygote.wait(learner).assert_ok()
        if refused[-1].status == 0:  # it came last, and found nothing to do
            refused.pop()
        for ended in refused:
            ended.assert_refused("resume")
        assert_undisturbed(run, samples)


@pytest.mark.faults
def test_a_lock_is_held_by_one_process(zygote, run, amount):
    words = [run, amount(1, 10)]
    takers = [zygote.start(words, call="process_cases:take_lock") for _ in range(3)]
    assert sum(int(zygote.wait(taker).assert_ok().stdout) for taker in takers) > 3


def test_two_new_runs_of_one_name_are_one_run(zygote, samples, tmp_path, amount):
    for number in range(amount(2, 12)):
        root = tmp_path / str(number)
        if number % 2:  # a run that was killed in its first iteration has left its folder
            (root / "tic_tac_toe" / "same").mkdir(parents=True)
            (root / "tic_tac_toe" / "same" / "config.yaml").touch()
        words = ["train", *SMALLEST, f"run.root={root}", f"run.num_iterations={STORED}"]
        learners = [zygote.start([*words, "run.name=same"]) for _ in range(2)]
        ends = sorted((zygote.wait(pid) for pid in learners), key=lambda ended: ended.status)
        ends[0].assert_ok()
        ends[1].assert_refused(str(root / "tic_tac_toe" / "same"))
        assert_same(weights(root / "tic_tac_toe" / "same"), weights(before(samples)))


@pytest.mark.faults
def test_two_new_runs_without_a_name_are_two_runs(zygote, samples, tmp_path):
    for number in range(3):
        root = tmp_path / str(number)
        words = ["train", *SMALLEST, f"run.root={root}", f"run.num_iterations={STORED}"]
        for pid in [zygote.start(words) for _ in range(2)]:
            zygote.wait(pid).assert_ok()
        runs = list((root / "tic_tac_toe").iterdir())
        assert len(runs) == 2
        for run in runs:
            assert_same(weights(run), weights(before(samples)))


# --- a folder that is removed or copied -----------------------------------------------------------


def test_a_run_whose_folder_is_removed_ends(zygote, run, amount):
    """What it may leave of an iteration that was being stored is refused."""
    kept = run.rename(run.with_name("kept"))
    for number in range(amount(3, 25)):
        shutil.copytree(kept, run)
        learner = zygote.start(resumed(run, 1000))
        wait_for(lambda: find_network(run).stem > f"{STORED:06d}")
        time.sleep(0.01 * number % 0.2)
        moved = run.with_name("removed")
        os.rename(run, moved) if number % 2 else remove(run)
        zygote.wait(learner, 30).assert_refused(run.name)
        zygote.run(resumed(run)).assert_refused(run.name)
        for folder in (run, moved):
            shutil.rmtree(folder, ignore_errors=True)


def test_a_folder_that_is_removed_between_two_files_is_not_made_again(run, monkeypatch):
    """The files of the next iteration do not begin another run there."""
    folder, save_games = RunFolder(run), RunFolder.save_games

    def removed_before(self, *arguments):
        shutil.rmtree(run)
        return save_games(self, *arguments)

    monkeypatch.setattr(RunFolder, "save_games", removed_before)
    trainer = Trainer(settings_to_resume(folder, None, None), folder)
    trainer.settings.run.num_iterations = END
    trainer.restore()
    with pytest.raises(OSError):
        reports(trainer)
    assert trainer.stored_iteration <= STORED + 1
    assert not folder.metrics.exists()


def remove(folder: Path) -> None:
    """Remove a folder in which someone else writes."""
    subprocess.run(["rm", "-rf", str(folder)], check=False, stderr=subprocess.DEVNULL)
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def copy_slowly(run: Path, copy: Path, is_backwards: bool) -> None:
    """Copy a run file by file, as a slow disk or a synchronising program does."""
    for path in sorted(run.rglob("*"), reverse=is_backwards):
        if path.is_file() and ".tmp" not in path.name:
            target = copy / path.relative_to(run)
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copy(path, target)
            except FileNotFoundError:
                continue  # removed since
            time.sleep(0.02)


@pytest.mark.faults
def test_a_copy_of_a_run_under_way_is_the_same_run_or_refused(zygote, samples, run, amount):
    copies = run.parents[2] / "copies"
    learner = zygote.start(resumed(run))
    made = []
    while is_running(learner) and len(made) < amount(3, 40):
        made.append(copies / str(len(made)))
        if len(made) % 3:
            copy_slowly(run, made[-1], is_backwards=len(made) % 3 == 1)
        else:
            subprocess.run(["cp", "-r", str(run), str(made[-1])], check=False)
        time.sleep(0.02)
    zygote.wait(learner).assert_ok()
    ends = {"the same": 0, "refused": 0}
    for copy in made:
        ended = zygote.run(resumed(copy))
        if ended.status == 0:
            assert_same(weights(copy), weights(after(samples)))
            ends["the same"] += 1
        else:
            ended.assert_refused()
            ends["refused"] += 1
    assert len(made) >= 1
    print(ends, file=sys.stderr)
