"""A disk that is full, broken or read-only: one line that says so, nothing lost, nothing left.

Every operation on the disk of every command that writes files fails once, or from then on. The
command then either works all the same, or says in one line which file and why, and ends with exit
status 2; no unfinished file is left. When the disk works again, so does the same command. A run
goes on from its last stored iteration, to the weights of an undisturbed run.
"""

import collections
import errno
import functools
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
import shim
from commands import COMMANDS, RUN, Command
from harness import IS_FULL, Ended, Fault, tell, the_zygote
from stored_runs import assert_equal, prepared, result_of, run_in

from alphazero.storage.run_folder import RunFolder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks a process with torch")

ERRORS = ("ENOSPC", "EIO", "EROFS")
NUM_PARTS = 4 if IS_FULL else 1  # of a command's faults: tests that run beside each other
TRIED = [
    pytest.param(command, part, num_parts, id=f"{command.name}-{part}")
    for command in COMMANDS
    if command.is_quick or IS_FULL
    for num_parts in [NUM_PARTS if command.is_quick else 1]
    for part in range(num_parts)
]
#: What commands import that train nothing.
LIBRARIES = ["matplotlib.pyplot", "PIL.Image", "torch.onnx", "onnxscript"]


class Staged(NamedTuple):
    """The folder in which a command runs, and what it does there undisturbed."""

    folder: Path  #: before
    after: Path
    operations: list[list]
    paths: set[str]  #: the files that are there afterwards
    result: dict | None  #: of a run that it trains


@functools.cache
def staged(command: Command) -> Staged:
    zygote = the_zygote()
    if not command.is_quick:
        zygote.warm(LIBRARIES, call="commands:import_all")
    folder = Path(tempfile.mkdtemp(dir=zygote.folder))
    before = prepared(RUN).copy(folder / "before")
    for words in command.words_before(before):
        zygote.run(words, cwd=before).assert_ok()
    after = folder / "after"
    shutil.copytree(before, after)
    ended = run(command, after, Fault(str(after))).assert_ok()
    result = result_of(trained(command, after)) if command.trains else None
    return Staged(before, after, ended.operations, paths_in(after), result)


def run(command, root, fault=None) -> Ended:
    return the_zygote().run(command.words_in(root), fault, cwd=root)


def trained(command, root) -> Path:
    """Return the folder of the run that a command trains."""
    return root / command.output / "tic_tac_toe/a" if command.output else run_in(root)


def paths_in(root) -> set[str]:
    paths = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    return {path for path in paths if "tfevents" not in path}


def target_of(path) -> str:
    """Return the name of a file, also of the temporary one that is going to be it."""
    return re.sub(r"^\.(.+)\.tmp\d+$", r"\1", os.path.basename(path))


