"""A disk that is full, broken or read-only: one line that says so, nothing lost, nothing left.

Operations on the disk of every command that writes files fail once, or from then on. The command
then either works all the same, or says in one line which file and why, and ends with exit status 2;
no unfinished file is left. When the disk works again, so does the same command. A run goes on from
its last stored iteration, to the weights of an undisturbed run.
"""

import collections
import errno
import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from disk import NEEDS_NO_SPACE, Fault, watched
from harness import FOLDER, IS_FULL, Ended, run, tell
from make_evaluation_set import main as make_evaluation_set
from run_samples import assert_same
from stored_runs import RESUME, SMALLEST, prepared, result_of, run_in

from alphazero.storage.run_folder import RunFolder

ERRORS = ("ENOSPC", "EIO", "EROFS")


class Command(NamedTuple):
    """A command, run in a folder that holds the stored run RUN.

    Attributes:
        words: those of the command line, and what it writes: a file, or a folder that ends in "/".
        few: how many faults `make test` tries.
        needs_set: whether the command reads an evaluation set, set.csv.
    """

    words: str
    output: str = ""
    few: int = 0
    needs_set: bool = False

    @property
    def trains(self) -> bool:
        return self.words.startswith("train")


_NEW = f"train {' '.join(SMALLEST)} run.root=new run.name=a run.num_iterations=2"
_NETWORK = "RUN/networks/000002.safetensors num_simulations=2 engine=torch"
COMMANDS = {
    "train": Command(_NEW, "new/", 2),
    "resume": Command("train resume=RUN run.num_iterations=4", few=2),
    "match": Command(
        "match game=tic_tac_toe a=random b=random num_games=2 json=match.json", "match.json", 3
    ),
    "evaluate": Command(
        f"evaluate player={_NETWORK} baseline=random set=set.csv json=result.json",
        "result.json",
        needs_set=True,
    ),
    "plot": Command("plot run=RUN output=run.png", "run.png"),
    "export": Command("export network=RUN output=out.onnx", "out.onnx"),
    "new_game": Command("new_game my_game", "my_game/", 3),
}
TRIED = [name for name, command in COMMANDS.items() if IS_FULL or command.few]


class Staged(NamedTuple):
    """The folder in which a command runs, and what it does there undisturbed."""

    command: Command
    folder: Path  #: before
    operations: list[list]
    paths: set[str]  #: the files that are there afterwards
    result: dict | None  #: of a run that it trains

    def run(self, root: Path) -> Ended:
        return run(words_in(self.command.words, root), cwd=root)


def words_in(words: str, root: Path) -> list[str]:
    return words.replace("RUN", str(run_in(root))).split()


@functools.cache
def staged(name: str) -> Staged:
    command, folder = COMMANDS[name], Path(tempfile.mkdtemp(dir=FOLDER.name))
    before = prepared(RESUME).copy(folder / "before")
    if command.needs_set:
        words = ["game=tic_tac_toe", "num_positions=4", f"out={before}/set.csv"]
        assert make_evaluation_set(words) == 0
    after = folder / "after"
    shutil.copytree(before, after)
    with watched(after) as watch:
        run(words_in(command.words, after), cwd=after).assert_ok()
    result = result_of(trained(command, after)) if command.trains else None
    return Staged(command, before, watch.operations, paths_in(after), result)


def trained(command, root) -> Path:
    """Return the folder of the run that a command trains."""
    return root / command.output / "tic_tac_toe/a" if command.output else run_in(root)


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


