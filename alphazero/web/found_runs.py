"""Find the training runs in a folder, and the network files that they wrote.

Requests name a run or a network by its id, which is looked up among these runs. No part of a
request is ever used as a path.
"""

import functools
import math
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from alphazero.runtime.errors import InputError
from alphazero.runtime.files import read_text
from alphazero.storage.run_folder import RunFolder, parse_row
from alphazero.training.curves import alarms_of, newest
from alphazero.web.run_rows import rounded

_DEPTHS = (2, 3)  # of run folders: ROOT/GAME/RUN, or ROOT/SWEEP/GAME/RUN
#: The files and folders from which a `FoundRun` is made.
_FILES = ("config.yaml", "rules.py", "metrics.jsonl", "networks")
#: How stored settings begin. Parsing all of them takes 20 ms, half a minute for 1,500 runs.
_SETTINGS = re.compile(
    r"(?:# .*\n)?game:\n  name: ([a-zA-Z/][\w.:/-]*)\n(?:  .*\n)*network:\n  kind: (\w+)\n"
)


class FoundRun(NamedTuple):
    """A training run found on disk: its folder, its game, its networks and its newest figures."""

    id: str  #: path of the run's folder relative to the folder of all runs, with slashes
    game: str  #: the name of the run's game
    all_sizes: bool  #: whether its networks play boards of every size
    folder: RunFolder
    networks: dict[int, Path]  #: network files by iteration, oldest first
    updated: float  #: see `RunFolder.trained_at`
    #: digest of user-defined rules (see `alphazero.games.batched_game.Game`); "" for other rules
    rules_digest: str
    figures: dict[str, Any]  #: the newest metrics, as the fields of an `api/live` message

    def player_id(self, iteration: int) -> str:
        """Return the player id, such as "run:othello/a/000012", of an iteration's network."""
        return f"run:{self.id}/{iteration:06d}"


class FoundRuns(NamedTuple):
    """The training runs found in a folder: those that can be read, and those that are damaged."""

    runs: dict[str, FoundRun]  #: readable runs by id, the newest first
    damaged: dict[str, str]  #: error messages of the runs that cannot be read, by id


def search_runs(root: Path) -> FoundRuns:
    """Find the training runs in a folder, which need not exist."""
    runs = []
    damaged = {}
    for config in (found for depth in _DEPTHS for found in root.glob("*/" * depth + "config.yaml")):
        path = config.parent
        # A name that is not UTF-8 is shown with escapes.
        run_id = path.relative_to(root).as_posix().encode(errors="backslashreplace").decode()
        try:
            files = map(os.stat, filter(os.path.exists, (path / name for name in _FILES)))
            run = _read_run(run_id, path, tuple((file.st_mtime_ns, file.st_size) for file in files))
        except FileNotFoundError:
            continue  # the run is being deleted
        except (InputError, OSError) as error:
            damaged[run_id] = str(error)
            continue
        runs.append(run)
        if run.figures["num_rows"] and not run.figures["iterations"]:
            damaged[run_id] = "its metrics cannot be read."
    runs.sort(key=lambda run: run.updated, reverse=True)
    return FoundRuns({run.id: run for run in runs}, damaged)


@functools.lru_cache(5_000)  # with more runs, all of them are read for every list
def _read_run(run_id: str, path: Path, _changed: tuple) -> FoundRun:
    """Read what the list of runs shows of a run, and cache it until one of its files changes.

    Args:
        run_id: the id to give the run: its path relative to the folder of all runs.
        path: the folder of the run.
        _changed: times and sizes of its files, which are part of the cache key.

    Raises:
        InputError, OSError: if the run cannot be read, for example because it is being deleted.
    """
    folder = RunFolder(path)
    stored = _SETTINGS.match(read_text(folder.config))
    if stored:
        game, kind = stored.groups()
    else:
        settings = folder.read_config()
        game, network = settings["game"]["name"], settings.get("network")
        kind = network.get("kind") if isinstance(network, dict) else None
    files = sorted(folder.path.glob("networks/[0-9]*.safetensors"))
    networks = {int(file.stem): file for file in files if file.stem.isdecimal()}
    lines = folder.metrics_lines()
    last = folder.newest_row()
    accuracy = _newest(lines, "exact.accuracy")
    if math.isnan(accuracy):
        num_positions = max(_newest(lines, "proof.num_positions"), 1.0)
        accuracy = _newest(lines, "proof.num_accurate") / num_positions
    figures = {
        "num_rows": len(lines),
        "iterations": last.get("iteration", 0),
        "hours": round(last.get("elapsed_s", 0.0) / 3600, 4),
        "accuracy": rounded(accuracy),
        "alarms": alarms_of(last),
        # An iteration's row says whether the run ends with it; those of old versions do not.
        "unfinished": not last.get("last", bool(lines)),
    }
    return FoundRun(
        run_id,
        game,
        kind == "windows",
        folder,
        networks,
        folder.trained_at,
        folder.rules_digest,
        figures,
    )


def _newest(lines: list[bytes], key: str) -> float:
    """Return the newest value of a metric in lines of metrics.jsonl; NaN if none of them has it."""
    rows = (parse_row(line) or {} for line in reversed(lines) if key.encode() in line)
    return newest(rows, key)
