"""Keep track of a run's workers: their unfinished units of work, speeds and finished games.

As workers join, reply and leave, `Roster` keeps a `WorkerReport` for each of them, and notices for
the user. It does not depend on the transport or the game.
"""

import copy
import dataclasses
import math

from alphazero.runtime.console import counted
from alphazero.workers.source import WorkerReport
from alphazero.workers.unit import NO_WORK, SelfPlayWork, Unit, WorkerFacts

MAX_UNITS = 2  #: maximum units of work that a worker holds: the one it is playing and the next one
_PATIENCE_S = 30.0  # seconds without any worker before the user is told how one joins


@dataclasses.dataclass
class WorkerState(WorkerReport):
    """A connected worker: its report, and the units of work that it has not finished."""

    busy_since: float = 0.0  #: time in seconds when it last replied or, if idle, got work
    #: unfinished units of work by id
    in_flight: dict[int, Unit] = dataclasses.field(default_factory=dict)


class Roster:
    """Keeps the connected workers, and those that have left since the last report.

    Args:
        max_staleness: maximum number of networks by which a game may be out of date and still
            count.

    Attributes:
        workers: the connected workers by name.
        work: amount of self-play done by all workers so far.
        notices: sentences for the user; `take_notices` empties the list.
    """

    def __init__(self, max_staleness: int):
        self.workers: dict[str, WorkerState] = {}
        self.work = NO_WORK
        self.notices: list[str] = []
        self._max_staleness = max_staleness
        self._empty_since: float | None = None
        self._gone: list[WorkerState] = []  # workers that have left since the last report

    def add(self, name: str, facts: WorkerFacts, now: float) -> None:
        """Add a worker that has joined, and a notice that tells the user.

        Args:
            name: the worker's name, which no other worker has had.
            facts: the host name and number of threads that the worker has reported.
            now: the current time in seconds.
        """
        self.workers[name] = WorkerState(name, busy_since=now)
        threads = counted(facts.num_threads, "thread")
        self.notices.append(f"Worker {name} has joined: {threads} on {facts.host}.")

    def remove(self, worker: WorkerState) -> list[Unit]:
        """Remove a worker and return the units of work that it has not finished."""
        del self.workers[worker.name]
        worker.is_alive = False
        self._gone.append(worker)
        return list(worker.in_flight.values())

    @property
    def num_in_flight(self) -> int:
        """Number of games that were requested from workers and have not arrived yet."""
        num_games = 0
        for worker in self.workers.values():
            num_games += sum(unit.num_games for unit in worker.in_flight.values())
        return num_games

    @property
    def games_per_s(self) -> float:
        """Estimated speed of all workers together, in games per second; 0 before the first reply.

        Workers that have not replied yet are assumed to have the mean speed of the others.
        """
        speeds = [worker.games_per_s for worker in self.workers.values() if worker.games_per_s]
        mean_speed = sum(speeds) / max(len(speeds), 1)
        return mean_speed * len(self.workers)

    def next_free(self) -> WorkerState | None:
        """Return the worker with the fewest unfinished units of work; None if each holds two."""
        workers = self.workers.values()
        worker = min(workers, key=lambda worker: len(worker.in_flight), default=None)
        if worker is None or len(worker.in_flight) >= MAX_UNITS:
            return None
        return worker

    def count(
        self,
        worker: WorkerState,
        num_games: int,
        work: SelfPlayWork,
        seconds: float,
        staleness: int,
    ) -> bool:
        """Count the games of a worker's reply, and return whether they are fresh enough to use.

        Games are fresh if they are at most ``max_staleness`` networks out of date. The worker's
        estimated speed is updated too.

        Args:
            worker: the worker that replied.
            num_games: number of games in the reply.
            work: amount of self-play that the games took.
            seconds: wall-clock time in which they were played.
            staleness: number of networks by which the games are out of date.
        """
        self.work = self.work.plus(work)
        newest = num_games / max(seconds, 1e-3)
        before = worker.games_per_s
        worker.games_per_s = (before + newest) / 2 if before else newest
        is_fresh = staleness <= self._max_staleness
        if is_fresh:
            worker.num_games += num_games
            worker.total_staleness += staleness * num_games
        else:
            worker.num_stale_games += num_games
        return is_fresh

    def remind(self, now: float, text: str) -> None:
        """Add a notice if no worker has been connected for 30 seconds.

        It is added once, and again only after a worker has joined and left.

        Args:
            now: the current time in seconds.
            text: the notice, a sentence that tells the user how a worker joins.
        """
        if self.workers:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = now
        elif now - self._empty_since > _PATIENCE_S:
            self._empty_since = math.inf
            self.notices.append(text)

    def take_notices(self) -> list[str]:
        """Return the notices added since the last call, and clear them."""
        notices = self.notices
        self.notices = []
        return notices

    def reports(self) -> list[WorkerReport]:
        """Return each worker's speed and games since the last call, and reset the game counts.

        Workers that have left since the last call are included once.
        """
        present = list(self.workers.values())
        gone = self._gone
        self._gone = []
        reports: list[WorkerReport] = [*map(copy.copy, present), *gone]
        for worker in present:
            worker.num_games = 0
            worker.total_staleness = 0
            worker.num_stale_games = 0
        return reports
