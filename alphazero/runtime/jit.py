"""Compile the hot functions with numba, once for each machine and version of the sources.

In: plain Python functions. Out: the same functions compiled, or left as they are when ``NUMBA_DISABLE_JIT=1`` is set (for a debugger).
This file is the only one that knows where compiled code is kept and which options numba gets.

numba's own cache notices an edit in the file of a kernel, but not in a file which that kernel calls into. The cache directory is therefore
named by a digest of every source that holds compiled code, and of a user's game file. Kernels receive data, never functions: a kernel that
is handed a function misses the cache in every new process.
"""

import functools
import hashlib
import os
import sys
from pathlib import Path

import numba

_PACKAGE = Path(__file__).parents[1]
_dispatchers = []
_extra_sources: list[Path] = []


def cache_directory() -> Path:
    """Return the directory of the compiled kernels, named by a digest of the sources they come from.

    ``ALPHAZERO_CACHE_DIR`` moves it; otherwise it lies in the user's cache folder.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    kernels = [*sorted(_PACKAGE.glob("games/*.py")), *sorted(_PACKAGE.glob("search/**/*.py"))]
    others = [
        _PACKAGE / name
        for name in (
            "runtime/jit.py",
            "runtime/random_generators.py",
            "inference/cache.py",
            "replay/augmentation.py",
        )
    ]
    solvers = [_PACKAGE / "solvers" / name for name in ("connect_x.py", "othello.py")]
    sources = [*others, *kernels, *solvers, *_extra_sources]
    for source in sources:
        digest.update(source.read_bytes())
    home = os.environ.get("ALPHAZERO_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"),
        "alphazero",
    )
    return Path(home) / f"kernels-{digest.hexdigest()[:16]}"


numba.config.CACHE_DIR = str(cache_directory())


def njit(function=None, *, allocates: bool = False):
    """Compile ``function`` on its first call and keep the machine code on disk.

    ``error_model="numpy"`` lets a division be a division: with Python's model every one carries a check and a branch.

    ``_nrt=False`` leaves out the reference counts of arrays: every call that is not inlined would count each array it is given up and down,
    atomically, which was half of the time of a UCT search. Such a function must not make an array; one that must says ``allocates=True``.
    """
    if function is None:
        return functools.partial(njit, allocates=allocates)
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=allocates)(function)
    if not numba.config.DISABLE_JIT:
        _dispatchers.append(compiled)
    return compiled


def add_source(path: Path) -> None:
    """Count a user's game file among the sources, so that an edit of it compiles the kernels anew."""
    path = Path(path).resolve()
    if path in _extra_sources:
        return
    _extra_sources.append(path)
    numba.config.CACHE_DIR = str(cache_directory())
    for dispatcher in _dispatchers:
        dispatcher.enable_caching()


def announce_first_compilation(stream=None) -> None:
    """Say in one line that the kernels are about to be compiled, if this machine has not compiled them yet."""
    directory = cache_directory()
    if numba.config.DISABLE_JIT or directory.exists():
        return
    directory.mkdir(parents=True, exist_ok=True)
    print(
        "Compiling the game and search kernels: once on this machine, well under a minute ...",
        file=stream or sys.stderr,
        flush=True,
    )


# --- bits of a 64-bit board -------------------------------------------------------------------------------------------------------------
