"""The cache of compiled kernels: what names it, what it holds, and what it does when damaged."""

import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from alphazero.runtime import jit

PACKAGE = Path(jit.__file__).parents[1]


def test_every_file_that_defines_compiled_code_is_a_source():
    defining = {
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^@(njit|rules\.implement|overload)\b", path.read_text(), re.MULTILINE)
    }
    assert len(defining) > 12
    assert defining <= set(jit.kernel_sources())


@pytest.fixture
def package(tmp_path):
    """Return a copy of the package's sources."""
    copy = tmp_path / "alphazero"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.pyc", "__pycache__"))
    return copy


def test_an_edit_of_a_kernel_source_alone_renames_the_cache(package):
    sources = ["solvers/alpha_beta.py", "runtime/bits.py", "games/othello.py", "search/uct/tree.py"]
    for edited in (*sources, "cli/play.py", "training/trainer.py"):
        before = jit._digest(package)
        jit._digest.cache_clear()
        with open(package / edited, "a") as file:
            file.write("\n# edited\n")
        assert (jit._digest(package) != before) == (edited in sources)


@pytest.mark.slow
def test_the_first_compilation_is_announced_once_and_only_if_something_is_compiled(tmp_path):
    code = (
        "from alphazero.runtime import jit, random_generators as g; import numpy as np\n"
        "jit.announce_first_compilation()\n"
        "for size in (3, 4): g.random_below(np.array([1], np.uint64), size)\n"
        "g.random_below(np.array([1], np.uint64), 2.0)\n"
    )
    environment = os.environ | {"ALPHAZERO_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    for num_lines in (1, 0):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stderr.count("\n") == num_lines


# --- a cache that is damaged, or cannot be used ---------------------------------------------------


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Return a function that defines a kernel as a new process would, with a cache of its own."""
    monkeypatch.setenv("ALPHAZERO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(jit._KernelCache, "complains", True)
    source = tmp_path / "kernels.py"
    source.write_text("def double(x):\n    return 2 * x\n\n\ndef triple(x):\n    return 3 * x\n")

    def define(name="double"):
        jit._checked_folder.cache_clear()
        module = {}
        exec(compile(source.read_text(), str(source), "exec"), module)
        return jit.njit(module[name])

    return define


def is_loaded(kernel, argument=3, expected=6) -> bool:
    """Call a kernel; return whether it was loaded rather than compiled."""
    assert kernel(argument) == expected
    return bool(sum(kernel.stats.cache_hits.values()))


def stored(tmp_path) -> list[Path]:
    return sorted(tmp_path.rglob("*.nbc"))


def test_a_kernel_is_compiled_once_for_each_signature(kernel, tmp_path):
    assert not is_loaded(kernel()) and is_loaded(kernel())
    assert not is_loaded(kernel(), 1.5, 3.0) and is_loaded(kernel(), 1.5, 3.0)
    assert not is_loaded(kernel("triple"), expected=9)
    assert len(stored(tmp_path)) == 3
    (tmp_path / "kernels.py").write_text("def double(x):\n    return 4 * x\n")
    assert not is_loaded(kernel(), expected=12)


DAMAGES = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "garbage": lambda data: b"\x80\x04cos\nsystem\n(S'false'\ntR." * 50,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_code_is_compiled_again_and_replaced(kernel, tmp_path, damage, capfd):
    assert not is_loaded(kernel())
    (path,) = stored(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    assert not is_loaded(kernel()) and is_loaded(kernel())
    assert capfd.readouterr().err == ""


def in_a_file(cache, monkeypatch):
    cache.write_text("")


def open_to_others(cache, monkeypatch):
    cache.mkdir()
    cache.chmod(0o777)


def of_another_user(cache, monkeypatch):
    cache.mkdir()
    if os.getuid() == 0:
        os.chown(cache, 12345, -1)
    else:
        monkeypatch.setattr(jit.os, "geteuid", lambda: 12345)


def on_a_full_disk(cache, monkeypatch):
    def full(path, data):
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)


UNUSABLE = [in_a_file, on_a_full_disk]
if hasattr(os, "getuid"):
    UNUSABLE += [open_to_others, of_another_user]


@pytest.mark.parametrize("make_unusable", UNUSABLE)
def test_without_a_usable_folder_kernels_are_compiled_and_one_line_says_why(
    kernel, tmp_path, monkeypatch, capsys, make_unusable
):
    make_unusable(tmp_path / "cache", monkeypatch)
    for name, expected in (("double", 6), ("triple", 9), ("double", 6)):
        assert not is_loaded(kernel(name), expected=expected)
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path / "cache") in line and "ALPHAZERO_CACHE_DIR" in line
    assert all(path.stat().st_size == 0 for path in stored(tmp_path))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owners here")
def test_a_folder_that_others_can_replace_is_refused_unless_it_is_sticky(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    with pytest.raises(OSError) as error:
        jit.private_folder(tmp_path / "shared" / "mine")
    assert error.value.filename == str(tmp_path / "shared")
    (tmp_path / "shared").chmod(0o1777)
    assert jit.private_folder(tmp_path / "shared" / "mine").is_dir()
    with pytest.raises(OSError):
        jit.private_folder(tmp_path / "shared")  # others can add files to it


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_is_read_while_two_processes_write_and_one_is_killed_is_whole(tmp_path):
    path = tmp_path / "kernel.nbc"
    contents = [letter * 1_000_000 for letter in (b"a", b"b")]
    jit._write(path, contents[0])
    writers = []
    for data in contents:
        writers.append(os.fork())
        if not writers[-1]:
            while True:
                jit._write(path, data)
    found = []
    try:
        for attempt in range(200):
            if attempt == 100:
                os.kill(writers[0], signal.SIGKILL)
            with contextlib.suppress(ValueError):  # half of a file
                found.append(jit._read(path))
    finally:
        for writer in writers:
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
    assert all(data in contents for data in found)
    jit._write(path, b"whole")
    assert jit._read(path) == b"whole"
