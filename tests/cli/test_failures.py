"""What ends a command besides bad input: the machine, closed streams, Ctrl-C. Each is one line."""

import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import urllib.request
from pathlib import Path

import pytest

from alphazero import cli
from alphazero.cli import main
from alphazero.cli.command import write_figures
from alphazero.runtime import files
from alphazero.runtime.console import Console
from alphazero.runtime.files import write_output

ROOT = Path(__file__).parents[2]
FULL = Path("/dev/full")  # a device on which every write fails, as on a full disk
#: As torch 2.11 says it on an H200, where the rest goes on for five more lines.
OUT_OF_GPU_MEMORY = (
    "CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 139.80 GiB of "
    "which 138.04 GiB is free. Process 4740 has 528.00 MiB memory in use. 17.89 MiB allowed"
)
needs_full = pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")


def run(code: str, **options) -> subprocess.CompletedProcess:
    """Run Python code in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    options = {"env": environment, "capture_output": True, "text": True, "timeout": 300} | options
    return subprocess.run(command, check=False, **options)


# --- the boundary ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error, named",
    (
        (OSError(errno.ENOSPC, "No space left on device", "a/state"), "a/state: No space"),
        (OSError(errno.EMFILE, "Too many open files"), "open files"),
        (MemoryError("Unable to allocate 7 GiB"), "7 GiB"),
        (RecursionError("maximum recursion depth exceeded"), "nested"),
        (RuntimeError("can't start new thread"), "thread"),
        (RuntimeError(OUT_OF_GPU_MEMORY), "full. Tried to allocate 2.00 MiB. Lower learner.batch"),
        (ValueError("a\nb \x1b[31m \udcff"), r"a\nb \x1b[31m \udcff"),
    ),
)
def test_a_failure_of_input_or_machine_is_one_line(error, named, capsys, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(cli, "_run", fail)
    assert main(["match"]) == 2
    out, err = capsys.readouterr()
    assert out.strip() == "" and err.startswith("error: ") and err.count("\n") == 1 and named in err


def test_a_bug_keeps_its_traceback_unless_the_command_was_interrupted(monkeypatch):
    def fail(*_):
        raise KeyError("bug")

    def interrupted(*_):
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise KeyError("of a library that takes every exception for its own") from None

    monkeypatch.setattr(cli, "_run", fail)
    with pytest.raises(KeyError):
        main(["match"])
    monkeypatch.setattr(cli, "_run", interrupted)
    assert main(["match"]) == 130


# --- streams --------------------------------------------------------------------------------------


HELP = "import sys, alphazero.cli as c; sys.exit(c.main([]))"


def test_a_closed_pipe_ends_a_command_silently():
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as pipe:
        done = run(HELP, stdout=pipe, capture_output=False, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")


# --- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place, number",
    (
        ("weakref.ref(a, swallow)", signal.SIGINT),
        ("D()", signal.SIGTERM),
        ("ctypes.CFUNCTYPE(None)(swallow)()", signal.SIGINT),
    ),
)
def test_an_interrupt_that_python_drops_still_ends_the_command(place, number):
    done = run(
        f"""
        import ctypes, sys, threading, weakref
        from alphazero import cli

        def swallow(*_):
            import signal
            signal.raise_signal({int(number)})

        class A:
            pass

        class D:
            def __del__(self):
                swallow()

        def run(*_):
            a = A()
            kept = {place}
            del a
            del kept
            threading.Event().wait(100)

        cli._run = run
        sys.exit(cli.main(["match"]))
        """
    )
    assert (done.returncode, done.stderr) == (130, "stopped.\n")


def test_a_second_interrupt_does_not_cut_short_what_the_first_one_tidies_up():
    done = run(
        """
        import signal, sys
        from alphazero import cli

        def run(*_):
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGTERM)
                print("tidy")

        cli._run = run
        sys.exit(cli.main(["match"]))
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "tidy\n", "stopped.\n")


@pytest.mark.slow
@pytest.mark.parametrize(  # while it loads networks, and with an open page
    "number, delay_s", ((signal.SIGINT, 0.0), (signal.SIGTERM, 0.3), (signal.SIGINT, 3.0))
)
def test_the_page_ends_when_it_is_told_to(number, delay_s):
    pytest.importorskip("uvicorn", reason="the extra [web] is not installed")
    code = "import sys; from alphazero.cli import main; sys.exit(main(['serve', 'open=false']))"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        url = re.search(r"http://\S+", process.stdout.readline())[0]
        time.sleep(delay_s)
        with contextlib.ExitStack() as stack:
            if delay_s == 3.0:
                stack.enter_context(urllib.request.urlopen(f"{url}api/live"))
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
    # It was told to before it answered anybody, or later, perhaps while it compiled its kernels.
    lines = [line for line in errors.splitlines() if not line.startswith("Compiling the game")]
    assert (process.returncode, lines) in ((130, ["stopped."]), (0, []))


# --- files that a person asks for -----------------------------------------------------------------


def refuse_writes(monkeypatch, folder=None):
    """Make every write below a folder fail, also elsewhere if that is None."""

    def fail(path, data, **_):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(files, "write_atomically", fail)
    if folder is None:
        monkeypatch.setattr(files.tempfile, "mkstemp", lambda *_: fail("tmp", b""))


def test_an_output_that_cannot_be_written_leaves_nothing_and_is_kept_elsewhere(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path / "tmp"))
    refuse_writes(monkeypatch, tmp_path)
    with pytest.raises(OSError, match="No space") as raised:
        write_figures(str(tmp_path / "a.json"), {"elo": 3}, Console())
    (kept,) = (tmp_path / "tmp").iterdir()
    assert json.loads(kept.read_text()) == {"elo": 3} and str(kept) in str(raised.value)
    assert raised.value.filename == str(tmp_path / "a.json")
    refuse_writes(monkeypatch)
    with pytest.raises(OSError, match="No space"):
        write_output(tmp_path / "b.json", b"x")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "tmp"]


@needs_full
def test_an_error_of_a_device_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(OSError) as raised:
        write_output(FULL, b"x")
    assert raised.value.filename == str(FULL) and raised.value.errno == errno.ENOSPC
