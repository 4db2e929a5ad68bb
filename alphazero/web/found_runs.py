"""The training runs in a folder, as they are now: what can be shown and what can play.

In: the root of all runs. Out: runs by their id. A request names a run or a network by an id, which
is looked up among those that were found here; no part of a request ever becomes a path.
"""

import functools
import math
import time
from pathlib import Path
from typing import NamedTuple

from alphazero.runtime.errors import InputError
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


class Found(NamedTuple):
    """What is in the folder of all runs."""

    runs: dict[str, FoundRun]  #: by id, the newest first
    damaged: dict[str, str]  #: why the other folders of runs cannot be read, by id


class RunFinder:
    """Looks for the runs under a folder, which need not exist; threads may ask at the same time."""

    def __init__(self, root: Path):
        self._root = root
        self._found, self._looked_at = Found({}, {}), -math.inf

    def found(self, within_s: float | None = None) -> Found:
        """Return what was found at most so long ago, `_FRESH_S` by default."""
        now = time.monotonic()
        if now - self._looked_at >= (_FRESH_S if within_s is None else within_s):
            self._found, self._looked_at = _look(self._root), now
        return self._found


def _look(root: Path) -> Found:
    found, damaged = [], {}
    for config in (path for depth in _DEPTHS for path in root.glob("*/" * depth + "config.yaml")):
        run_id = config.parent.relative_to(root).as_posix()
        try:
            found.append(_read_run(run_id, RunFolder(config.parent)))
        except FileNotFoundError:
            pass  # it is being deleted
        except (InputError, OSError) as error:
            damaged[run_id] = str(error)
    found.sort(key=lambda run: run.updated, reverse=True)
    return Found({run.id: run for run in found}, damaged)


def _read_run(run_id: str, folder: RunFolder) -> FoundRun:
    """Return the run in a folder.

    Raises:
        InputError, OSError: if it cannot be read, or is being deleted.
    """
    game = _game_name(folder.config, folder.config.stat().st_mtime_ns)
    rules = folder.rules
    digest = _rules_digest(rules, rules.stat().st_mtime_ns) if rules.exists() else ""
    files = sorted(folder.path.glob("networks/[0-9]*.safetensors"))
    networks = {int(file.stem): file for file in files if file.stem.isdecimal()}
    newest = folder.metrics if folder.metrics.exists() else folder.config
    return FoundRun(run_id, game, folder, networks, newest.stat().st_mtime, digest)


@functools.lru_cache(1_000)
def _game_name(config: Path, _changed: int) -> str:
    """Return the game that settings name; reading them takes some milliseconds."""
    return RunFolder(config.parent).read_config()["game"]["name"]


@functools.lru_cache(1_000)
def _rules_digest(rules: Path, _changed: int) -> str:
    return RunFolder(rules.parent).rules_digest
