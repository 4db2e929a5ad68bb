"""The folder of a training run: where each of its files is, and how each is read and written.

    checkpoints/<game>/<run>/
        config.yaml                  the resolved settings
        versions.json                the versions of this program and its libraries
        rules.py                     a user's game, stored to detect changes; it is never run
        networks/000012.safetensors  with its game and shape: enough to play; 20 are kept
        games/000012.safetensors     the games of each iteration in the replay window
        state.safetensors            what resuming needs besides the games, and their checksums;
                                     written last, so it decides which iteration is finished
        state.previous.safetensors   the previous iteration's state, in case newer files are damaged
        metrics.jsonl                one line per iteration
        events.out.tfevents.*        TensorBoard's event files
        .lock                        held by the process that trains the run; removed afterwards

Data is checked when it is read back. This module does not depend on the trainer or the learner.
"""

import contextlib
import json
import os
import platform
import re
import shlex
import shutil
import time
from collections.abc import Container, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from alphazero.config.files import parse_yaml, to_yaml
from alphazero.games.batched_game import Game
from alphazero.own_games.registry import runs_own_code
from alphazero.own_games.rules_digest import is_rules_text
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.files import (
    append_line,
    make_folder,
    read_bytes,
    read_text,
    remove_unfinished,
    with_checksum,
    write_atomically,
)
from alphazero.runtime.own_code import is_module_name
from alphazero.runtime.process import version_of
from alphazero.runtime.source_text import digest_of
from alphazero.selfplay.game_record import GameRecord, GamesError, check_games, flatten, unflatten
from alphazero.storage.checkpoint import load_state, save_state

STATE_FILE = "state.safetensors"
_LOCK_S = 0.2  # seconds to wait for a lock, which `is_training` may hold for a moment
_MAX_OVERRIDES = 150  # maximum characters of the overrides in a folder's name
LIBRARIES = ("alphazero-selfplay", "torch", "numpy", "numba", "hydra-core")


