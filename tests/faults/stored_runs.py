"""Tiny runs that are stored, damaged and resumed, and what has to be the same afterwards."""

import functools
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harness import GAME, the_zygote
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from alphazero.runtime.files import read_safetensors
from alphazero.storage.run_folder import RunFolder

#: The words of the smallest run: an iteration takes a tenth of a second.
SMALLEST = [
    *GAME,
    "selfplay.num_parallel_games=3",
    "selfplay.games_per_iteration=3",
    "selfplay.num_simulations=3",
    "learner.replay_ratio=1",
]
#: Figures that depend on the clock or the disk.
_CLOCK = re.compile(r"seconds|_s$|_per_s$|_fraction$|free_disk_gb|^alarms$")
_EVENTS = "events.out.tfevents"


@dataclass(frozen=True)
class Scenario:
    """A run that goes on.

    Attributes:
        name: for the tests.
        words: settings beside the smallest ones.
        stored: the number of its stored iterations; 0 is a new run.
        end: the number of iterations after it has gone on.
    """

    name: str
    words: tuple[str, ...] = ()
    stored: int = 2
    end: int = 4

    def new_words(self, root: Path, end: int) -> list[str]:
        """Return the words that train a new run ``run`` in the folder ``root``."""
        where = [f"run.root={root}", "run.name=run", f"run.num_iterations={end}"]
        return ["train", *SMALLEST, *self.words, *where]

    def words_to_go_on(self, root: Path) -> list[str]:
        """Return the words that train the run in ``root`` until its end."""
        if not self.stored:
            return self.new_words(root, self.end)
        return resume_words(root, self.end)


def run_in(root: Path) -> Path:
    """Return the run's folder."""
    return root / "tic_tac_toe" / "run"


def resume_words(root: Path, end: int) -> list[str]:
    """Return the words that resume the run in ``root`` until the iteration ``end``."""
    return ["train", f"resume={run_in(root)}", f"run.num_iterations={end}"]


@dataclass(frozen=True)
class Prepared:
    """A scenario's run before and after.

    Attributes:
        before: the folder with the stored iterations, to be copied.
        after: the folder in which nothing went wrong.
        operations: what the child did between the two.
        result: of ``after``, see `result_of`.
    """

    scenario: Scenario
    before: Path
    after: Path
    operations: list[list]
    result: dict

    def copy(self, root: Path) -> Path:
        """Copy the stored run to ``root`` and return that."""
        shutil.copytree(self.before, root)
        return root

    def assert_same(self, root: Path) -> None:
        """Assert that the run in ``root`` is the one in which nothing went wrong."""
        found = result_of(run_in(root))
        assert found["files"] == self.result["files"]
        assert_equal(found, self.result)


@functools.cache
def prepared(scenario: Scenario) -> Prepared:
    """Train a scenario's run, and let it go on undisturbed."""
    from shim import Fault

    zygote = the_zygote()
    folder = Path(tempfile.mkdtemp(dir=zygote.folder))
    before, after = folder / "before", folder / "after"
    before.mkdir()
    if scenario.stored:
        zygote.run(scenario.new_words(before, scenario.stored)).assert_ok()
    shutil.copytree(before, after)
    words = scenario.words_to_go_on(after)
    ended = zygote.run(words, Fault(str(after))).assert_ok()
    return Prepared(scenario, before, after, ended.operations, result_of(run_in(after)))


def result_of(folder: Path, with_tensorboard: bool = True) -> dict:
    """Return what a run left, apart from the clock: files, networks, metrics, TensorBoard's steps.

    The metrics hold each iteration once, and TensorBoard each step once.

    Args:
        with_tensorboard: False leaves the steps out, which are checked all the same.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = sorted({str(path.relative_to(folder)) for path in paths if _EVENTS not in path.name})
    networks = {
        str(path.relative_to(folder)): read_safetensors(path)[1]
        for path in folder.glob("networks/*.safetensors")
    }
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    rows = RunFolder(folder).read_metrics()
    assert len(lines) == len(rows)
    assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
    metrics = [{key: row[key] for key in row if not _CLOCK.search(key)} for row in rows]
    result = {"files": names, "networks": networks, "metrics": dict(enumerate(metrics))}
    steps = tensorboard_steps(folder)
    return result | {"tensorboard": steps} if with_tensorboard else result


def tensorboard_steps(folder: Path) -> dict[str, list[int]]:
    """Return the steps of each curve as TensorBoard shows them; none comes twice."""
    events = EventAccumulator(str(folder))
    events.Reload()
    steps = {tag: [e.step for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    for tag, found in steps.items():
        assert len(set(found)) == len(found), (tag, found)
    return steps


def assert_equal(found, expected, where="") -> None:
    """Assert that nested dictionaries are equal, bit for bit."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), where
        for key in expected:
            assert_equal(found[key], expected[key], f"{where}/{key}")
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes(), where
    else:
        assert found == expected or (found != found and expected != expected), where
