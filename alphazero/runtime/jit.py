"""Compile hot functions with numba and keep the machine code on disk.

In: plain Python functions. Out: the same functions, compiled; or unchanged if
``NUMBA_DISABLE_JIT=1`` is set, for a debugger. This file alone knows numba's options and where
compiled code is stored.

numba's own cache notices an edit of the file that holds a kernel, but not of a file that the kernel
calls into. Our cache directory is therefore named by a digest of every source file that compiled
code can come from; kernels compiled for a user's own game have a directory inside it, named by that
game's source. Only our kernels use these directories: numba's configuration, and so the cache of
the user's own functions, stays as it was.

Kernels receive data, never functions: a kernel that takes a function misses the cache in every new
process.

Private parts of numba, used in this file alone and the same in versions 0.60 and 0.68: the option
``_nrt``, a dispatcher's attribute ``_cache``, and the class ``FunctionCache``.
"""

import contextlib
import functools
import hashlib
import os
import re
import sys
from pathlib import Path

import numba
import numba.extending
from numba.core.caching import FunctionCache

_PACKAGE = Path(__file__).parents[1]
_user_games: dict[type, str] = {}  # the class of a user's game -> a digest of its source


def kernel_sources(package: Path = _PACKAGE) -> list[Path]:
    """Return the source files of a package that its compiled code can come from, sorted.

    These are the files that define kernels or rules of games, and every file of the package that
    they import, directly or not: numba compiles the constants and functions found there into the
    kernels.
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

    The environment variable ``ALPHAZERO_CACHE_DIR`` moves it; the default is the user's cache
    folder.
    """
    home = os.environ.get("ALPHAZERO_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"),
        "alphazero",
    )
    return Path(home) / f"kernels-{_digest()}"


@functools.lru_cache
def _digest(package: Path = _PACKAGE) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in kernel_sources(package):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def njit(function=None, *, allocates: bool = False):
    """Compile ``function`` on its first call and keep the machine code on disk.

    ``error_model="numpy"`` makes a division one machine instruction; Python's model adds a check
    and a branch to each.

    ``_nrt=False`` turns reference counting off: it costs two atomic updates per array per call,
    half of the time of a UCT search.

    Args:
        allocates: True for a function that creates arrays, which needs reference counting.
    """
    if function is None:
        return functools.partial(njit, allocates=allocates)
    compiled = numba.njit(nogil=True, error_model="numpy", _nrt=allocates)(function)
    if not numba.config.DISABLE_JIT and Path(function.__code__.co_filename).is_file():
        compiled._cache = _KernelCache(function)
    return compiled


def overload_by_class(generic) -> None:
    """Let compiled code call a `functools.singledispatch` function.

    The class of the game chooses, as in Python. The chosen implementations may create arrays:
    functions as small as the rules of a game are inlined, so reference counting costs nothing.
    """

    def choose(game, *_):
        return generic.dispatch(game.instance_class)

    numba.extending.overload(generic, strict=False, jit_options={"_nrt": True})(choose)


def add_user_game(game_class) -> None:
    """Keep the kernels of a user's game apart from all others, in memory and on disk.

    In memory: numba's dispatcher identifies a NamedTuple by the names of its class and fields, not
    by the class itself (0.68), so that of two games called Nim the second would run the kernels of
    the first. The class therefore gets a ``__name__`` of its own. Its ``__qualname__``, which
    pickles use, stays.

    On disk: numba's index of a kernel refers to the class by its module, and a process without that
    module could not read the index. The directory is therefore named by a digest of the name of the
    module and of the text of its file.
    """
    module = sys.modules.get(game_class.__module__)
    file = Path(getattr(module, "__file__", None) or "")
    text = file.read_bytes() if file.is_file() else b""
    digest = hashlib.sha256(f"{game_class.__module__}\0".encode() + text).hexdigest()[:16]
    _user_games[game_class] = digest
    game_class.__name__ = f"{game_class.__name__}_{digest}_{len(_user_games)}"


def with_written_names(text: str) -> str:
    """Return a message with the classes of users' games under the names that the users wrote."""
    for game_class in _user_games:
        text = text.replace(game_class.__name__, game_class.__qualname__)
    return text


def announce_first_compilation() -> None:
    """Print a line to standard error when this process compiles its first kernel."""
    _KernelCache.announces = True


def announce_compilation(text: str) -> None:
    """Print a line of other code that is compiled, if this process has not yet announced any."""
    if _KernelCache.announces:
        _KernelCache.announces = False
        print(text, file=sys.stderr, flush=True)


class _KernelCache(FunctionCache):
    """One kernel's compiled code on disk; that for a user's game has its own directory."""

    announces = False

    def __init__(self, function):
        with _cache_in(cache_directory()):
            super().__init__(function)
        self._function = function
        self._user_caches: dict[str, FunctionCache] = {}

    def load_overload(self, signature, target_context):
        cache = self._user_cache(signature) or super()
        loaded = cache.load_overload(signature, target_context)
        if loaded is None:
            text = "Compiling the game and search kernels: once on this machine, about a minute ..."
            announce_compilation(text)
        return loaded

    def save_overload(self, signature, data):
        cache = self._user_cache(signature) or super()
        cache.save_overload(signature, data)

    def _user_cache(self, signature) -> FunctionCache | None:
        """Return the cache of the user's game that the kernel is compiled for, else None."""
        arguments = getattr(signature, "args", signature)  # numba passes either
        classes = [getattr(kind, "instance_class", None) for kind in arguments]
        digest = next((_user_games[kind] for kind in classes if kind in _user_games), None)
        if digest is not None and digest not in self._user_caches:
            with _cache_in(cache_directory() / digest):
                self._user_caches[digest] = FunctionCache(self._function)
        return None if digest is None else self._user_caches[digest]


@contextlib.contextmanager
def _cache_in(directory: Path):
    """Let numba place the caches that are made in this block in ``directory``."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before
