"""Who works at a shared folder: the signs of life that workers write there, and when they stop.

In: the files of a `SharedFolder`. Out: changes of a `Roster`.
Clocks of different machines are never compared: a worker lives while its file changes.
"""

import contextlib
import dataclasses
import os

from alphazero.config.settings import from_plain
from alphazero.runtime.errors import InputError, StoredFileError
from alphazero.runtime.files import parse_object
from alphazero.workers.folder.shared_folder import SharedFolder, SignOfLife, read_regular, sign_name
from alphazero.workers.roster import Roster

_MOST_BYTES = 2_000
_GRACE_S = 120.0  # after the time at which the next sign of life was due


@dataclasses.dataclass
class _Seen:
    """The newest sign of life of a worker."""

    text: bytes
    at: float  #: the learner's clock when it was new
    patience_s: float  #: until the next one


class Attendance:
    """Keeps the roster of a run.

    Args:
        folder: where the workers are.
        roster: of the run.
    """

    def __init__(self, folder: SharedFolder, roster: Roster):
        self._roster = roster
        self._folder = folder
        self._seen: dict[str, _Seen] = {}

    def begin(self, now: float) -> None:
        """Note what lies there already: such a worker counts when it gives another sign."""
        for name, text in self._texts().items():
            self._seen[name] = _Seen(text, now, 0.0)

    def look(self, run: str, now: float) -> None:
        """Let workers join and leave.

        Args:
            run: signs of life for other runs do not count.

        Raises:
            OSError: if the folder cannot be read.
        """
        texts = self._texts()
        for name, text in texts.items():
            seen = self._seen.get(name)
            if seen is None or seen.text != text:
                self._hear(name, text, run, now)
            elif now - seen.at > seen.patience_s + _GRACE_S:
                self._lose(name, f"is gone: no sign of life for {now - seen.at:.0f} seconds")
                with contextlib.suppress(OSError):
                    (self._folder.workers / f"{name}.json").unlink()
        for name in self._seen.keys() - texts.keys():
            self._lose(name, "has left")

    def _texts(self) -> dict[str, bytes]:
        """Return the sign of life of each worker."""
        texts: dict[str, bytes] = {}
        for file_name in os.listdir(self._folder.workers):
            name = sign_name(file_name)
            if name is None:
                continue
            with contextlib.suppress(OSError, StoredFileError):  # it is being replaced; no file
                texts[name] = read_regular(self._folder.workers / file_name, _MOST_BYTES)
        return texts

    def _hear(self, name: str, text: bytes, run: str, now: float) -> None:
        """Record a heartbeat; add the worker if it is new.

        What is no sign of life is ignored, and its file deleted later.
        """
        sign = SignOfLife()
        with contextlib.suppress(InputError):
            plain = parse_object(text.decode(errors="replace"), name, "the sign of life")
            sign = from_plain(SignOfLife, plain)
        self._seen[name] = _Seen(text, now, sign.patience_s)
        can_be_shown = (sign.facts.host + sign.facts.engine).isprintable()
        if sign.run == run and can_be_shown and name not in self._roster.workers:
            self._roster.add(name, sign.facts, now)

    def _lose(self, name: str, clause: str) -> None:
        """Forget a worker."""
        self._seen.pop(name, None)
        worker = self._roster.workers.get(name)
        if worker is not None:
            self._roster.remove(worker)
            self._roster.notices.append(f"Worker {name} {clause}.")
