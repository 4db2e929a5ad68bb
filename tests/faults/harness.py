"""Run commands here or in children.

    run(["train", f"resume={folder}"]).assert_ok()
    child = Child(["train", f"resume={folder}"])
    child.kill()

Importing torch takes seconds, so children are forked from a process that has done it and has
trained once (`warm.py`); a tiny run then takes a fraction of a second.
"""

import contextlib
import ctypes
import dataclasses
import io
import itertools
import multiprocessing.forkserver
import os
import signal
import sys
import tempfile
from pathlib import Path
from unittest import mock

from alphazero.cli import main

#: Whether everything is tried, as `make test-faults` does.
IS_FULL = os.environ.get("ALPHAZERO_FAULTS") == "full"
#: A folder that is removed with this process.
FOLDER = tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True)
_HERE = Path(__file__).parent


def amount(few, many):
    """Return what the other suites try, or what `make test-faults` tries."""
    return many if IS_FULL else few


@dataclasses.dataclass
class Ended:
    """How a command ended: its exit status (minus the signal that ended it), and what it said."""

    status: int
    stdout: str
    stderr: str

    def assert_ok(self) -> "Ended":
        assert self.status == 0 and "Traceback" not in self.stderr, self
        return self

    def assert_refused(self, *parts: str) -> "Ended":
        """Assert that it ended with one line that contains ``parts``, and exit status 2."""
        assert self.status == 2 and self.stderr.startswith("error: "), self
        assert self.stderr.count("\n") == 1 and "Traceback" not in self.stderr, self
        assert all(part in self.stderr for part in parts), (self, parts)
        return self


def run(words: list, cwd: Path | None = None, stdin: bytes = b"") -> Ended:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(cwd or FOLDER.name))
        stack.enter_context(mock.patch.dict(os.environ, COLUMNS="1000"))
        stack.enter_context(mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        status = main([str(word) for word in words])
    return Ended(status, out.getvalue(), err.getvalue())


# --- children -------------------------------------------------------------------------------------

_numbers = itertools.count()
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["warm"])


class Child:
    """A process of its own, the first of a group, that runs a command."""

    def __init__(self, words: list):
        number = next(_numbers)
        self._files = [Path(FOLDER.name, f"{number}.{name}") for name in ("out", "err")]
        path = os.pathsep.join([str(_HERE), *filter(None, sys.path)])
        with mock.patch.dict(os.environ, PYTHONPATH=path, COLUMNS="1000", TMPDIR=FOLDER.name):
            multiprocessing.forkserver.ensure_running()
        arguments = ([str(word) for word in words], *self._files)
        self._process = _context.Process(target=_be_child, args=arguments)
        self._process.start()
        self.pid = self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.is_alive()

    @property
    def stdout(self) -> str:
        """What it has printed so far."""
        return self._files[0].read_text() if self._files[0].exists() else ""

    def kill(self) -> None:
        """Kill it and what it has started, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def wait(self, timeout_s: float = 300) -> Ended:
        """Wait until it ends; one that hangs is killed."""
        self._process.join(timeout_s)
        self.kill()
        self._process.join()
        texts = [path.read_text(errors="replace") if path.exists() else "" for path in self._files]
        return Ended(self._process.exitcode, *texts)


def _be_child(words, out, err):
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # with the process that has forked this one
    for descriptor, path in enumerate((out, err), 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666), descriptor)
    os.chdir(out.parent)
    sys.exit(main(words))
