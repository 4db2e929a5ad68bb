"""Compile hot functions with numba and keep the machine code on disk.

In: plain Python functions. Out: the same functions, compiled; or unchanged if ``NUMBA_DISABLE_JIT=1`` is
set, for a debugger. This file alone knows numba's options and where compiled code is stored.

numba's own cache notices an edit of the file that holds a kernel, but not of a file that the kernel calls
into. Our cache directory is therefore named by a digest of every source file that compiled code can come
from, and of the user's own game files. Only our kernels use this directory: numba's configuration, and so
the cache of the user's own functions, stays as it was.

Kernels receive data, never functions: a kernel that takes a function misses the cache in every new process.
"""

import contextlib
import functools
import hashlib
import os
import re
import sys
from pathlib import Path

import numba

_PACKAGE = Path(__file__).parents[1]
_dispatchers = []
_user_sources: list[Path] = []


def kernel_sources(package: Path = _PACKAGE) -> list[Path]:
    """Return the source files of a package that its compiled code can come from, sorted.

    These are the files that define kernels or rules of games, and every file of the package that they
    import, directly or not: numba compiles the constants and functions found there into the kernels.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    pending = [path for path, text in texts.items() if _DEFINES_KERNELS.search(text)]
    found = set()
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending += [other for other in _imported(texts[path], package) if other in texts]
    return sorted(found)


_DEFINES_KERNELS = re.compile(r"@njit\b|@rules\.implement\b|@overload\b|\bnumba\.extending\b")
_IMPORT = re.compile(r"^\s*from\s+alphazero([\w.]*)\s+import\s+(\([^)]*\)|[^\n#]*)", re.MULTILINE)


def _imported(text: str, package: Path) -> list[Path]:
    """Return the files that the import statements of a source may mean."""
    files = []
    for module, names in _IMPORT.findall(text):
        folder = package.joinpath(*module.split(".")[1:])
        files.append(folder.with_suffix(".py"))
        files += [folder / f"{name}.py" for name in re.findall(r"\w+", names)]
    return files


def cache_directory() -> Path:
    """Return the directory of the compiled kernels, named by a digest of their sources.

    The environment variable ``ALPHAZERO_CACHE_DIR`` moves it; the default is the user's cache folder.
    """
    home = os.environ.get("ALPHAZERO_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"),
        "alphazero",
    )
    return Path(home) / f"kernels-{_digest(tuple(_user_sources))}"


@functools.lru_cache
def _digest(user_sources: tuple[Path, ...], package: Path = _PACKAGE) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in (*kernel_sources(package), *user_sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def njit(function=None, *, allocates: bool = False):
    """Compile ``function`` on its first call and keep the machine code on disk.

    ``error_model="numpy"`` makes a division one machine instruction; Python's model adds a check and a
    branch to each.

    ``_nrt=False`` turns reference counting off: it costs two atomic updates per array per call, half of
    the time of a UCT search. (``_nrt`` is a private option of numba, tried with 0.60 to 0.68.)

    Args:
        allocates: True for a function that creates arrays, which needs reference counting.
    """
    if function is None:
        return functools.partial(njit, allocates=allocates)
    with _cache_in_our_directory():
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=allocates)(function)
    if not numba.config.DISABLE_JIT:
        _dispatchers.append(compiled)
    return compiled


def add_source(path: Path) -> None:
    """Add a user's game file to the sources, so that an edit of it recompiles the kernels."""
    path = Path(path).resolve()
    if path in _user_sources:
        return
    _user_sources.append(path)
    with _cache_in_our_directory():
        for dispatcher in _dispatchers:
            dispatcher.enable_caching()


@contextlib.contextmanager
def _cache_in_our_directory():
    """Let numba place the caches that are set up in this block in our directory.

    A dispatcher asks for the directory once, when its cache is set up.
    """
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_directory())
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def announce_first_compilation(stream=None) -> None:
    """Print one line if this machine has not compiled the kernels yet."""
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
