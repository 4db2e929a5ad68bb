"""The training runs in a folder, as they are now: what can be shown and what can play.

In: the root of all runs. Out: runs by their id. A request names a run or a network by an id, which
is looked up among those that were found here; no part of a request ever becomes a path.
"""

import functools
import os
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


def find_runs(root: Path) -> dict[str, FoundRun]:
    """Return the runs under a folder by id, the newest first.

    Args:
        root: need not exist.
    """
    return _find_runs(root, int(time.monotonic() / _FRESH_S))[0]


def find_damaged(root: Path) -> dict[str, str]:
    """Return why the other folders of runs under a folder cannot be read, by id."""
    return _find_runs(root, int(time.monotonic() / _FRESH_S))[1]


@functools.lru_cache(1)
def _find_runs(root: Path, _time: int) -> tuple[dict[str, FoundRun], dict[str, str]]:
    found, damaged = [], {}
    for config in (path for depth in _DEPTHS for path in root.glob("*/" * depth + "config.yaml")):
        run_id = config.parent.relative_to(root).as_posix()
        try:
            run_id.encode()  # no link could name it otherwise
            found.append(_read_run(run_id, RunFolder(config.parent)))
        except FileNotFoundError:
            pass  # it is being deleted
        except UnicodeEncodeError:
            damaged[os.fsencode(run_id).decode(errors="replace")] = "its name is not UTF-8."
        except (InputError, OSError) as error:
            damaged[run_id] = str(error)
    found.sort(key=lambda run: run.updated, reverse=True)
    return {run.id: run for run in found}, damaged


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
