"""The training runs in a folder, as they are now: what can be shown and what can play.

In: the root of all runs. Out: runs by their id. A request names a run or a network by an id, which
is looked up among those that were found here; no part of a request ever becomes a path.
"""

import threading
import time
from pathlib import Path
from typing import NamedTuple

from alphazero.runtime.errors import StoredFileError
from alphazero.storage.run_folder import RunFolder

#: Runs lie at ROOT/GAME/RUN, those of a sweep at ROOT/GAME/SWEEP/RUN.
_DEPTHS = (2, 3)
#: A list of runs is used for so long.
_FRESH_S = 2.0
_PREFIX = "run:"


class FoundRun(NamedTuple):
    """A run in the folder."""

    id: str  #: its place under the root, with slashes
    game: str  #: the name of its game
    folder: RunFolder
    networks: dict[int, Path]  #: by iteration, oldest first
    updated: float  #: when it last grew, in seconds since 1970

    def player_id(self, iteration: int) -> str:
        """Return the id of a network of this run as a player."""
        return f"{_PREFIX}{self.id}/{iteration:06d}"


class FoundRuns:
    """The runs under a folder. Threads may use it at the same time.

    Args:
        root: need not exist.
    """

    def __init__(self, root: str | Path):
        self.root = Path(root)
        self._lock = threading.Lock()
        self._runs: dict[str, FoundRun] = {}
        self._games: dict[tuple[Path, int], str] = {}  # of settings that were read, by their time
        self._read_at = -_FRESH_S

    def all(self) -> dict[str, FoundRun]:
        """Return the runs by id, the newest first."""
        with self._lock:
            if time.monotonic() - self._read_at >= _FRESH_S:
                found = sorted(self._read(), key=lambda run: run.updated, reverse=True)
                self._runs = {run.id: run for run in found}
                self._read_at = time.monotonic()
            return self._runs

    def _read(self):
        for depth in _DEPTHS:
            for config in self.root.glob("*/" * depth + "config.yaml"):
                if (run := self._read_run(config.parent)) is not None:
                    yield run

    def _read_run(self, path: Path) -> FoundRun | None:
        """Return the run in a folder; None if it is none, or is just being deleted."""
        folder = RunFolder(path)
        try:
            game = self._game(folder)
            files = sorted(path.glob("networks/[0-9]*.safetensors"))
            networks = {int(file.stem): file for file in files if file.stem.isdigit()}
            newest = folder.metrics if folder.metrics.exists() else folder.config
            updated = newest.stat().st_mtime
        except (StoredFileError, OSError):
            return None
        return FoundRun(path.relative_to(self.root).as_posix(), game, folder, networks, updated)

    def _game(self, folder: RunFolder) -> str:
        """Return the name of a run's game; reading the settings takes some milliseconds."""
        key = (folder.config, folder.config.stat().st_mtime_ns)
        if key not in self._games:
            self._games[key] = folder.read_config()["game"]["name"]
        return self._games[key]
