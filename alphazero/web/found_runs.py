"""Find the training runs in a folder, and the network files that they wrote.

Requests name a run or a network by its id, which is looked up among these runs. No part of a
request is ever used as a path.
"""

import functools
import math
import time
from pathlib import Path
from typing import NamedTuple

from alphazero.runtime.errors import InputError
from alphazero.storage.run_folder import RunFolder

#: Depths of run folders: ROOT/GAME/RUN, or ROOT/GAME/SWEEP/RUN in a sweep.
_DEPTHS = (2, 3)
#: Age, in seconds, at which a list of runs is read again.
_FRESH_S = 2.0


class FoundRun(NamedTuple):
    """A training run found on disk: its folder, its game, its networks and its last change."""

    id: str  #: path of the run's folder relative to the folder of all runs, with slashes
    game: str  #: the name of the run's game
    folder: RunFolder
    networks: dict[int, Path]  #: network files by iteration, oldest first
    #: time when metrics were last added or, before the first ones, when the run was started, in
    #: seconds since 1970
    updated: float
    #: digest of user-defined rules (see `alphazero.games.batched_game.Game`); "" for other rules
    rules_digest: str

    def player_id(self, iteration: int) -> str:
        """Return the player id, such as "run:othello/a/000012", of an iteration's network."""
        return f"run:{self.id}/{iteration:06d}"


class FoundRuns(NamedTuple):
    """The training runs found in a folder: those that can be read, and those that are damaged."""

    runs: dict[str, FoundRun]  #: readable runs by id, the newest first
    damaged: dict[str, str]  #: error messages of the runs that cannot be read, by id


class RunFinder:
    """Finds the training runs in a folder; it is thread-safe.

    Args:
        root: the folder of all runs; it need not exist.
    """

    def __init__(self, root: Path):
        self._root = root
        self._found = FoundRuns({}, {})
        self._searched_at = -math.inf

    def found(self, within_s: float | None = None) -> FoundRuns:
        """Return the training runs, searching the folder again if the last search is too old.

        Args:
            within_s: seconds after which a search is too old; with 0 the folder is always searched,
                and None means `_FRESH_S`.
        """
        max_age = _FRESH_S if within_s is None else within_s
        now = time.monotonic()
        if now - self._searched_at >= max_age:
            self._found = _find_runs(self._root)
            self._searched_at = now
        return self._found


def _find_runs(root: Path) -> FoundRuns:
    folders = list[Path]()
    for depth in _DEPTHS:
        folders += [config.parent for config in root.glob("*/" * depth + "config.yaml")]
    runs = []
    damaged = {}
    for folder in folders:
        run_id = folder.relative_to(root).as_posix()
        try:
            runs.append(_read_run(run_id, RunFolder(folder)))
        except FileNotFoundError:
            pass  # the run is being deleted
        except (InputError, OSError) as error:
            damaged[run_id] = str(error)
    runs.sort(key=lambda run: run.updated, reverse=True)
    return FoundRuns({run.id: run for run in runs}, damaged)


def _read_run(run_id: str, folder: RunFolder) -> FoundRun:
    """Read the game, the networks and the modification time of the training run in a folder.

    Args:
        run_id: the id to give the run: its path relative to the folder of all runs.
        folder: the folder of the run.

    Raises:
        InputError, OSError: if the run cannot be read, for example because it is being deleted.
    """
    game = _game_name(folder.config, folder.config.stat().st_mtime_ns)
    rules = folder.rules
    digest = _rules_digest(rules, rules.stat().st_mtime_ns) if rules.exists() else ""
    files = sorted(folder.path.glob("networks/[0-9]*.safetensors"))
    networks = {int(file.stem): file for file in files if file.stem.isdecimal()}
    newest = folder.metrics if folder.metrics.exists() else folder.config
    updated = newest.stat().st_mtime
    return FoundRun(run_id, game, folder, networks, updated, digest)


@functools.lru_cache(1_000)
def _game_name(config: Path, _changed: int) -> str:
    """Read the name of the game from a run's settings, and cache it until the file changes.

    Args:
        config: path of the settings.
        _changed: the file's modification time, which is part of the cache key.
    """
    return RunFolder(config.parent).read_config()["game"]["name"]


@functools.lru_cache(1_000)
def _rules_digest(rules: Path, _changed: int) -> str:
    return RunFolder(rules.parent).rules_digest
