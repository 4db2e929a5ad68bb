"""Tiny runs that are stored, damaged and resumed, and what has to be the same afterwards."""

import functools
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from disk import watched
from harness import FOLDER, run
from run_samples import TINY, assert_same
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from alphazero.runtime.files import read_safetensors
from alphazero.storage.run_folder import RunFolder

#: The words of the smallest run: an iteration takes a tenth of a second, and drops old files. Its
#: rate does not depend on the length of the run.
SMALLEST = ["game=tic_tac_toe", *TINY, "selfplay.num_parallel_games=3", "learner.replay_ratio=1"]
SMALLEST += ["selfplay.games_per_iteration=3", "selfplay.num_simulations=3"]
SMALLEST += ["run.keep_networks=2", "replay.window_start=20", "replay.window_max=20"]
SMALLEST += ["pit.every=2", "learner.schedule=constant"]
#: Figures that depend on the clock or the disk.
_CLOCK = re.compile(r"seconds|_s$|_per_s$|_fraction$|free_disk_gb|^finished_at|^alarm")


def new_words(root: Path, end: int) -> list[str]:
    """Return the words that train a new run ``run`` in the folder ``root``."""
    return ["train", *SMALLEST, f"run.root={root}", "run.name=run", f"run.num_iterations={end}"]


def run_in(root: Path) -> Path:
    """Return the run's folder."""
    return root / "tic_tac_toe" / "run"


def resume_words(root: Path, end: int) -> list[str]:
    """Return the words that resume the run in ``root`` until the iteration ``end``."""
    return ["train", f"resume={run_in(root)}", f"run.num_iterations={end}"]


@dataclass(frozen=True)
class Prepared:
    """A run before and after its last iterations.

    Attributes:
        stored: iterations before; 0 is a new run.
        end: iterations after.
        before: the folder with the stored iterations, to be copied.
        after: the folder in which nothing went wrong.
        operations: what was done to that between the two.
        result: of ``after``, see `result_of`.
    """

    stored: int
    end: int
    before: Path
    after: Path
    operations: list[list]
    result: dict

    def copy(self, root: Path) -> Path:
        """Copy the stored run to ``root`` and return that."""
        return Path(shutil.copytree(self.before, root))

    def words_to_go_on(self, root: Path) -> list[str]:
        """Return the words that train the run in ``root`` until its end."""
        return resume_words(root, self.end) if self.stored else new_words(root, self.end)

    def assert_same(self, root: Path) -> None:
        """Assert that the run in ``root`` is the one in which nothing went wrong."""
        assert_same(result_of(run_in(root)), self.result)


@functools.cache
def prepared(stored: int = 2, end: int = 4) -> Prepared:
    """Train a run, and let it go on undisturbed."""
    folder = Path(tempfile.mkdtemp(dir=FOLDER.name))
    before, after = folder / "before", folder / "after"
    before.mkdir()
    if stored:
        run(new_words(before, stored)).assert_ok()
    shutil.copytree(before, after)
    with watched(after) as watch:
        run(resume_words(after, end) if stored else new_words(after, end)).assert_ok()
    return Prepared(stored, end, before, after, watch.operations, result_of(run_in(after)))


def result_of(folder: Path) -> dict:
    """Return what a run left, apart from the clock: files, networks, metrics, TensorBoard's steps.

    The metrics hold each iteration once, and TensorBoard each step once.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [str(path.relative_to(folder)) for path in paths if "tfevents" not in path.name]
    networks = {
        f"networks/{path.name}": read_safetensors(path)[1]
        for path in folder.glob("networks/*.safetensors")
    }
    rows = RunFolder(folder).read_metrics()
    assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
    metrics = [{key: row[key] for key in row if not _CLOCK.search(key)} for row in rows]
    result = {"files": names, "networks": networks, "metrics": dict(enumerate(metrics))}
    return result | {"tensorboard": tensorboard_steps(folder)}


def tensorboard_steps(folder: Path) -> dict[str, list[int]]:
    """Return the steps of each curve as TensorBoard shows them; none comes twice."""
    events = EventAccumulator(str(folder))
    events.Reload()
    steps = {tag: [e.step for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    for tag, found in steps.items():
        assert found == sorted(set(found)), (tag, found)
    return steps
