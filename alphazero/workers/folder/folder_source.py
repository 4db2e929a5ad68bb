"""Games that `alphazero work` leaves in a shared folder: workers=folder.

In: files of games, written by whoever has the folder. Out: games, each counted once, and sentences
about workers and refused files. As in KataGo, learner and workers share nothing but files:
`alphazero.workers.folder.shared_folder` says which.

A file of games is deleted only when its games are stored with the run. The state of the run names
the files that are stored and still lie there. So a learner may be killed at any moment: after a
resume, each file that lies there either counts then, or is known to have counted.
"""

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterator

import torch

from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import PositionSample
from alphazero.network.weights import network_arrays, save_network
from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.selfplay.game_record import GameRecord
from alphazero.workers.folder.attendance import Attendance
from alphazero.workers.folder.game_files import GamesFile
from alphazero.workers.folder.inbox import Inbox
from alphazero.workers.folder.shared_folder import KEEP_NETWORKS, Posting, SharedFolder
from alphazero.workers.roster import Roster
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.source import Played, WorkerReport
from alphazero.workers.unit import Job, SelfPlayWork

_POLL_S = 0.5
_UNITS_OF_AN_ITERATION = 4  # a unit that lasts longer would be stale when it comes


class FolderSource:
    """A `GameSource` that reads files of games.

    Args:
        settings: of the workers.
        game: checks the files.
        job: what is posted for the workers; of a resumed run, under the run's first name.
        clock: returns seconds.
        sleep: waits for seconds.

    Raises:
        ConfigError: if the folder cannot be used.
    """

    plays_on = True

    def __init__(
        self,
        settings: WorkerSettings,
        game: Game,
        job: Job,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self.folder = SharedFolder(settings.folder)
        self._settings = settings
        self._game = game
        self._job = job
        self._clock = clock
        self._sleep = sleep
        self._roster = Roster(settings.max_staleness)
        self._attendance = Attendance(self.folder, self._roster)
        self._version = 0
        self._newest = 0  # network that was ever published
        self._progress = 0.0
        self._unpublished: torch.nn.Module | None = None
        self._is_posted = False
        self._inbox = Inbox(self.folder, game, lambda notice: self._roster.notices.append(notice))
        self._is_away = False  # whether the folder cannot be used, so that it is said once
        self._updated_at: float | None = None  # None before the first network
        self._iteration_s = math.inf  # the time between the last two networks
        self._looked_at = -math.inf
        try:
            self.folder.make()
        except OSError as error:
            raise self._unusable(f"it cannot be made or written ({error.strerror})") from None

    # --- what the trainer asks for ----------------------------------------------------------------

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """See `GameSource.update`; workers calibrate on positions of their own.

        Raises:
            ConfigError: at the first call, if the folder is another run's.
        """
        now = self._clock()
        if self._updated_at is None:
            self._begin(now)
        else:
            self._iteration_s = now - self._updated_at
        self._updated_at = now
        self._version, self._newest = version, max(self._newest, version)
        self._unpublished = network
        try:
            self._publish()
        except OSError as error:  # it is tried again
            self._note_away(error)

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """See `GameSource.play`."""
        self._progress, self._is_posted = progress, False
        num_finished = 0
        while num_finished < num_games:
            self._look(num_games - num_finished)
            records: list[GameRecord] = []
            while self._inbox.waiting and num_finished + len(records) < num_games:
                records += self._count(self._inbox.waiting.popleft())
            num_finished += len(records)
            yield Played(records, self._roster.take_notices())
            if num_finished < num_games and not records:
                self._sleep(_POLL_S)

    def play_ahead(self, num_games: int, progress: float) -> None:
        """Do nothing: workers play on by themselves."""

    def wait(self) -> Iterator[int]:
        """Yield nothing: there is nothing to wait for."""
        yield from ()

    def tend(self) -> None:
        """Look at most twice a second; check at most one file, because checks take time."""
        if self._clock() - self._looked_at >= _POLL_S:
            self._look(1)

    @property
    def work(self) -> SelfPlayWork:
        """See `GameSource.work`."""
        return self._roster.work

    def worker_reports(self) -> list[WorkerReport]:
        """See `GameSource.worker_reports`."""
        return self._roster.reports()

    def state_dict(self) -> dict:
        """Return the name of the run, and which files count; some still lie there."""
        inbox = self._inbox
        counted, numbers = sorted(inbox.counted), dict(inbox.numbers)
        return {"folder": {"run": self._job.run, "counted": counted, "numbers": numbers}}

    def load_state_dict(self, state: dict) -> None:
        """See `GameSource.load_state_dict`."""
        if own := state.get("folder"):
            self._job = dataclasses.replace(self._job, run=own["run"])
            self._inbox.counted = set(own["counted"])
            numbers = own.get("numbers", {})  # states of earlier versions have none
            self._inbox.numbers = {
                worker: (end, missing) for worker, (end, missing) in numbers.items()
            }

    def stored(self) -> None:
        """Delete the files whose games are stored; one that cannot be deleted is tried again."""
        self._inbox.delete_counted()

    def close(self) -> None:
        """Tell the workers that nobody reads games for now."""
        if self._updated_at is not None:
            with contextlib.suppress(OSError):
                self._post(has_ended=True)

    # --- the folder -------------------------------------------------------------------------------

    def _begin(self, now: float) -> None:
        """Take the folder over: from this run, before a resume, or from one that has ended."""
        folder = self.folder
        try:
            posting = folder.read_posting()
            if posting is not None and posting.job.run == self._job.run:
                self._newest = max(folder.versions(), default=0)
            elif posting is not None and not posting.has_ended:
                raise self._unusable(
                    f"it belongs to another run, {posting.job.run} of {posting.job.game}, which "
                    "is under way or was killed. Choose another folder, or, if that run will not "
                    f"be resumed, delete {folder.job}"
                )
            elif posting is not None:
                folder.clear()
            self._attendance.begin(now)
        except StoredFileError as error:
            raise self._unusable(f"{error} Delete that file if its run will not be resumed") from (
                None
            )
        except OSError as error:
            raise self._unusable(f"it cannot be read ({error})") from None
        self.stored()

    def _publish(self) -> None:
        """Write the newest network, delete old ones and those of a future that was lost.

        Raises:
            OSError: if the folder cannot be used.
        """
        network, folder = self._unpublished, self.folder
        if network is None:
            return
        if not folder.networks.is_dir():
            raise FileNotFoundError(f"there is no folder {folder.networks}")
        save_network(
            folder.network(self._version),
            network_arrays(network),
            self._game.name,
            dataclasses.asdict(self._job.network),
            {"run": self._job.run, "iteration": self._version},
        )
        self._unpublished = None
        for version in folder.versions():
            if not self._version - KEEP_NETWORKS < version <= self._version:
                folder.network(version).unlink(missing_ok=True)

    def _post(self, has_ended: bool = False) -> None:
        unit_s = min(self._settings.unit_s, self._iteration_s / _UNITS_OF_AN_ITERATION)
        self.folder.post(Posting(self._job, self._progress, unit_s, has_ended))
        self._is_posted = True

    def _look(self, num_games: int) -> None:
        """See who is there, and read files until ``num_games`` games wait; an error is a notice."""
        self._looked_at = self._clock()
        try:
            self._publish()
            if not self._is_posted:
                self._post()
            self._attendance.look(self._job.run, self._looked_at)
            self._inbox.read(num_games, self._job, self._newest, self._looked_at)
            self._roster.remind(self._looked_at, self._how_to_join)
            if self._is_away:
                self._roster.notices.append("The shared folder works again.")
                self._is_away = False
        except OSError as error:
            self._note_away(error)

    def _count(self, file: GamesFile) -> list[GameRecord]:
        """Return the games of a file that count: all, or none if they are too old."""
        staleness = max(self._version - file.version, 0)
        worker, num_games = self._roster.workers.get(file.name.worker), len(file.records)
        if not self._roster.count(worker, num_games, file.work, file.seconds, staleness):
            self._inbox.drop(file)
            return []
        self._inbox.count(file.name)
        return file.records

    # --- sentences --------------------------------------------------------------------------------

    @property
    def _how_to_join(self) -> str:
        return f"Waiting for workers. They join with: alphazero work {self.folder.path}"

    def _note_away(self, error: OSError) -> None:
        """Tell once that the folder cannot be used; it is tried again."""
        if not self._is_away:
            self._is_away = True
            self._roster.notices.append(
                f"The shared folder {self.folder.path} cannot be used: {error}. Trying again."
            )

    def _unusable(self, reason: str) -> ConfigError:
        message = f"workers.folder={self._settings.folder} cannot be used: {reason}."
        return ConfigError(message, key="workers.folder", value=self._settings.folder)
