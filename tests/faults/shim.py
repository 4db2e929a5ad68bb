"""A failing disk in Python: counts what is written below a folder, and fails at the n-th time.

`install` replaces the functions that open, write, sync, rename and delete files, in this process
and until it ends. Code that writes without Python (a library in C) is not seen.

A failure is one of

- a kill, before or after the operation, or after a part of the bytes of a write;
- an `OSError`, once or from then on, before the operation or after a part of the bytes. As from
  the system, errors of a write and of a sync name no file;
- none: everything is recorded, for `power_cut.py`, which replays it.
"""

import builtins
import dataclasses
import errno
import io
import os
import shutil
import signal
import threading
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR
#: What a full disk still allows.
NEEDS_NO_SPACE = {"unlink", "rmdir", "truncate"}
_real = {name: getattr(os, name) for name in dir(os) if callable(getattr(os, name))}
_real_open = io.open


@dataclasses.dataclass
class Fault:
    """What goes wrong, and when.

    Attributes:
        folder: operations on files below it are counted.
        at: the number of the operation that fails, from 0; None: none fails.
        when: "before" the operation, "after" it, or after a "part" of a write.
        fraction: of the bytes that such a part has.
        error: "ENOSPC", "EIO", "EROFS"; "" kills the process.
        lasting: whether all later operations fail, too.
        record: whether every operation is recorded with its data.
    """

    folder: str
    at: int | None = None
    when: str = "before"
    fraction: float = 0.5
    error: str = ""
    lasting: bool = False
    record: bool = False


class Shim:
    """Counts the operations of a process; `install` makes it see them."""

    def __init__(self, fault: Fault):
        self.fault = fault
        self.folder = os.path.realpath(fault.folder)
        self.operations: list[list[Any]] = []  #: kind, path; recorded: and the rest
        self._paths: dict[int, str] = {}  # of open file descriptors
        self._lock = threading.RLock()

    def path_of(self, path: Any, dir_fd: int | None = None) -> str | None:
        """Return the path of an entry below the folder, else None."""
        if isinstance(path, int):
            return self._paths.get(path)
        text = os.fsdecode(path)
        if dir_fd is not None:
            text = os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), text)
        text = os.path.abspath(text)
        parent = os.path.realpath(os.path.dirname(text))
        text = os.path.join(parent, os.path.basename(text))
        is_below = text == self.folder or text.startswith(self.folder + os.sep)
        return text if is_below else None

    def perform(self, kind: str, path: str, action: Any, part: Any = None, facts: Any = None):
        """Perform an operation, unless it is the one that fails; return its result.

        Args:
            part: performs a part of it.
            facts: returns what is recorded of it.
        """
        with self._lock:
            fault, number = self.fault, len(self.operations)
            more = list(facts()) if fault.record and facts is not None else []
            self.operations.append([kind, path, *more])
            is_failing = number == fault.at
            if fault.lasting and fault.at is not None and number > fault.at:
                is_failing = fault.error != "ENOSPC" or kind not in NEEDS_NO_SPACE
            if not is_failing:
                try:
                    return action()
                except OSError:  # such as a folder that exists
                    self.operations[number][0] = "nothing"
                    raise
            if fault.when == "part" and part is not None:
                part()
            elif fault.when == "after":
                result = action()
            if fault.error:
                code = getattr(errno, fault.error)
                named = () if kind in ("write", "fsync", "truncate") else (path,)
                raise OSError(code, os.strerror(code), *named)
            os.kill(os.getpid(), signal.SIGKILL)
            return result  # not reached

    def part_of(self, data: bytes) -> bytes:
        return data[: int(len(data) * self.fault.fraction)]

    def opened(self, descriptor: int, path: str) -> None:
        self._paths[descriptor] = path

    def closed(self, descriptor: int) -> None:
        self._paths.pop(descriptor, None)


def install(fault: Fault) -> Shim:
    """Let a fault happen in this process; return what counts the operations."""
    shim = Shim(fault)
    builtins.open = io.open = _make_open(shim)
    _replace_descriptors(shim)
    _replace_entries(shim)
    shutil._USE_CP_SENDFILE = False  # copies then go through the functions below
    return shim


