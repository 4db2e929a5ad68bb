"""A disk that fails, and what it would hold after a kill or a power cut.

`watched` replaces the functions of Python that open, write, sync, rename and delete files. What
happens below a folder is recorded, and one operation may fail. `Disk` replays the record: what a
program sees at a moment is what a kill leaves, and of that a power cut leaves what was synced and
any part of the rest. Code that writes without Python (a library in C) is not seen.
"""

import builtins
import contextlib
import dataclasses
import errno
import functools
import io
import os
import random
import threading
from pathlib import Path
from unittest import mock

WRITING = os.O_WRONLY | os.O_RDWR
#: What a full disk still allows.
NEEDS_NO_SPACE = {"unlink", "rmdir", "truncate"}
#: Functions on the entries of folders, and the kind of operation that each is.
ENTRIES = {"unlink": "unlink", "remove": "unlink", "rmdir": "rmdir", "mkdir": "mkdir"}
ENTRIES |= {"truncate": "truncate", "rename": "rename", "replace": "rename"}


@dataclasses.dataclass
class Fault:
    """What goes wrong, and when.

    Attributes:
        at: the number of the operation that fails, from 0.
        error: "ENOSPC", "EIO" or "EROFS".
        in_part: whether half of the bytes of a write are written before.
        lasting: whether all later operations fail, too.
    """

    at: int
    error: str
    in_part: bool = False
    lasting: bool = False


class Watch:
    """Records the operations below a folder; see `watched`."""

    def __init__(self, folder: Path, fault: Fault | None):
        self.folder = os.path.realpath(folder)
        self.fault = fault
        self.operations: list[list] = []  #: kind, path, and what `Disk.perform` needs
        self.paths: dict[int, str] = {}  #: of open file descriptors
        self._lock = threading.RLock()

    def path_of(self, path, dir_fd=None) -> str | None:
        """Return the path of an entry below the folder, else None."""
        if isinstance(path, int):
            return self.paths.get(path)
        text = os.fsdecode(path)
        if dir_fd is not None:
            text = os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), text)
        text = os.path.abspath(text)
        text = os.path.join(os.path.realpath(os.path.dirname(text)), os.path.basename(text))
        return text if (text + os.sep).startswith(self.folder + os.sep) else None

    def perform(self, kind, path, action, *facts, part=None):
        """Record an operation and perform it, unless it fails; return its result."""
        with self._lock:
            number = len(self.operations)
            self.operations.append([kind, path, *facts])
            if not self._fails(number, kind):
                try:
                    return action()
                except OSError:  # such as a folder that exists
                    self.operations[number][0] = "nothing"
                    raise
            if self.fault.in_part:
                part()
            code = getattr(errno, self.fault.error)
            named = () if kind in ("write", "fsync", "truncate") else (path,)  # as from the system
            raise OSError(code, os.strerror(code), *named)

    def _fails(self, number, kind):
        fault = self.fault
        if fault is None or number < fault.at:
            return False
        allowed = fault.error == "ENOSPC" and kind in NEEDS_NO_SPACE
        return number == fault.at or (fault.lasting and not allowed)


