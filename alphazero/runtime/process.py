"""Control this process: its OpenMP threads, freed memory, standard output and exit.

A program calls `limit_spinning` before it imports torch. Importing `alphazero` never does, because
that would change the environment of the user's program.
"""

import contextlib
import ctypes
import errno
import importlib.metadata
import os
import signal
import sys
from collections.abc import Iterator
from typing import NoReturn, TextIO

# glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD, from its malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3


def limit_spinning() -> None:
    """Let idle OpenMP threads spin for about a thousand turns, then sleep.

    The threads wait for each other after every layer of a training step. With the 4x48 network and
    256 samples on two cores, a step was measured to take 20 to 30 times as long with unlimited
    spinning, the default, when another program uses the same cores; without spinning it takes 1.4
    times as long on an idle machine. A thousand turns is best in both cases: 30 ms on an idle
    machine, 95 ms with one core taken.

    libgomp reads these environment variables when torch is first imported; other OpenMP libraries
    read only OMP_WAIT_POLICY. Variables that the user has set are kept.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")


def keep_freed_memory() -> None:
    """Make glibc keep up to 1 GB of freed memory for later arrays; without glibc, do nothing.

    By default glibc returns every large array to the system and requests the memory again. That
    costs 3,600 page faults in a learner step (4 x 48 network, 256 samples), a tenth of its time.
    Peak memory stays the same: 618 and 623 MB in two runs of three iterations without this setting,
    633 and 626 MB with it. 32 MB is the largest threshold that every glibc accepts; larger arrays
    are returned as before.
    """
    _set_malloc({_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 1 << 30})


def return_freed_memory() -> None:
    """Make glibc return freed memory to the system soon; without glibc, do nothing.

    Loading a network frees 100 MB and more, which the default keeps.
    """
    _set_malloc({_TRIM_THRESHOLD: 64 << 10})


def _set_malloc(options: dict[int, int]) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for name, value in options.items():
            mallopt(name, value)


def claim_output() -> TextIO:
    """Reserve standard output for this program's replies, and return the stream for the replies.

    From then on, all other output, such as that of C libraries, goes to standard error. If standard
    output has already been replaced in Python, the replacement is returned and nothing changes.
    """
    if sys.stdout is not sys.__stdout__:  # something in this process captures it
        return sys.stdout
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def end_process(status: int = 0) -> NoReturn:
    """End the process at once with an exit status, without waiting for its other threads.

    Standard output and standard error are flushed first. A normal exit would wait for threads that
    load a network or compile kernels, and would stop others inside C++ libraries, which then abort
    the process (SIGABRT).
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # nobody reads the stream any more
            stream.flush()
    os._exit(status)


def version_of(package: str) -> str:
    """Return the version of an installed package, or "not installed"."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def silence_stdout() -> None:
    """Redirect standard output to the null device, so that flushing it at exit does not fail."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


@contextlib.contextmanager
def unless_hung_up() -> Iterator[None]:
    """If printing fails because the terminal was closed, discard all output and carry on."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        silence_stdout()