def faults(operations):
    """Return the faults of a command, each a dictionary of fields of `Fault`.

    Operations of a long command fail with one error each.
    """
    chosen = []
    for number, (kind, *_) in enumerate(operations):
        turn = number % len(ERRORS)
        for index, error in enumerate(ERRORS if len(operations) < 60 else ERRORS[turn : turn + 1]):
            if error != "ENOSPC" or kind not in shim.NEEDS_NO_SPACE:
                chosen.append(dict(at=number, error=error, lasting=bool((index + number // 3) % 2)))
        if kind == "write":
            chosen.append(dict(at=number, error="ENOSPC", when="part", lasting=bool(number % 2)))
    return chosen


@pytest.mark.parametrize("command, part, num_parts", TRIED)
def test_a_failing_disk_is_one_line_and_loses_nothing(command, part, num_parts, tmp_path, amount):
    stage = staged(command)
    chosen = faults(stage.operations)
    if not command.is_quick:
        chosen = chosen[::2]
    step = amount(max(len(chosen) // 2, 1), num_parts)
    found = collections.Counter()
    for fields in chosen[part::step]:
        root = tmp_path / f"{fields['at']}{fields['error']}{fields.get('when', '')}"
        shutil.copytree(stage.folder, root)
        ended = run(command, root, Fault(str(root), **fields))
        kind, path, *_ = stage.operations[fields["at"]]
        try:
            outcome = check(command, stage, root, ended, fields["error"], target_of(path))
            if outcome == "refused":
                allowed_none = fields["lasting"] or kind == "unlink"
                is_in_place = kind == "fsync" and os.path.isdir(path)  # and whole
                if is_in_place or (fields["error"] != "ENOSPC" and allowed_none):
                    remove_new(command, stage, root)
                check_again(command, stage, root)
        except AssertionError as error:
            raise AssertionError(f"{kind} {path}, {fields}: {ended}") from error
        found[outcome] += 1
    tell("faults of the disk", found)


def check(command, stage, root, ended, error, target) -> str:
    """Assert that a command has worked, or has said in one line what failed; return which."""
    left = paths_in(root)
    if ended.status == 0:
        ended.assert_ok()
        assert not ended.stderr or "Traceback" not in ended.stderr
        if error != "ENOSPC":  # what allows no deleting keeps the lock; the next command removes it
            for path in left - stage.paths:
                assert path.endswith(".lock")
                (root / path).unlink()
        assert paths_in(root) == stage.paths
        if command.trains:
            assert_same_run(command, stage, root)
        return "worked"
    reason = os.strerror(getattr(errno, error))
    ended.assert_refused(reason)
    outputs = [word.partition("=")[2] for word in command.words if word.startswith("plot=")]
    names = {target, *outputs, *command.output.split("/")} - {""} or {"run"}
    assert any(name in ended.stderr for name in {*names, str(trained(command, root))})
    if error == "ENOSPC":  # the others may allow no deleting
        unfinished = {path for path in left if ".tmp" in path or target_of(path) != Path(path).name}
        assert not unfinished
        if not command.trains:
            assert left <= stage.paths
            for path in left - paths_in(stage.folder):  # a whole file, or none
                assert Path(root, path).stat().st_size
    return "refused"


def remove_new(command, stage, root) -> None:
    """Remove by hand what a disk that allowed no deleting has kept."""
    if not command.trains:
        for path in paths_in(root) - paths_in(stage.folder):
            (root / path).unlink()
    if command.name == "new_game":
        shutil.rmtree(root / command.output, ignore_errors=True)


def check_again(command, stage, root) -> None:
    """Assert that the same command goes on when the disk works again."""
    if command.trains:
        folder = trained(command, root)
        words = ["train", f"resume={folder}", "run.num_iterations=2"]
        if command.name == "resume":
            words = command.words_in(root)
        if not RunFolder(folder).states:
            words = command.words_in(root)
        the_zygote().run(words, cwd=root).assert_ok()
        assert_same_run(command, stage, root)
        return
    run(command, root).assert_ok()
    # A disk that allowed no deleting may have kept an unfinished file.
    assert {path for path in paths_in(root) if ".tmp" not in path} == stage.paths


def assert_same_run(command, stage, root) -> None:
    assert_equal(result_of(trained(command, root)), stage.result)


def test_a_disk_that_is_really_full_is_one_line_and_the_run_goes_on(small_disk):
    run_before, zygote = prepared(RUN), the_zygote()
    root = small_disk / "root"
    run_before.copy(root)
    command = next(command for command in COMMANDS if command.name == "resume")
    filler = small_disk / "filler"
    free = shutil.disk_usage(small_disk).free
    for left in (0, 5_000, 20_000, 60_000, 150_000):
        filler.write_bytes(b"x" * max(free - left, 0))
        ended = zygote.run(command.words_in(root), cwd=root)
        if ended.status:
            ended.assert_refused()
        filler.unlink()
    zygote.run(command.words_in(root), cwd=root).assert_ok()
    run_before.assert_same(root)
