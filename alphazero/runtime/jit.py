"""Compile hot functions with numba and keep their machine code on disk.

With ``NUMBA_DISABLE_JIT=1`` in the environment, for example to use a debugger, the functions stay
plain Python. Only this module sets numba's options and decides where compiled code is stored.

numba's own cache detects changes in the file that defines a kernel, but not in the files of the
functions that the kernel calls. Our cache directory is therefore named by a digest of every source
file that compiled code can come from; the file of a kernel for a user's own game is named by a
digest of the game's source as well. Only this package's kernels use the directory; numba's
configuration is unchanged.

Kernels receive data, never functions: a kernel that takes a function misses the cache in every new
process.

A cache file is machine code and a pickle, so reading it runs code. It must start with the SHA-256
digest of its contents, which detects damage but not forgery. Against forgery, the folder and its
parents must not be writable by other users, as OpenSSH requires of its files (`private_folder`). A
damaged file is compiled again. If the folder cannot be used, one line on standard error says so:
the cache never makes a command fail.

This module alone uses private parts of numba, which are the same in versions 0.60 and 0.68: the
option ``_nrt``; a dispatcher's attribute ``_cache``, in which ``NullCache`` has the methods that
the dispatcher calls; the methods ``_reduce`` and ``_rebuild`` of ``CompileResult``, its attribute
``library.has_dynamic_globals``; a codegen's ``magic_tuple``; ``serialize.dumps``.
"""

import functools
import hashlib
import multiprocessing
import os
import pickle
import stat
import sys
import tempfile
from pathlib import Path

import numba
import numba.extending
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

_PACKAGE = Path(__file__).parents[1]
_SOURCES = ("games", "inference", "replay", "runtime", "search", "solvers")
_user_games: dict[type, str] = {}  # class of a user's game -> digest of its source


def kernel_sources(package: Path = _PACKAGE) -> list[Path]:
    """Return the source files of this package that compiled code can come from, sorted by path.

    They belong to the packages that define kernels or game rules, and to the packages that these
    import, because numba compiles imported constants and functions into the kernels.

    Args:
        package: the folder of the package `alphazero`.
    """
    return sorted(path for name in _SOURCES for path in (package / name).rglob("*.py"))


def cache_directory() -> Path:
    """Return the directory of the compiled kernels, named by a digest of their source files.

    It lies in the folder given by the environment variable ``ALPHAZERO_CACHE_DIR`` or, if that is
    not set, in the user's cache folder.
    """
    home = os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    if home.startswith("~"):  # a user without a home, as in a container
        home = os.path.join(tempfile.gettempdir(), f"cache-{os.getuid()}")
    folder = os.environ.get("ALPHAZERO_CACHE_DIR") or os.path.join(home, "alphazero")
    return Path(folder) / f"kernels-{_digest()}"


def private_folder(folder: Path) -> Path:
    """Check that no other user can change a folder's contents, and return the folder's real path.

    A missing folder is created with mode 0700.

    On systems with file owners, the folder and its parents must belong to this user or root, and
    nobody else may have write permission. Two exceptions are safe: a parent may have the sticky
    bit, as ``/tmp`` has, and a folder may be writable by the group whose number equals the owner's,
    which by convention has no other members.

    Raises:
        OSError: if the folder cannot be created, or other users could change its contents.
    """
    folder = Path(os.path.realpath(folder))
    make_private(folder)
    for place in (folder, *folder.parents) if hasattr(os, "geteuid") else ():
        found = place.stat()
        others = stat.S_IWOTH if found.st_gid == found.st_uid else stat.S_IWOTH | stat.S_IWGRP
        is_sticky = place != folder and found.st_mode & stat.S_ISVTX
        if found.st_uid not in (0, os.geteuid()) or found.st_mode & others and not is_sticky:
            raise PermissionError(0, "other users can write to it", str(place))
    return folder


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents with mode 0700, regardless of the umask."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


@functools.lru_cache
def _digest(package: Path = _PACKAGE) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in kernel_sources(package):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def njit(function=None, *, allocates: bool = False):
    """Compile a function with numba on its first call, and keep the machine code on disk.

    ``error_model="numpy"`` makes a division one machine instruction; Python's model adds a check
    and a branch to each.

    ``_nrt=False`` turns off reference counting, which costs two atomic updates per array per call:
    half of the time of a UCT search.

    Args:
        function: the function to compile; None when used as ``@njit(allocates=True)``, which
            returns a decorator.
        allocates: True for a function that creates arrays, which needs reference counting.
    """
    if function is None:
        return functools.partial(njit, allocates=allocates)
    compiled = numba.njit(nogil=True, error_model="numpy", _nrt=allocates)(function)
    if not numba.config.DISABLE_JIT and Path(function.__code__.co_filename).is_file():
        compiled._cache = _KernelCache(function)
    return compiled


def overload_by_class(generic) -> None:
    """Let compiled code call a `functools.singledispatch` function of a game.

    The class of the first argument, the game, selects the implementation, as in Python.
    Implementations may create arrays: functions as small as a game's rules are inlined, so
    reference counting costs nothing.
    """

    def choose(game, *_):
        return generic.dispatch(game.instance_class)

    numba.extending.overload(generic, strict=False, jit_options={"_nrt": True})(choose)


