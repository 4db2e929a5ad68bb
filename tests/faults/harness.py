"""Run commands in children that fail: they are killed, their disk is full, they hang.

Importing torch takes seconds, so a process that has done it (`zygote.py`) forks a child for each
case; a command on a tiny run then takes a fraction of a second. One such process serves a process
of tests; `the_zygote` returns it.

    zygote = the_zygote()
    ended = zygote.run(["train", f"resume={folder}"], fault=Fault(str(folder), at=17))
    assert ended.signal == signal.SIGKILL
"""

import atexit
import contextlib
import dataclasses
import functools
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from run_samples import TINY
from shim import Fault

#: The words of a small run of tic-tac-toe.
GAME = ["game=tic_tac_toe", *TINY]
#: Whether everything is tried, as `make test-faults` does.
IS_FULL = os.environ.get("ALPHAZERO_FAULTS") == "full"
#: After which a child hangs; other processes may use the machine.
TIMEOUT_S = 300
#: What was tried, and how often it ended how; the summary of `pytest` adds it up.
FIGURES: list[tuple[str, dict[str, int]]] = []
_HERE = Path(__file__).parent


@dataclasses.dataclass
class Ended:
    """How a child ended.

    Attributes:
        status: the exit status; minus the signal, if one ended it.
        hung: whether it had to be killed; `stderr` then ends with its stack.
        operations: what it did below the folder of the fault, see `shim`; empty if it was killed.
    """

    status: int
    hung: bool
    stdout: str
    stderr: str
    seconds: float
    cpu_s: float
    operations: list[list] = dataclasses.field(default_factory=list, repr=False)

    @property
    def signal(self) -> int:
        """The signal that ended it, 0 if none."""
        return max(-self.status, 0)

    def assert_ok(self) -> "Ended":
        assert self.status == 0 and not self.hung, self
        return self

    def assert_refused(self, *parts: str) -> "Ended":
        """Assert that it ended with one line that contains ``parts``, and exit status 2."""
        assert not self.hung and self.status == 2, self
        assert "Traceback" not in self.stderr, self.stderr
        lines = self.stderr.strip().splitlines()
        assert len(lines) == 1 and lines[0].startswith("error: "), self.stderr
        assert all(part in lines[0] for part in parts), (lines, parts)
        return self


class Zygote:
    """A process that forks children.

    Attributes:
        folder: of the children's outputs; it is removed with the process.
    """

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="zygote-"))
        root = str(_HERE.parents[1])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, str(_HERE / "zygote.py")],
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "1000", "TMPDIR": str(self.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._numbers = itertools.count()
        self._started: dict[int, tuple[int, float]] = {}
        self._read()
        atexit.register(self.close)

    def warm(
        self, words: list[str], cwd: str | Path | None = None, call: str = "alphazero.cli:main"
    ) -> None:
        """Run a command in the process itself: children are then quick from the start."""
        where = str(self.folder if cwd is None else cwd)
        answer = self._ask(do="warm", words=[str(word) for word in words], call=call, cwd=where)
        assert answer["status"] == 0, f"{words} ended with {answer['status']}"
        assert len(answer["threads"]) == 2, f"{words} left threads: {answer['threads']}"

    def start(
        self,
        words: list[str],
        fault: Fault | None = None,
        cwd: str | Path | None = None,
        env: dict[str, str] | None = None,
        call: str = "alphazero.cli:main",
    ) -> int:
        """Start a child; return its process id, which is that of its group, too.

        Args:
            words: of the command line.
            fault: what goes wrong in it.
            call: the module and the function that is called with ``words``.
        """
        number = next(self._numbers)
        files = {name: str(path) for name, path in self._files(number).items()}
        fields = None if fault is None else dataclasses.asdict(fault)
        where = str(self.folder if cwd is None else cwd)
        request = dict(words=[str(word) for word in words], call=call, env=env or {}, fault=fields)
        pid = self._ask(do="start", cwd=where, **request, **files)["pid"]
        self._started[pid] = (number, time.monotonic())
        return pid

    def wait(self, pid: int, timeout_s: float = TIMEOUT_S) -> Ended:
        """Wait until a child ends; kill it after ``timeout_s``."""
        answer = self._ask(do="wait", pid=pid, timeout_s=timeout_s)
        number, start = self._started.pop(pid)
        texts = {}
        for name, path in self._files(number).items():
            texts[name] = path.read_text(errors="replace") if path.exists() else ""
            path.unlink(missing_ok=True)
        operations = json.loads(texts.pop("operations") or "[]")
        return Ended(**answer, **texts, seconds=time.monotonic() - start, operations=operations)

    def run(
        self, words: list[str], fault: Fault | None = None, timeout_s: float = TIMEOUT_S, **more
    ):
        """Start a child and wait for it."""
        return self.wait(self.start(words, fault, **more), timeout_s)

    def close(self) -> None:
        """End the process and its children."""
        if self._process.poll() is None:
            self._process.stdin.close()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _files(self, number: int) -> dict[str, Path]:
        names = ("stdout", "stderr", "operations")
        return {name: self.folder / f"{number}.{name}" for name in names}

    def _ask(self, **request) -> dict:
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict:
        line = self._process.stdout.readline()
        assert line, "the zygote has ended; its last words are above"
        return json.loads(line)


@functools.cache
def the_zygote() -> Zygote:
    """Return the zygote of this process; it has trained tic-tac-toe once."""
    zygote = Zygote()
    zygote.warm(["train", *GAME, "run.root=runs", "run.name=warm", "run.num_iterations=2"])
    return zygote


def tell(what: str, ends: Mapping[str, int]) -> None:
    """Note for the summary what a test has tried, and how often that ended how."""
    FIGURES.append((what, dict(ends)))


def kill(pid: int) -> None:
    """Kill a child and what it started, unless it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
