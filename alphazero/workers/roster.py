"""Keep track of a run's workers: their unfinished units of work, speed and finished games.

In: workers that join, reply and leave. Out: `WorkerReport`s, and notices for the user. Does not
depend on the transport or the game.
"""

import copy
import dataclasses
import math

from alphazero.runtime.console import counted
from alphazero.workers.source import WorkerReport
from alphazero.workers.unit import NO_WORK, SelfPlayWork, Unit, WorkerFacts

MAX_UNITS = 2  #: units of work that each worker holds: the one that it plays and the next one
_PATIENCE_S = 30.0  # seconds without any worker before the user is told how one joins


@dataclasses.dataclass
class WorkerState(WorkerReport):
    """A connected worker, kept up to date by `Roster` and the dispatcher."""

    busy_since: float = 0.0  #: time when it received work or last replied
    in_flight: dict[int, Unit] = dataclasses.field(default_factory=dict)  #: unfinished units by id


class Roster:
    """All connected workers, and those that have left since the last report.

    Args:
        max_staleness: how many networks out of date a game may be and still count.

    Attributes:
        workers: the connected workers by name.
        work: counts of all self-play work so far.
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
        """Add a worker that has joined, and a notice that tells the user."""
        self.workers[name] = WorkerState(name, busy_since=now)
        threads = counted(facts.num_threads, "thread")
        self.notices.append(f"Worker {name} has joined: {threads} on {facts.host}.")

    def remove(self, worker: WorkerState) -> list[Unit]:
        """Remove a worker; return the units of work that it has not finished."""
        del self.workers[worker.name]
        worker.is_alive = False
        self._gone.append(worker)
        return list(worker.in_flight.values())

    @property
    def num_in_flight(self) -> int:
        """The number of games that were requested from workers and have not arrived yet."""
        num_games = 0
        for worker in self.workers.values():
            num_games += sum(unit.num_games for unit in worker.in_flight.values())
        return num_games

    @property
    def games_per_s(self) -> float:
        """The estimated speed of all workers together; 0 before the first reply.

        Workers that have not replied yet are assumed to have the mean speed of the others.
        """
        speeds = [worker.games_per_s for worker in self.workers.values() if worker.games_per_s]
        mean_speed = sum(speeds) / max(len(speeds), 1)
        return mean_speed * len(self.workers)

    def next_free(self) -> WorkerState | None:
        """Return the least busy worker with room for a unit of work, or None if all are full."""
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
        """Count a worker's games and update its speed; return whether they are fresh enough.

        Args:
            seconds: time in which the games were played.
            staleness: how many networks out of date they are.
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
        """Add the notice ``text`` once if there have been no workers for `_PATIENCE_S` seconds."""
        if self.workers:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = now
        elif now - self._empty_since > _PATIENCE_S:
            self._empty_since = math.inf
            self.notices.append(text)

    def take_notices(self) -> list[str]:
        """Return the notices since the last call, and forget them."""
        notices = self.notices
        self.notices = []
        return notices

    def reports(self) -> list[WorkerReport]:
        """Return a report of each worker's games since the last call; begin to count anew."""
        present = list(self.workers.values())
        gone = self._gone
        self._gone = []
        reports: list[WorkerReport] = [*map(copy.copy, present), *gone]
        for worker in present:
            worker.num_games = 0
            worker.total_staleness = 0
            worker.num_stale_games = 0
        return reports