def _make_open(shim):
    class File(io.FileIO):
        """An unbuffered file whose writes are counted, as system calls are."""

        def __init__(self, path, mode, closefd, opener, name):
            self._path = name
            super().__init__(path, mode, closefd, opener)
            shim.opened(self.fileno(), name)

        def write(self, data):
            data = bytes(data)

            def part():
                io.FileIO.write(self, shim.part_of(data))

            def facts():
                end = os.fstat(self.fileno()).st_size
                at = end if "a" in self.mode else self.tell()
                return at, data.decode("latin-1")

            return shim.perform(
                "write", self._path, lambda: io.FileIO.write(self, data), part, facts
            )

        def truncate(self, size=None):
            return shim.perform(
                "truncate",
                self._path,
                lambda: io.FileIO.truncate(self, size),
                facts=lambda: (size,),
            )

        def close(self):
            if not self.closed:
                shim.closed(self.fileno())
            super().close()

    def opened(
        file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True,
        opener=None,
    ):  # fmt: skip
        is_writing = not isinstance(file, int) and set(mode) & set("wax+")
        path = shim.path_of(file) if is_writing else None
        if path is None:
            return _real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if "b" not in mode:
            encoding = io.text_encoding(encoding)
        raw_mode = mode.replace("t", "").replace("b", "")
        raw = shim.perform(
            "open",
            path,
            lambda: File(file, raw_mode, closefd, opener, path),
            facts=lambda: (not os.path.lexists(path), "w" in mode),
        )
        if buffering == 0:
            return raw
        buffer = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw)
        if "b" in mode:
            return buffer
        text = io.TextIOWrapper(buffer, encoding, errors, newline, buffering == 1)
        text.mode = mode
        return text

    return opened


def _replace_descriptors(shim):
    """Replace the functions on file descriptors."""

    def open_(path, flags, mode=0o777, *, dir_fd=None):
        name = shim.path_of(path, dir_fd) if flags & WRITING else None

        def action():
            return _real["open"](path, flags, mode, dir_fd=dir_fd)

        if name is not None:
            descriptor = shim.perform(
                "open", name, action,
                facts=lambda: (not os.path.lexists(name), bool(flags & os.O_TRUNC)),
            )  # fmt: skip
            shim.opened(descriptor, name)
            return descriptor
        descriptor = action()
        if (name := shim.path_of(path, dir_fd)) is not None:  # a folder, for its sync
            shim.opened(descriptor, name)
        return descriptor

    def close(descriptor):
        shim.closed(descriptor)
        _real["close"](descriptor)

    def write(descriptor, data):
        name, data = shim.path_of(descriptor), bytes(data)

        def action():
            return _real["write"](descriptor, data)

        if name is None:
            return action()

        def part():
            _real["write"](descriptor, shim.part_of(data))

        def facts():
            return os.lseek(descriptor, 0, os.SEEK_CUR), data.decode("latin-1")

        return shim.perform("write", name, action, part, facts)

    def sync(real):
        def synced(file):
            descriptor = file if isinstance(file, int) else file.fileno()
            name = shim.path_of(descriptor)
            if name is None:
                return real(descriptor)
            # Not performed: no test takes the power away, and it takes longest.
            return shim.perform("fsync", name, lambda: None)

        return synced

    os.open, os.close, os.write = open_, close, write
    os.fsync, os.fdatasync = sync(_real["fsync"]), sync(_real["fdatasync"])


def _replace_entries(shim):
    """Replace the functions on the entries of folders."""

    def of_one(kind, real):
        def changed(path, *arguments, dir_fd=None, **words):
            if dir_fd is not None:
                words["dir_fd"] = dir_fd
            name = shim.path_of(path, dir_fd)
            if name is None:
                return real(path, *arguments, **words)
            return shim.perform(kind, name, lambda: real(path, *arguments, **words))

        return changed

    def of_two(kind, real):
        def changed(source, target, **words):
            name = shim.path_of(target, words.get("dst_dir_fd"))
            if name is None:
                return real(source, target, **words)
            return shim.perform(
                kind, name, lambda: real(source, target, **words),
                facts=lambda: (shim.path_of(source, words.get("src_dir_fd")),),
            )  # fmt: skip

        return changed

    for kind in ("unlink", "rmdir", "mkdir"):
        setattr(os, kind, of_one(kind, _real[kind]))
    os.remove, os.truncate = (
        of_one("unlink", _real["remove"]),
        of_one("truncate", _real["truncate"]),
    )
    os.rename, os.replace = of_two("rename", _real["rename"]), of_two("rename", _real["replace"])
    os.link, os.symlink = of_two("link", _real["link"]), of_two("link", _real["symlink"])