class _File(io.FileIO):
    """An unbuffered file whose writes are watched, as system calls are."""

    def __init__(self, watch, path, *arguments):
        super().__init__(*arguments)
        self._watch, self._path = watch, path
        watch.paths[self.fileno()] = path

    def write(self, data):
        data, write = bytes(data), super().write
        at = os.fstat(self.fileno()).st_size if "a" in self.mode else self.tell()
        half = functools.partial(write, data[: len(data) // 2])
        action = functools.partial(write, data)
        return self._watch.perform("write", self._path, action, at, data, part=half)

    def close(self):
        if not self.closed:
            self._watch.paths.pop(self.fileno(), None)
        super().close()


@contextlib.contextmanager
def watched(folder: Path, fault: Fault | None = None):
    """Watch a folder, and let a fault happen there; yield the `Watch`."""
    watch = Watch(folder, fault)
    changed = {"open": _opener(watch, os.open), "fsync": _syncer(watch, os.fsync)}
    for name, kind in ENTRIES.items():
        changed[name] = _changer(watch, kind, getattr(os, name))
    with contextlib.ExitStack() as stack:
        opened = _make_open(watch, io.open)
        stack.enter_context(mock.patch.object(builtins, "open", opened))
        stack.enter_context(mock.patch.object(io, "open", opened))
        stack.enter_context(mock.patch.multiple(os, **changed))
        yield watch


def _make_open(watch, real):
    def opened(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
               closefd=True, opener=None):  # fmt: skip
        is_writing = not isinstance(file, int) and set(mode) & set("wax+")
        path = watch.path_of(file) if is_writing else None
        if path is None:
            return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw_mode = mode.replace("t", "").replace("b", "")
        action = functools.partial(_File, watch, path, file, raw_mode, closefd, opener)
        raw = watch.perform("open", path, action, "w" in mode)
        buffer = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw)
        return buffer if "b" in mode else io.TextIOWrapper(buffer, encoding, errors, newline)

    return opened


def _opener(watch, real):
    def opened(path, flags, *arguments, dir_fd=None, **more):
        name = watch.path_of(path, dir_fd)
        action = functools.partial(real, path, flags, *arguments, dir_fd=dir_fd, **more)
        if name is None or not flags & WRITING:
            descriptor = action()
        else:
            descriptor = watch.perform("open", name, action, bool(flags & os.O_TRUNC))
        if name is not None:
            watch.paths[descriptor] = name  # of a folder too, for its sync
        elif descriptor in watch.paths:
            del watch.paths[descriptor]  # closed since, and used again
        return descriptor

    return opened


def _syncer(watch, real):
    def synced(file):
        name = watch.path_of(file)
        # Not performed: no test takes the power away, and it takes longest.
        return real(file) if name is None else watch.perform("fsync", name, lambda: None)

    return synced


def _changer(watch, kind, real):
    def changed(path, *arguments, **more):
        target = arguments[0] if kind == "rename" else path
        name = watch.path_of(target, more.get("dst_dir_fd", more.get("dir_fd")))
        action = functools.partial(real, path, *arguments, **more)
        if name is None:
            return action()
        facts = [watch.path_of(path)] if kind == "rename" else arguments
        return watch.perform(kind, name, action, *facts)

    return changed


# --- what is left ---------------------------------------------------------------------------------

#: What becomes of contents that were not synced: of a file's synced and newest contents.
LOSSES = {
    "missing": lambda old, new: old,
    "zeros": lambda old, new: old + bytes(max(len(new) - len(old), 0)),
    "half": lambda old, new: new[: (len(old) + len(new)) // 2],
    "there": lambda old, new: new,
}


@dataclasses.dataclass(eq=False)
class _Contents:
    synced: bytes = b""
    data: bytes = b""
    is_folder: bool = False


class Disk:
    """A folder as programs see it, and what of it is surely on the disk.

    The rules are those of POSIX, which promises less than most file systems do: contents that were
    not synced are there, missing, zeros, or there in part; a name that was created, renamed or
    removed is so only after its folder was synced, and any of these changes may be lost.
    """

    def __init__(self, folder: Path, root: str):
        """Begin with the contents of ``folder``, synced; operations name files below ``root``."""
        self._root = root
        self._names = {root: _Contents(is_folder=True)}
        for path in sorted(folder.rglob("*")):
            data = b"" if path.is_dir() else path.read_bytes()
            self._names[f"{root}/{path.relative_to(folder)}"] = _Contents(data, data, path.is_dir())
        self._synced = dict(self._names)
        #: changes that are not synced: path -> contents, None if the name was removed
        self._changes: list[dict[str, _Contents | None]] = []

    def perform(self, kind: str, path: str, *facts) -> None:
        """Perform a recorded operation."""
        if kind in ("open", "mkdir"):
            if path not in self._names:
                self._change({path: _Contents(is_folder=kind == "mkdir")})
            if kind == "open" and facts[0]:
                self._names[path].data = b""
        elif kind == "write":
            at, data = facts
            old = self._names[path].data
            self._names[path].data = old[:at].ljust(at, b"\0") + data + old[at + len(data) :]
        elif kind == "truncate":
            self._names[path].data = self._names[path].data[: facts[0]]
        elif kind == "rename":
            self._change({path: self._names[facts[0]], facts[0]: None})
        elif kind in ("unlink", "rmdir"):
            self._change({path: None})
        elif kind == "fsync":
            self._sync(path)
        elif kind != "nothing":
            raise ValueError(f"no rule for {kind}")

    def _change(self, change) -> None:
        self._changes.append(change)
        _apply(self._names, change)

    def _sync(self, path: str) -> None:
        file = self._names[path]
        file.synced = file.data
        unsynced = []
        for change in self._changes:
            if file.is_folder and path in map(os.path.dirname, change):
                _apply(self._synced, change)
            else:
                unsynced.append(change)
        self._changes = unsynced

    def killed(self) -> dict[str, bytes | None]:
        """Return what a kill leaves: contents by relative path, None for a folder."""
        return self._remains([True] * len(self._changes), ["there"])

    def cuts(self, seeds: range):
        """Yield what a power cut may leave: extremes, and some at random."""
        for is_kept in (False, True):
            for loss in LOSSES:
                yield self._remains([is_kept] * len(self._changes), [loss])
        for seed in seeds:
            numbers = random.Random(seed)
            kept = [numbers.random() < 0.5 for _ in self._changes]
            yield self._remains(kept, numbers.choices(list(LOSSES), k=5))

    def _remains(self, kept: list[bool], losses: list[str]) -> dict[str, bytes | None]:
        """Keep some of the changes of names; files that are not synced take turns in losses."""
        names = dict(self._synced)
        for change, is_kept in zip(self._changes, kept):
            if is_kept:
                _apply(names, change)
        found: dict[str, bytes | None] = {}
        turn = 0
        for path in sorted(names):
            above = map(str, Path(path).parents)
            if path == self._root or not all(len(p) < len(self._root) or p in names for p in above):
                continue
            data = None if names[path].is_folder else names[path].data
            if data not in (None, names[path].synced):
                data = LOSSES[losses[turn % len(losses)]](names[path].synced, data)
                turn += 1
            found[path.removeprefix(self._root + "/")] = data
        return found


def _apply(names, change) -> None:
    for path, contents in change.items():
        if contents is None:
            names.pop(path, None)
        else:
            names[path] = contents


def write_tree(tree: dict[str, bytes | None], folder: Path) -> None:
    """Write what a `Disk` has left."""
    folder.mkdir(parents=True)
    for name, data in tree.items():
        if data is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(data)