def add_user_game(game_class, source_digest: str) -> None:
    """Keep the kernels of a user's game separate from all other kernels, in memory and on disk.

    In memory, numba's dispatcher identifies a NamedTuple by the names of its class and fields, not
    by the class itself (0.68): the second of two games called Nim would run the first one's
    kernels. Each class therefore gets a unique ``__name__``. Its ``__qualname__``, which pickles
    use, is unchanged.

    On disk, the names of the kernels' files contain a digest of the game's module name and source.

    Args:
        game_class: the NamedTuple class with the game's compiled rules.
        source_digest: digest of the user's files that the rules are compiled from.
    """
    digest = hashlib.sha256(f"{game_class.__module__}\0{source_digest}".encode()).hexdigest()[:16]
    _user_games[game_class] = digest
    game_class.__name__ = f"{game_class.__name__}_{digest}_{len(_user_games)}"


def with_written_names(text: str) -> str:
    """Return an error message in which users' game classes have the names that the users wrote.

    `add_user_game` replaced these names by unique ones, which numba's messages contain.
    """
    for game_class in _user_games:
        text = text.replace(game_class.__name__, game_class.__qualname__)
    return text


def announce_first_compilation() -> None:
    """Make this process print one line on standard error when it first has to compile a kernel."""
    _KernelCache.announces = True


def announce_compilation(text: str) -> None:
    """Print ``text`` on standard error, once and only after `announce_first_compilation`."""
    if _KernelCache.announces:
        _KernelCache.announces = False
        print(text, file=sys.stderr, flush=True)


class _KernelCache(NullCache):
    """The on-disk cache of one kernel's compiled code: one file per tuple of argument types."""

    announces = False
    complains = True

    def __init__(self, function):
        file = function.__code__.co_filename
        self._folder = cache_directory()
        self._name = f"{Path(file).stem}.{function.__qualname__}".replace("<", "").replace(">", "")
        text = _digest_of(file, os.stat(file).st_mtime_ns)
        self._key = (file, text, function.__code__.co_firstlineno, sys.implementation.cache_tag)

    @property
    def cache_path(self):
        return str(self._folder)

    def load_overload(self, signature, target_context):
        target_context.refresh()
        path = self._path(signature, target_context.codegen())
        loaded = None
        try:
            if path is not None:
                loaded = CompileResult._rebuild(target_context, *pickle.loads(_read(path)))
        except Exception:  # missing, damaged, or of a class that has changed since
            pass
        if loaded is None or loaded.signature.args != _arguments(signature):
            when = ": once on this machine" if path else ""
            announce_compilation(f"Compiling the game and search kernels{when}, about a minute ...")
            return None
        return loaded

    def save_overload(self, signature, compiled):
        path = self._path(signature, compiled.codegen)
        if path is None or compiled.library.has_dynamic_globals:
            return
        try:
            _write(path, dumps(compiled._reduce()))
        except Exception as error:  # pickling may raise anything
            _say_unusable(path.parent, error)

    def _path(self, signature, codegen) -> Path | None:
        """Return the path of the cache file for a signature; None if the folder is unusable.

        In the latter case, a line on standard error says why. The file's name contains a digest in
        which a user's game class has its original name and the digest of its source, without the
        number that `add_user_game` added in this process.
        """
        arguments = _arguments(signature)
        text = repr((self._key, [str(kind) for kind in arguments], codegen.magic_tuple()))
        for game_class in {getattr(kind, "instance_class", None) for kind in arguments}:
            if game_class in _user_games:
                own_name = f"{game_class.__qualname__} {_user_games[game_class]}"
                text = text.replace(game_class.__name__, own_name)
        name = f"{self._name}-{hashlib.sha256(text.encode()).hexdigest()[:32]}.nbc"
        try:
            return _checked_folder(self._folder) / name
        except OSError as error:
            _say_unusable(self._folder, error)
            return None


@functools.lru_cache
def _digest_of(file: str, changed_ns: int) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _arguments(signature) -> tuple:
    """Return the argument types of a signature, given as a numba signature or as their tuple."""
    return tuple(getattr(signature, "args", signature))


def _read(path: Path) -> bytes:
    """Return the verified contents of a file that `_write` stored.

    Raises:
        ValueError: if the file is damaged, or was stored under another name.
        OSError: if the file cannot be read.
    """
    digest, data = (stored := path.read_bytes())[:32], stored[32:]
    if digest != _digest_named(path, data):
        raise ValueError(path)
    return data


def _write(path: Path, data: bytes) -> None:
    """Write data preceded by its SHA-256 digest, by which `_read` detects an incomplete file.

    This makes a synced temporary file unnecessary.

    Raises:
        OSError: if the file cannot be written.
    """
    path.write_bytes(_digest_named(path, data) + data)


def _digest_named(path: Path, data: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + b"\0" + data).digest()


_checked_folder = functools.lru_cache(private_folder)


def _say_unusable(folder: Path, error: Exception) -> None:
    """Print on standard error, once and only in the main process, why the cache cannot be used.

    Args:
        folder: the folder in which compiled code should be kept.
        error: why this is impossible.
    """
    if _KernelCache.complains and multiprocessing.parent_process() is None:
        reason = getattr(error, "strerror", None) or str(error)
        place = getattr(error, "filename", None) or folder
        print(
            f"Compiled code cannot be kept in '{folder}', so that each command compiles it again: "
            f"'{place}': {reason}. Set ALPHAZERO_CACHE_DIR to a folder that you alone can write.",
            file=sys.stderr,
            flush=True,
        )
    _KernelCache.complains = False
