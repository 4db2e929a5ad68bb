"""A disk that is full, broken or read-only: one line that says so, nothing lost, nothing left.

Operations on the disk of commands that write files fail once, or from then on. The command then
either works all the same, or says in one line which file and why, and ends with exit status 2; no
unfinished file is left. When the disk works again, so does the same command. A run goes on from its
last stored iteration, to the weights of an undisturbed run.
"""

import errno
import functools
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from disk import NEEDS_NO_SPACE, Fault, watched
from harness import FOLDER, Ended, amount, run
from run_samples import assert_same
from stored_runs import SMALLEST, prepared, result_of, run_in

from alphazero.storage.run_folder import RunFolder

ERRORS = ("ENOSPC", "EIO", "EROFS")
#: Commands, and what each writes: a file, or a folder that ends in "/". RUN is a stored run.
COMMANDS = {
    "train": (f"train {' '.join(SMALLEST)} run.root=new run.name=a run.num_iterations=2", "new/"),
    "resume": ("train resume=RUN run.num_iterations=4", ""),
    "match": ("match game=tic_tac_toe a=random b=random num_games=2 json=match.json", "match.json"),
    "plot": ("plot run=RUN output=run.png", "run.png"),
    "export": ("export network=RUN output=out.onnx", "out.onnx"),
    "new_game": ("new_game my_game", "my_game/"),
}


class Staged(NamedTuple):
    """The folder in which a command runs, and what it does there undisturbed."""

    words: str
    output: str
    folder: Path  #: before
    operations: list[list]
    paths: set[str]  #: the files that are there afterwards
    result: dict | None  #: of a run that it trains

    def run(self, root: Path) -> Ended:
        return run(self.words.replace("RUN", str(run_in(root))).split(), cwd=root)

    @property
    def trains(self) -> bool:
        return self.words.startswith("train")

    def trained(self, root) -> Path:
        """Return the folder of the run that the command trains."""
        return root / self.output / "tic_tac_toe/a" if self.output else run_in(root)


@functools.cache
def staged(name: str) -> Staged:
    folder = Path(tempfile.mkdtemp(dir=FOLDER.name))
    before, after = prepared().copy(folder / "before"), folder / "after"
    shutil.copytree(before, after)
    stage = Staged(*COMMANDS[name], before, [], set(), None)
    with watched(after) as watch:
        stage.run(after).assert_ok()
    result = result_of(stage.trained(after)) if stage.trains else None
    return stage._replace(operations=watch.operations, paths=paths_in(after), result=result)


def paths_in(root) -> set[str]:
    paths = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    return {path for path in paths if "tfevents" not in path}


def target_of(path) -> str:
    """Return the name of a file, also of the temporary one that is going to be it."""
    return re.sub(r"^\.(.+)\.tmp\d+$", r"\1", os.path.basename(path))


def faults(operations) -> list[Fault]:
    """Return the faults of a command. Operations of a long command fail with one error each."""
    chosen = []
    for number, (kind, *_) in enumerate(operations):
        turn = number % len(ERRORS)
        for index, error in enumerate(ERRORS if len(operations) < 60 else ERRORS[turn : turn + 1]):
            if error != "ENOSPC" or kind not in NEEDS_NO_SPACE:
                chosen.append(Fault(number, error, lasting=bool((index + number // 3) % 2)))
        if kind == "write":
            chosen.append(Fault(number, "ENOSPC", in_part=True, lasting=bool(number % 2)))
    return chosen


SLOW = ("plot", "export")
CASES = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in COMMANDS]


@pytest.mark.parametrize("name", CASES)
def test_a_failing_disk_is_one_line_and_loses_nothing(name, tmp_path):
    stage = staged(name)
    chosen = faults(stage.operations)
    in_events = [one for one in chosen if "tfevents" in stage.operations[one.at][1]]
    few = chosen[len(chosen) // 4 :: len(chosen) // 2] + [one for one in in_events if one.in_part]
    for number, fault in enumerate(amount(few[:3], chosen)):
        root = tmp_path / str(number)
        shutil.copytree(stage.folder, root)
        with watched(root, fault):
            ended = stage.run(root)
        kind, path, *_ = stage.operations[fault.at]
        try:
            if ended.status == 0:
                assert_worked(stage, root, ended, fault.error)
                continue
            assert_refused(stage, root, ended, fault.error, target_of(path))
            allowed_none = fault.lasting or kind == "unlink"
            is_in_place = kind == "fsync" and "." not in os.path.basename(path)  # a whole file
            if is_in_place or (fault.error != "ENOSPC" and allowed_none):
                remove_new(stage, root)
            assert_works_again(name, stage, root)
        except AssertionError as error:
            error.add_note(f"{kind} {path}, {fault}: {ended}")
            raise


def assert_worked(stage, root, ended, error):
    ended.assert_ok()
    if error != "ENOSPC":  # what allows no deleting keeps the lock; the next command removes it
        for path in paths_in(root) - stage.paths:
            assert path.endswith(".lock")
            (root / path).unlink()
    assert paths_in(root) == stage.paths
    if stage.trains:
        assert_same(result_of(stage.trained(root)), stage.result)


def assert_refused(stage, root, ended, error, target):
    """Assert that a command has said in one line what failed, and left nothing unfinished."""
    ended.assert_refused(os.strerror(getattr(errno, error)))
    names = {target, *stage.output.split("/"), str(stage.trained(root))} - {""}
    assert any(name in ended.stderr for name in names)
    if error == "ENOSPC":  # the others may allow no deleting
        left = paths_in(root)
        assert not [path for path in left if target_of(path) != Path(path).name]
        assert stage.trains or left <= stage.paths


def remove_new(stage, root) -> None:
    """Remove by hand what a disk that allowed no deleting has kept."""
    if not stage.trains:
        for path in paths_in(root) - paths_in(stage.folder):
            (root / path).unlink()
    if stage.output == "my_game/":
        shutil.rmtree(root / stage.output, ignore_errors=True)


def assert_works_again(name, stage, root) -> None:
    """Assert that the same command goes on when the disk works again."""
    if not stage.trains:
        stage.run(root).assert_ok()
        # A disk that allowed no deleting may have kept an unfinished file.
        assert {path for path in paths_in(root) if ".tmp" not in path} == stage.paths
        return
    folder = stage.trained(root)
    if name == "resume" or not RunFolder(folder).states:
        if name == "train":  # what a disk that allowed no deleting has kept
            shutil.rmtree(folder, ignore_errors=True)
        stage.run(root).assert_ok()
    else:
        run(["train", f"resume={folder}", "run.num_iterations=2"]).assert_ok()
    assert_same(result_of(folder), stage.result)
