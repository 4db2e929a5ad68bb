"""What a disk may hold after a power cut: what was synced, and any part of the rest.

In: a folder, and the operations on it that `shim` has recorded. Out: folders as they may be found
afterwards. The rules are those of POSIX, which promises less than most file systems do:

- contents of a file that were not synced are there, or missing, or zeros, or there in part;
- a name that was created, renamed or removed is so only after its folder was synced; without it
  any of these changes may be lost, whatever became of the others.
"""

import dataclasses
import random
from pathlib import Path


@dataclasses.dataclass(eq=False)
class _File:
    synced: bytes = b""
    data: bytearray = dataclasses.field(default_factory=bytearray)
    is_folder: bool = False


#: What becomes of contents that were not synced: of a file's synced and newest contents.
LOSSES = {
    "missing": lambda old, new: old,
    "empty": lambda old, new: old if new.startswith(old) else b"",  # what was added, or all of it
    "zeros": lambda old, new: old + bytes(max(len(new) - len(old), 0)),
    "half": lambda old, new: new[: (len(old) + len(new)) // 2],
    "there": lambda old, new: new,
}


class Disk:
    """A folder as programs see it, and what of it is surely on the disk.

    Args:
        folder: as it was before, all of it synced.
    """

    def __init__(self, folder: Path, root: str):
        self._root = root  # below which the operations were recorded
        self.names: dict[str, _File] = {}
        self._synced: dict[str, _File] = {}
        #: changes that are not synced: path -> file, None if the name was removed
        self._changes: list[dict[str, _File | None]] = []
        for path in sorted(folder.rglob("*")):
            data = b"" if path.is_dir() else path.read_bytes()
            file = _File(data, bytearray(data), path.is_dir())
            self.names[f"{root}/{path.relative_to(folder)}"] = file
        self._synced = dict(self.names)
        self.names[root] = self._synced[root] = _File(is_folder=True)

    def perform(self, kind: str, path: str, *facts) -> None:
        """Perform a recorded operation."""
        if kind in ("open", "mkdir"):
            if path not in self.names:
                self._change({path: _File(is_folder=kind == "mkdir")})
            if kind == "open" and facts[1]:
                self.names[path].data.clear()
        elif kind == "write":
            at, text = facts
            data, file = text.encode("latin-1"), self.names[path]
            file.data[len(file.data) : at] = bytes(max(at - len(file.data), 0))
            file.data[at : at + len(data)] = data
        elif kind == "truncate":
            del self.names[path].data[facts[0] :]
        elif kind == "rename":
            self._change({path: self.names[facts[0]], facts[0]: None})
        elif kind in ("unlink", "rmdir"):
            if path in self.names:
                self._change({path: None})
        elif kind == "fsync":
            self._sync(path)
        elif kind != "nothing":
            raise ValueError(f"no rule for {kind}")

    def _change(self, change: dict[str, _File | None]) -> None:
        self._changes.append(change)
        _apply(self.names, change)

    def _sync(self, path: str) -> None:
        file = self.names[path]
        if not file.is_folder:
            file.synced = bytes(file.data)
            return
        is_here = [path in (_parent(name) for name in change) for change in self._changes]
        for change, here in zip(self._changes, is_here):
            if here:
                _apply(self._synced, change)
        self._changes = [change for change, here in zip(self._changes, is_here) if not here]

    def remains(self, kept: list[bool] | bool, losses: list[str]) -> dict[str, bytes | None]:
        """Return what a power cut leaves: contents by relative path, None for a folder.

        Args:
            kept: which of the changes of names that are not synced are there.
            losses: of `LOSSES`; the files that are not synced take turns.
        """
        if isinstance(kept, bool):
            kept = [kept] * len(self._changes)
        names = dict(self._synced)
        for change, is_kept in zip(self._changes, kept):
            if is_kept:
                _apply(names, change)
        found: dict[str, bytes | None] = {}
        turn = 0
        for path in sorted(names):
            if path == self._root or not _has_folders(path, names, self._root):
                continue
            file, data = names[path], None
            if not file.is_folder:
                data = bytes(file.data)
                if data != file.synced:
                    data = LOSSES[losses[turn % len(losses)]](file.synced, data)
                    turn += 1
            found[path.removeprefix(self._root + "/")] = data
        return found

    def cuts(self, seeds: range):
        """Yield what may be left if the power is cut now: extremes, and some at random."""
        for loss in LOSSES:
            yield self.remains(False, [loss])
            yield self.remains(True, [loss])
        for seed in seeds:
            numbers = random.Random(seed)
            kept = [numbers.random() < 0.5 for _ in self._changes]
            yield self.remains(kept, numbers.choices(list(LOSSES), k=5))


def write_tree(tree: dict[str, bytes | None], folder: Path) -> None:
    """Write what `Disk.remains` returned."""
    folder.mkdir(parents=True)
    for name, data in tree.items():
        if data is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(data)


def _apply(names: dict[str, _File], change: dict[str, _File | None]) -> None:
    for path, file in change.items():
        if file is None:
            names.pop(path, None)
        else:
            names[path] = file


def _has_folders(path: str, names: dict[str, _File], root: str) -> bool:
    """Return whether all the folders of a path are there."""
    while path != root:
        path = _parent(path)
        if path not in names:
            return False
    return True


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
