"""The training runs in a folder, as they are now: what can be shown and what can play.

In: the root of all runs. Out: runs by their id. A request names a run or a network by an id, which
is looked up among those that were found here; no part of a request ever becomes a path.
"""

import functools
import time
from pathlib import Path
from typing import NamedTuple

from alphazero.runtime.errors import StoredFileError
from alphazero.storage.run_folder import RunFolder

#: Runs lie at ROOT/GAME/RUN, those of a sweep at ROOT/GAME/SWEEP/RUN.
_DEPTHS = (2, 3)
#: A list of runs is used for so long.
_FRESH_S = 2.0


class FoundRun(NamedTuple):
    """A run in the folder."""

    id: str  #: its place under the root, with slashes
    game: str  #: the name of its game
    folder: RunFolder
    networks: dict[int, Path]  #: by iteration, oldest first
    updated: float  #: when it last grew, in seconds since 1970
    rules_digest: str  #: of its game, see `alphazero.games.batched_game.Game`

    def player_id(self, iteration: int) -> str:
        """Return the id of a network of this run as a player."""
        return f"run:{self.id}/{iteration:06d}"


def find_runs(root: Path) -> dict[str, FoundRun]:
    """Return the runs under a folder by id, the newest first.

    Args:
        root: need not exist.
    """
    return _find_runs(root, int(time.monotonic() / _FRESH_S))


@functools.lru_cache(1)
def _find_runs(root: Path, _time: int) -> dict[str, FoundRun]:
    configs = (path for depth in _DEPTHS for path in root.glob("*/" * depth + "config.yaml"))
    found = [run for path in configs if (run := _read_run(root, path.parent)) is not None]
    return {run.id: run for run in sorted(found, key=lambda run: run.updated, reverse=True)}


def _read_run(root: Path, path: Path) -> FoundRun | None:
    """Return the run in a folder; None if there is none, or it is being deleted."""
    folder = RunFolder(path)
    try:
        game = _game_name(folder.config, folder.config.stat().st_mtime_ns)
        rules = folder.rules
        digest = _rules_digest(rules, rules.stat().st_mtime_ns) if rules.exists() else ""
        files = sorted(path.glob("networks/[0-9]*.safetensors"))
        networks = {int(file.stem): file for file in files if file.stem.isdigit()}
        newest = folder.metrics if folder.metrics.exists() else folder.config
        updated = newest.stat().st_mtime
    except (StoredFileError, OSError):
        return None
    return FoundRun(path.relative_to(root).as_posix(), game, folder, networks, updated, digest)


@functools.lru_cache(1_000)
def _game_name(config: Path, _changed: int) -> str:
    """Return the game that settings name; reading them takes some milliseconds."""
    return RunFolder(config.parent).read_config()["game"]["name"]


@functools.lru_cache(1_000)
def _rules_digest(rules: Path, _changed: int) -> str:
    return RunFolder(rules.parent).rules_digest
