"""The folder of a run: where each file lies, which state is the newest, and the games that fill the replay again.

The layout:

    checkpoints/<game>/<run>/
        config.yaml               the resolved settings
        versions.json             of this program and the libraries
        networks/000012.safetensors   one for each iteration, with game and shape inside: playing needs such a file alone
        games/000012.safetensors  the games of each iteration that is still in the replay's window
        state.safetensors         what a resume needs beside the games; written last, so it decides which iteration is finished
        metrics.jsonl             a line for each iteration
        events.out.tfevents.*     TensorBoard's
"""

import importlib.metadata
import json
import platform
from datetime import datetime
from pathlib import Path

import numpy as np
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from alphazero.games.registry import is_game_file
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically
from alphazero.runtime.stored_names import current_metrics
from alphazero.selfplay.game_record import GameRecord
from alphazero.storage.checkpoint import load_state, save_state


class RunFolder:
    """The files of one run."""

    def __init__(self, path: Path):
        self.path = Path(path)
        self.config = self.path / "config.yaml"
        self.metrics = self.path / "metrics.jsonl"
        self.state = self.path / "state.safetensors"

    @classmethod
    def create(cls, root: str, game: str, name: str) -> "RunFolder":
        """Make the folder of a new run; a name that is taken is refused, the date and time get a number.

        Raises:
            ConfigError: if the name is taken.
        """
        parent = Path(root) / folder_name(game)
        chosen = name or datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
        for number in range(1, 1000):
            path = parent / (chosen if number == 1 else f"{chosen}_{number}")
            try:
                path.mkdir(parents=True)
                return cls(path)
            except FileExistsError:
                if name:
                    raise ConfigError(
                        f"run.name={name} is taken: {path} exists; choose another name, or go on with it by resume={path}."
                    ) from None
        raise ConfigError(f"{parent} holds too many runs of the name {chosen}.")

    @classmethod
    def find(
        cls,
        path: str,
        root: str,
        game: str | None,
        key: str = "resume",
        holding: str = "state.safetensors",
    ) -> "RunFolder":
        """Return the folder of a run.

        Args:
            path: the folder, or "latest": the one among ``game``'s runs (or all) whose state was written last.
            key: the setting that named it, for the errors.
            holding: the file of it that is needed; the state to go on from, or less.

        Raises:
            ConfigError: with one plain sentence if there is none.
        """
        if path != "latest":
            if not (Path(path) / holding).is_file():
                raise ConfigError(
                    f"{key}={path} is not the folder of a run that finished an iteration: it holds no {holding}."
                )
            return cls(Path(path))
        states = sorted(
            Path(root).glob(f"{folder_name(game) if game else '*'}/*/state.safetensors"),
            key=lambda file: file.stat().st_mtime,
        )
        if not states:
            raise ConfigError(
                f"{key}=latest found no run{' of ' + game if game else ''} under '{root}' that finished an iteration."
            )
        return cls(states[-1].parent)

    def resume_words(self, game_name: str) -> str:
        """Return the arguments of `alphazero train` that resume the run.

        A game file is named there: only the user's word runs it, the stored config's does not.
        """
        game = f" game.name={game_name}" if is_game_file(game_name) else ""
        return f"resume={self.path}{game}"

    def write_config(self, settings: dict) -> None:
        """Store the resolved settings, and the versions of everything that made the run."""
        write_atomically(self.config, OmegaConf.to_yaml(OmegaConf.create(settings)).encode())
        names = ("alphazero-selfplay", "torch", "numpy", "numba", "hydra-core")
        versions = {"python": platform.python_version(), "processor": platform.machine()}
        for name in names:
            try:
                versions[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                versions[name] = "not installed"
        write_atomically(
            self.path / "versions.json", (json.dumps(versions, indent=2) + "\n").encode()
        )

    def read_config(self) -> dict:
        """Return the stored settings as plain data; raises ConfigError with a sentence if they cannot be read."""
        try:
            return OmegaConf.to_container(OmegaConf.load(self.config))
        except (OSError, ValueError, YAMLError, OmegaConfBaseException) as error:
            cause = " ".join(str(error).split())
            raise ConfigError(
                f"the settings of the run cannot be read from {self.config} ({cause})."
            ) from None

    def read_metrics(self) -> list[dict]:
        """Return the lines of the run's metrics under today's names, the first iteration first.

        A line that was torn off while it was written is left out.

        Raises:
            ConfigError: if there are none.
        """
        lines = self.metrics.read_text().splitlines() if self.metrics.is_file() else []
        rows = [current_metrics(json.loads(line)) for line in lines if _iteration_of(line) > 0]
        if not rows:
            raise ConfigError(f"'{self.metrics}' holds no metrics: no iteration was finished.")
        return rows

    def network(self, iteration: int) -> Path:
        """Return the path of an iteration's network."""
        return self.path / "networks" / f"{iteration:06d}.safetensors"

    def drop_networks(self, keep: int) -> None:
        """Delete networks so that ``keep`` at the most remain: the newest, and others spread evenly over the run; 0 keeps all.

        Of the older ones, those stay whose iteration is a multiple of a power of two, the smallest that leaves few enough: what a longer run keeps
        is among what it kept before.
        """
        *older, _ = sorted((self.path / "networks").glob("*.safetensors")) or [None]
        stride = 1
        while keep and sum(int(path.stem) % stride == 0 for path in older) >= keep:
            stride *= 2
        for path in older:
            if int(path.stem) % stride:
                path.unlink()

    def save_games(self, iteration: int, records: list[GameRecord]) -> None:
        """Store the games of an iteration."""
        known = [
            name
            for name in GameRecord._fields
            if all(getattr(record, name) is not None for record in records)
        ]
        columns = {
            name: np.concatenate([getattr(record, name) for record in records]) for name in known
        }
        columns["lengths"] = np.array([len(record.actions) for record in records], np.int64)
        save_state(self._games(iteration), columns)

    def load_games(self, iteration: int, num_rows: int) -> list[GameRecord]:
        """Return the games up to ``iteration``, the oldest first, going back until ``num_rows`` target rows are there."""
        records: list[GameRecord] = []
        rows = 0
        while iteration > 0 and rows < num_rows and self._games(iteration).is_file():
            columns = load_state(self._games(iteration))
            ends = np.cumsum(columns.pop("lengths"))
            parts = {name: np.split(column, ends[:-1]) for name, column in columns.items()}
            found = [GameRecord(**dict(zip(parts, fields))) for fields in zip(*parts.values())]
            rows += sum(int(record.is_target.sum()) for record in found)
            records = found + records
            iteration -= 1
        return records

    def drop_games(self, iteration: int, num_rows: int, rows_of: dict[int, int]) -> None:
        """Delete the games of iterations so old that the newer ones hold ``num_rows`` target rows.

        Args:
            rows_of: the number of target rows of each iteration; the deleted ones are taken out.
        """
        total = 0
        for number in sorted(rows_of, reverse=True):
            if total >= num_rows:
                self._games(number).unlink(missing_ok=True)
                del rows_of[number]
            else:
                total += rows_of[number]

    def cut_metrics(self, iteration: int) -> None:
        """Drop the lines of iterations after ``iteration``, which will be made again, and a line that was torn off while it was written."""
        if self.metrics.is_file():
            lines = [
                line
                for line in self.metrics.read_text().splitlines()
                if 0 < _iteration_of(line) <= iteration
            ]
            write_atomically(self.metrics, "".join(line + "\n" for line in lines).encode())

    def _games(self, iteration: int) -> Path:
        return self.path / "games" / f"{iteration:06d}.safetensors"


def _iteration_of(line: str) -> int:
    """Return the iteration that a line of the metrics tells of, 0 where it is no whole line."""
    try:
        return json.loads(line)["iteration"]
    except ValueError:
        return 0


def folder_name(game: str) -> str:
    """Return a game's name as a part of a path: of the folder of its runs, and of the network that ships with it."""
    return Path(game).stem if game.endswith(".py") else game.replace(":", "_")


def find_network(path: str | Path) -> Path:
    """Return the network file that a person means: the file itself, or the newest one of a run's directory.

    Raises:
        ValueError: with one plain sentence if there is none.
    """
    path = Path(path)
    if path.is_file():
        return path
    found = sorted(path.glob("networks/*.safetensors")) or sorted(path.glob("*.safetensors"))
    if not path.exists():
        raise ValueError(f"there is no file or directory '{path}'.")
    if not found:
        raise ValueError(f"'{path}' holds no network (no networks/*.safetensors in it).")
    return found[-1]