@pytest.mark.parametrize("name", TRIED)
def test_a_failing_disk_is_one_line_and_loses_nothing(name, tmp_path, amount):
    stage = staged(name)
    chosen = faults(stage.operations)
    few = max(COMMANDS[name].few, 1)
    in_events = [one for one in chosen if "tfevents" in stage.operations[one.at][1]]
    spread = chosen[len(chosen) // (2 * few) :: len(chosen) // few]
    chosen = amount(spread + [one for one in in_events if one.in_part][:1], chosen)
    found = collections.Counter()
    for number, fault in enumerate(chosen):
        root = tmp_path / str(number)
        shutil.copytree(stage.folder, root)
        with watched(root, fault):
            ended = stage.run(root)
        kind, path, *_ = stage.operations[fault.at]
        try:
            outcome = check(stage, root, ended, fault.error, target_of(path))
            if outcome == "refused":
                allowed_none = fault.lasting or kind == "unlink"
                is_in_place = kind == "fsync" and "." not in os.path.basename(path)  # a whole file
                if is_in_place or (fault.error != "ENOSPC" and allowed_none):
                    remove_new(name, stage, root)
                check_again(name, stage, root)
        except AssertionError as error:
            raise AssertionError(f"{kind} {path}, {fault}: {ended}") from error
        found[outcome] += 1
    tell("faults of the disk", found)


def check(stage, root, ended, error, target) -> str:
    """Assert that a command has worked, or has said in one line what failed; return which."""
    command, left = stage.command, paths_in(root)
    if ended.status == 0:
        ended.assert_ok()
        if error != "ENOSPC":  # what allows no deleting keeps the lock; the next command removes it
            for path in left - stage.paths:
                assert path.endswith(".lock")
                (root / path).unlink()
        assert paths_in(root) == stage.paths
        if command.trains:
            assert_same(result_of(trained(command, root)), stage.result)
        return "worked"
    ended.assert_refused(os.strerror(getattr(errno, error)))
    outputs = re.findall(r"plot=(\S+)", command.words)
    names = {target, *outputs, *command.output.split("/")} - {""} or {"run"}
    assert any(name in ended.stderr for name in {*names, str(trained(command, root))})
    if error == "ENOSPC":  # the others may allow no deleting
        assert not [path for path in left if target_of(path) != Path(path).name]
        if not command.trains:
            assert left <= stage.paths
            for path in left - paths_in(stage.folder):  # a whole file, or none
                assert Path(root, path).stat().st_size
    return "refused"


def remove_new(name, stage, root) -> None:
    """Remove by hand what a disk that allowed no deleting has kept."""
    if not stage.command.trains:
        for path in paths_in(root) - paths_in(stage.folder):
            (root / path).unlink()
    if name == "new_game":
        shutil.rmtree(root / stage.command.output, ignore_errors=True)


def check_again(name, stage, root) -> None:
    """Assert that the same command goes on when the disk works again."""
    command = stage.command
    if not command.trains:
        stage.run(root).assert_ok()
        # A disk that allowed no deleting may have kept an unfinished file.
        assert {path for path in paths_in(root) if ".tmp" not in path} == stage.paths
        return
    folder = trained(command, root)
    if name == "resume" or not RunFolder(folder).states:
        if name == "train":  # what a disk that allowed no deleting has kept
            shutil.rmtree(folder, ignore_errors=True)
        stage.run(root).assert_ok()
    else:
        run(["train", f"resume={folder}", "run.num_iterations=2"]).assert_ok()
    assert_same(result_of(folder), stage.result)


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder on a disk of one megabyte, where the user may mount one."""
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
    if shutil.which("mount") is None or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("only root may mount a disk")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_a_disk_that_is_really_full_is_one_line_and_the_run_goes_on(small_disk, amount):
    root = prepared(RESUME).copy(small_disk / "root")
    words = RESUME.words_to_go_on(root)
    filler = small_disk / "filler"
    free = shutil.disk_usage(small_disk).free
    for left in amount((0, 20_000), (0, 5_000, 20_000, 60_000, 150_000)):
        filler.write_bytes(b"x" * max(free - left, 0))
        ended = run(words)
        if ended.status:
            ended.assert_refused()
        filler.unlink()
    run(words).assert_ok()
    prepared(RESUME).assert_same(root)
