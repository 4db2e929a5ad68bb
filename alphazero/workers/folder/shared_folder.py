"""The shared folder of workers=folder: which files lie where, and the posted job.

    FOLDER/job.json                   what is to be played; written by the learner
    FOLDER/networks/000012.safetensors  the newest networks; written by the learner
    FOLDER/games/NAME.000003.64.safetensors  64 games; written by the worker NAME
    FOLDER/workers/NAME.json          sign of life of a worker
    FOLDER/refused/                   what failed a check

In: a `Posting`, bytes. Out: the same, read back and checked. Every file is written under a
temporary name and renamed, nothing is unpickled, no link is followed, and no file is read that is
larger than it may be: a file in a folder that others can write may be anything.
"""

import dataclasses
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from alphazero.config.settings import from_plain, option
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.files import parse_object, write_atomically
from alphazero.workers.unit import Job, WorkerFacts

JOB_FORMAT = "alphazero-job-1"
KEEP_NETWORKS = 3
_MOST_BYTES_OF_JSON = 4_000_000
_MOST_BYTES_OF_NETWORK = 4_000_000_000
_WORKER = r"[a-z0-9_-]{1,80}"
_GAMES = re.compile(rf"({_WORKER})\.([0-9]{{6,9}})\.([0-9]{{1,9}})\.safetensors")
_NETWORK = re.compile(r"([0-9]{6})\.safetensors")
_UNFINISHED = re.compile(r"\..*\.tmp[0-9]+")
_SIGN = re.compile(rf"({_WORKER})\.json")


@dataclasses.dataclass
class Posting:
    """What the learner posts for the workers."""

    job: Job = dataclasses.field(default_factory=Job)
    progress: float = option(
        0.0, "see `alphazero.selfplay.lockstep.SelfPlay.begin`", low=0.0, high=1.0
    )
    unit_s: float = option(30.0, "seconds that a unit should last", low=0.0, high=1e6)
    has_ended: bool = False  #: nobody reads games now; a resumed run begins again


@dataclasses.dataclass
class SignOfLife:
    """The heartbeat of a worker."""

    run: str = ""
    facts: WorkerFacts = dataclasses.field(default_factory=WorkerFacts)
    time: float = 0.0  #: of the worker's clock, different in each of its heartbeats
    patience_s: float = option(0.0, "until its next sign, as far as it knows", low=0.0, high=1e6)


class GamesName(NamedTuple):
    """What the name of a file of games says."""

    worker: str
    number: int  #: of the file, among the worker's
    num_games: int

    def __str__(self) -> str:
        return f"{self.worker}.{self.number:06d}.{self.num_games}.safetensors"

    @classmethod
    def parse(cls, name: str) -> "GamesName | None":
        """Return what a file name says; None if no worker names a file so."""
        match = _GAMES.fullmatch(name)
        return None if match is None else cls(match[1], int(match[2]), int(match[3]))


class SharedFolder:
    """The paths in a shared folder, and careful reading and writing."""

    def __init__(self, path: str | Path):
        self.path = Path(path).absolute()
        self.job = self.path / "job.json"
        self.networks = self.path / "networks"
        self.games = self.path / "games"
        self.workers = self.path / "workers"
        self.refused = self.path / "refused"

    def make(self) -> None:
        """Make the folders that are missing."""
        for folder in (self.networks, self.games, self.workers, self.refused):
            folder.mkdir(parents=True, exist_ok=True)

    def clear(self) -> None:
        """Remove the networks and games of an earlier run, and what was left unfinished."""
        for folder in (self.networks, self.games):
            for name in os.listdir(folder):
                if any(kind.fullmatch(name) for kind in (_NETWORK, _GAMES, _UNFINISHED)):
                    (folder / name).unlink(missing_ok=True)

    def network(self, version: int) -> Path:
        """Return the path of a network."""
        return self.networks / f"{version:06d}.safetensors"

    def readable_network(self, version: int) -> Path:
        """Return the path of a network, which may have been replaced by something else.

        Raises:
            StoredFileError: if it is not a plain file, or too large to be a network.
            OSError: if it is not there.
        """
        path = self.network(version)
        _check_regular(path, os.lstat(path), _MOST_BYTES_OF_NETWORK)
        return path

    def versions(self) -> list[int]:
        """Return the numbers of the networks that are there, in ascending order."""
        found = (_NETWORK.fullmatch(name) for name in os.listdir(self.networks))
        return sorted(int(match[1]) for match in found if match)

    def waiting_games(self) -> Iterator[GamesName]:
        """Yield the names of all files of games that lie there."""
        names = (GamesName.parse(name) for name in os.listdir(self.games))
        return (name for name in names if name is not None)

    def post(self, posting: Posting) -> None:
        """Write what the workers have to know."""
        plain = {"format": JOB_FORMAT} | dataclasses.asdict(posting)
        self.write(self.job, (json.dumps(plain, indent=1) + "\n").encode())

    def read_posting(self) -> Posting | None:
        """Return what the learner has posted last, None if nothing was.

        Raises:
            StoredFileError: if the file is damaged, or of another version of this program.
            OSError: if it cannot be read.
        """
        try:
            data = read_regular(self.job, _MOST_BYTES_OF_JSON)
        except FileNotFoundError:
            return None
        plain = parse_object(data.decode(errors="replace"), self.job, "the job")
        if plain.pop("format", None) != JOB_FORMAT or not isinstance(plain.get("job"), dict):
            raise StoredFileError(
                f"'{self.job}' is not a job of this version of the program: its format is not "
                f"'{JOB_FORMAT}'.",
                path=self.job,
            )
        try:
            return from_plain(Posting, plain)
        except ConfigError as error:
            message = f"'{self.job}' is damaged, or of another version of this program: {error}"
            raise StoredFileError(message, path=self.job) from None

    def sign(self, worker: str, sign: SignOfLife) -> None:
        """Write a worker's sign of life."""
        self.write(self.workers / f"{worker}.json", json.dumps(dataclasses.asdict(sign)).encode())

    def write(self, path: Path, data: bytes) -> None:
        """Write a file atomically into a folder that is there.

        A folder that is missing is not made: the share may be unmounted.
        """
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent}; is the share mounted?")
        write_atomically(path, data)


def sign_name(file_name: str) -> str | None:
    """Return the worker whose sign of life has this file name; None if it is another file."""
    match = _SIGN.fullmatch(file_name)
    return None if match is None else match[1]


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Return the contents of a file; follow no link and wait for no pipe.

    Raises:
        StoredFileError: if it is not a plain file, or larger than ``most_bytes``.
        OSError: if it cannot be read.
    """
    _check_regular(path, os.lstat(path), most_bytes)
    with open(path, "rb", opener=_open_without_following) as file:
        _check_regular(path, os.fstat(file.fileno()), most_bytes)
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:  # it has grown
        raise StoredFileError(f"'{path}' is too large.", path=path)
    return data


def _check_regular(path: Path, status: os.stat_result, most_bytes: int) -> None:
    """Check that a file is one that may be read.

    Raises:
        StoredFileError: if it is not a plain file, or larger than ``most_bytes``.
    """
    if not stat.S_ISREG(status.st_mode):
        raise StoredFileError(f"'{path}' is not a plain file.", path=path)
    if status.st_size > most_bytes:
        reason = f"{status.st_size:,} bytes, where at most {most_bytes:,} are allowed"
        raise StoredFileError(f"'{path}' is too large: {reason}.", path=path)


def _open_without_following(path: str, flags: int) -> int:
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    return os.open(path, flags)