class RunFolder:
    """The folder of one training run, with methods that read and write its files."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.config = self.path / "config.yaml"
        self.metrics = self.path / "metrics.jsonl"
        self.rules = self.path / "rules.py"
        self.state = self.path / STATE_FILE
        self.previous_state = self.path / "state.previous.safetensors"
        self._lock = FileLock(self.path / ".lock", thread_local=False)

    @classmethod
    def create(cls, root: str, game: str, name: str, overrides: str = "") -> "RunFolder":
        """Create the folder of a new run, ROOT/GAME/NAME.

        Args:
            root: the folder of all runs.
            game: the game's name, from which `folder_name` derives the name of the folder GAME.
            name: the run's name; "" means the date and time, followed by a number if that folder
                exists.
            overrides: the settings that distinguish the run within its sweep, such as "seed=1",
                which are appended to the name; "" for a run outside a sweep.

        Raises:
            ConfigError: if the name is given and a run of that name exists, or if the folder cannot
                be created.
        """
        parent = Path(root) / folder_name(game)
        stem = name or datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
        if overrides:
            stem += "_" + re.sub(r"[^\w.=+-]", "_", overrides)[:_MAX_OVERRIDES]
        number = 0
        while True:
            number += 1
            path = parent / (stem if number == 1 else f"{stem}_{number}")
            try:
                make_folder(path, exist_ok=False)
                return cls(path)
            except FileExistsError:
                if name:
                    reason = f"{path} exists; resume={path} continues that run"
                    raise ConfigError.of("run.name", name, "another name", reason) from None
            except OSError as error:
                reason = f"no folder can be created there ({error.strerror})"
                raise ConfigError.of("run.root", root, reason=reason) from None

    @classmethod
    def find(
        cls,
        path: str,
        root: str,
        game: str | None,
        key: str = "resume",
        holding: str = STATE_FILE,
        rules_digest: str = "",
    ) -> "RunFolder":
        """Find the folder of a stored run, given by its path or as "latest".

        Args:
            path: the folder, or "latest" for the run that was trained last (see `trained_at`).
            root: for "latest": the folder of all runs.
            game: for "latest": the name of the run's game; None means any game.
            key: the setting that gave ``path``, named in errors.
            holding: name of a file that the folder must contain, unless ``path`` is "latest"; for
                the state file, the previous state's file is sufficient.
            rules_digest: for "latest": the game's `Game.rules_digest`, which also finds runs of
                games with equal rules but other names. With "", runs are found by name only.

        Raises:
            ConfigError: if there is no such run, or it has not finished an iteration.
        """
        if path != "latest":
            run = cls(path)
            if run.states if holding == STATE_FILE else (run.path / holding).is_file():
                return run
            reason = f"there is no '{run.path / holding}' of a run with a finished iteration"
            raise ConfigError.of(key, path, reason=reason)
        runs = [run for run in runs_of(root, game, rules_digest) if run.states]
        if not runs:
            which = f"of {game or 'any game'} with a finished iteration"
            raise ConfigError.of(key, path, reason=f"there is no run {which} under '{root}'")
        return max(runs, key=lambda run: run.trained_at)

    @property
    def root(self) -> str:
        """The folder of all runs, ROOT in ROOT/GAME/NAME; it changes when the run is moved."""
        return os.path.normpath(self.path / ".." / "..")

    @property
    def trained_at(self) -> float:
        """When the newest iteration was finished, in seconds since 1970, as metrics.jsonl says.

        If it does not say that, the time when it or, if there is none, the folder was changed last.
        """
        place = self.metrics if self.metrics.is_file() else self.path
        return self.newest_row().get("finished_at", place.stat().st_mtime)

    @property
    def states(self) -> list[Path]:
        """The paths of the stored state files, newest first; there are at most two."""
        return [path for path in (self.state, self.previous_state) if path.is_file()]

    def discard(self) -> None:
        """Delete the run's folder unless it contains a stored state, that is, a finished iteration.

        The game's folder is deleted too if no other run is in it.
        """
        if not self.states:
            self._lock.release(force=True)
            shutil.rmtree(self.path, ignore_errors=True)
            with contextlib.suppress(OSError):  # the game's folder holds other runs
                self.path.parent.rmdir()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run's lock within a ``with`` block, so that no other process trains the run.

        The operating system releases the lock when the process ends, even if it is killed.
        Unfinished files that a killed process left behind are removed. Where the file system has no
        locks, the block runs without one.

        Raises:
            ConfigError: if another process is training the run.
            StoredFileError: if the folder no longer exists.
        """
        try:
            self._lock.acquire(timeout=_LOCK_S, poll_interval=_LOCK_S / 10)
            remove_unfinished(self.path)
        except Timeout:
            reason = "this run is being trained now"
            raise ConfigError.of("resume", str(self.path), reason=reason) from None
        except FileNotFoundError:
            message = f"the folder {self.path} was removed by another program."
            raise StoredFileError(message, path=self.path) from None
        except (OSError, NotImplementedError):
            pass  # the file system has no locks: train without one
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # Windows deletes no open file
                Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release(force=True)

    @property
    def is_training(self) -> bool:
        """Whether a process is training the run now, that is, holds its lock.

        The test itself holds the lock for microseconds if no one else does; `locked` waits longer
        than that. On Windows, an existing lock file counts as a held lock.
        """
        try:
            file = os.open(self._lock.lock_file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            return False
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return fcntl is None  # Windows: assume that the file's process still runs
        except OSError:
            return True
        finally:
            os.close(file)

    def resume_words(self, game_name: str, network_kind: str = "") -> str:
        """Return the command-line arguments with which `alphazero train` resumes the run.

        They name the user's own game and network, because code that only a stored config names is
        never run.

        Args:
            game_name: the name of the run's game.
            network_kind: the setting `network.kind`: ``module:Class`` for the user's own network
                class, else a name, which is left out.
        """
        words = [f"resume={self.path}"]
        if runs_own_code(game_name):
            words.append(f"game={game_name}")
        if is_module_name(network_kind):
            words.append(f"network={network_kind}")
        return shlex.join(words)

    # --- settings and metrics ---------------------------------------------------------------------

    def write_config(self, settings: dict[str, Any]) -> None:
        """Store a run's resolved settings, and the versions of this program and its libraries.

        Args:
            settings: all settings as nested dictionaries, written to config.yaml.

        Raises:
            OSError: if a file cannot be written.
        """
        write_atomically(self.config, with_checksum(to_yaml(settings)).encode())
        versions = {"python": platform.python_version(), "processor": platform.machine()}
        versions |= {name: version_of(name) for name in LIBRARIES}
        text = f"{json.dumps(versions, indent=2)}\n"
        write_atomically(self.path / "versions.json", text.encode())

    def read_config(self) -> dict[str, Any]:
        """Read the run's stored settings as nested dictionaries, without checking keys or values.

        If another version of the program stored them, they may not fit this version.

        Raises:
            StoredFileError: if the file is missing or damaged, or does not name the game.
        """
        text = read_text(self.config)
        reason = "it does not name the game by game.name"
        try:
            values: Any = parse_yaml(text)
            if isinstance(values["game"]["name"], str):
                return values
        except (TypeError, KeyError):
            pass
        except ValueError as error:
            reason = str(error)
        message = f"'{self.config}' does not hold the settings of a run: {reason}."
        raise StoredFileError(message, path=self.config)

    def metrics_lines(self) -> list[bytes]:
        """Return the complete lines of metrics.jsonl, unchecked; [] if it cannot be read."""
        try:
            return read_bytes(self.metrics).split(b"\n")[:-1]
        except StoredFileError:
            return []

    def newest_row(self) -> dict[str, Any]:
        """Return the metrics of the newest iteration that can be read; {} if there is none."""
        return next(filter(None, map(parse_row, reversed(self.metrics_lines()))), {})

    def read_metrics(self) -> list[dict[str, Any]]:
        """Read the metrics of all stored iterations, oldest first; skip damaged lines.

        Returns:
            {metric, such as "learner.loss": value} for each iteration.

        Raises:
            StoredFileError: if the file is missing or holds no metrics.
        """
        rows = list(filter(None, map(parse_row, self.metrics_lines())))
        if not rows:
            message = f"'{self.metrics}' holds no metrics that can be read."
            raise StoredFileError(message, path=self.metrics)
        return rows

    def add_metrics(self, row: dict[str, Any]) -> None:
        """Append the metrics of an iteration to metrics.jsonl, and wait until they are on the disk.

        "finished_at" is added to them: the time, in seconds since 1970.

        Raises:
            OSError: if the run's folder has been removed, or the file cannot be written.
        """
        os.stat(self.config)  # raises if the folder was removed, which writing would create again
        append_line(self.metrics, json.dumps(row | {"finished_at": time.time()}))

    def cut_metrics(self, iteration: int) -> None:
        """Delete the metrics of all iterations after ``iteration``, and damaged lines."""
        lines = self.metrics_lines()
        rows = zip(lines, map(parse_row, lines))
        kept = [line + b"\n" for line, row in rows if row and row["iteration"] <= iteration]
        if lines:
            write_atomically(self.metrics, b"".join(kept))

    # --- the rules of a user's game ---------------------------------------------------------------

    def write_rules(self, text: str) -> None:
        """Store the source code of the game's rules (`Game.rules_text`).

        An empty text is not stored.
        """
        if text:
            write_atomically(self.rules, text.encode())

    def read_rules(self) -> str:
        """Return the stored source code of the game's rules, or "" if it is missing or damaged."""
        try:
            text = read_text(self.rules)
        except StoredFileError:
            return ""
        return text if is_rules_text(text) else ""

    @property
    def rules_digest(self) -> str:
        """The SHA-256 hex digest of the stored rules; "" if no rules are stored."""
        return digest_of(self.read_rules())

    def drop_window(self, rules_text: str) -> None:
        """Delete all stored games, including unfinished ones, and store the new rules of the game.

        The rules are stored last, so that an interrupted deletion is repeated.

        Args:
            rules_text: the source code of the game's current rules (`Game.rules_text`).

        Raises:
            StoredFileError: if the stored state is missing or damaged.
        """
        state = load_state(self.state)
        save_state(self.state, state | {"selfplay": {}, "games": {}})
        for path in (self.path / "games").glob("*.safetensors"):
            path.unlink()
        self.write_rules(rules_text)

    # --- networks ---------------------------------------------------------------------------------

    def network(self, iteration: int) -> Path:
        """Return the path of an iteration's network file, which need not exist."""
        return self.path / "networks" / f"{iteration:06d}.safetensors"

    def drop_networks(self, keep: int) -> None:
        """Delete old networks so that at most ``keep`` + 1 remain; if ``keep`` is 0, all remain.

        The newest two always remain, because another process may be about to read the older one. Of
        the others, those whose iteration is divisible by a certain power of two remain: the
        smallest power that leaves fewer than ``keep``. They are spread evenly over the run, and a
        longer run keeps a subset of them.
        """
        older = sorted((self.path / "networks").glob("*.safetensors"))[:-2]
        stride = 1
        while keep and sum(int(path.stem) % stride == 0 for path in older) >= keep:
            stride *= 2
        for path in older:
            if int(path.stem) % stride:
                path.unlink()

    # --- games ------------------------------------------------------------------------------------

    def save_games(self, iteration: int, records: list[GameRecord]) -> str:
        """Store the games of an iteration, and return the file's SHA-256 hex digest.

        Raises:
            OSError: if the file cannot be written.
        """
        return save_state(self.games(iteration), flatten(records))

    def load_games(self, iteration: int, game: Game, digest: str | None = None) -> list[GameRecord]:
        """Read the games of an iteration, and check that they fit the game.

        Args:
            iteration: the iteration in which the games were played.
            game: the game, which determines the shapes of the stored arrays.
            digest: the checksum that `save_games` returned; if None, any undamaged file is
                accepted.

        Raises:
            StoredFileError: if the file is missing or damaged, has another checksum than
                ``digest``, or its records do not fit ``game``.
        """
        path = self.games(iteration)
        columns = load_state(path, digest)
        try:
            check_games(columns, game)
        except GamesError as error:
            message = f"'{path}' does not hold games of {game.name}: {error}."
            raise StoredFileError(message, path=path) from None
        return unflatten(columns)

    def keep_games(self, iterations: Container[int]) -> None:
        """Delete the stored games of all other iterations."""
        for path in (self.path / "games").glob("*.safetensors"):
            if int(path.stem) not in iterations:
                path.unlink(missing_ok=True)

    def games(self, iteration: int) -> Path:
        """Return the path of the file with an iteration's games, which need not exist."""
        return self.path / "games" / f"{iteration:06d}.safetensors"


def runs_of(root: str | Path, game: str | None, rules_digest: str) -> list[RunFolder]:
    """Return all runs of a game, found by the game's name or by equal rules.

    Args:
        root: the folder of all runs.
        game: the game's name; None means any game.
        rules_digest: the game's `Game.rules_digest`, which also finds runs stored under another
            name. With "", runs are found by name only.
    """
    runs = [RunFolder(path) for path in Path(root).glob("*/*") if path.is_dir()]
    if game is None:
        return runs
    name = folder_name(game)
    return [
        run
        for run in runs
        if run.path.parent.name == name or rules_digest and run.rules_digest == rules_digest
    ]


def folder_name(game: str) -> str:
    """Convert a game's name to a name for its files and folders, such as the folder of its runs.

    A path of a Python file becomes the file's name without ".py"; elsewhere, characters other than
    letters, digits, "_", "." and "-" become "_".
    """
    if game.endswith(".py"):
        return Path(game).stem
    return re.sub(r"[^\w.-]+", "_", game).strip("_")


def find_network(path: str | Path) -> Path:
    """Find a network file: ``path`` itself or, if ``path`` is a folder, its newest network.

    Args:
        path: a file, which is not read; a run's folder; or a folder of network files.

    Raises:
        StoredFileError: if ``path`` does not exist, or the folder contains no network.
    """
    path = Path(path)
    if path.is_file():
        return path
    if not path.exists():
        raise StoredFileError(f"there is no file or folder '{path}'.", path=path)
    networks = sorted(path.glob("networks/*.safetensors"))
    if not networks:
        files = sorted(path.glob("*.safetensors"))
        networks = [file for file in files if not file.name.startswith("state.")]
    if not networks:
        raise StoredFileError(
            f"'{path}' holds no network: there is no networks/*.safetensors in it.", path=path
        )
    return networks[-1]


def parse_row(line: str | bytes) -> dict[str, Any] | None:
    """Parse one line of the metrics file; return None if the line is incomplete or damaged."""
    try:
        row = json.loads(line)
        has_iteration = type(row["iteration"]) is int and row["iteration"] > 0
        times = (row["elapsed_s"], row.get("finished_at", 0.0))
        return row if has_iteration and all(0.0 <= time < 1e300 for time in times) else None
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
