"""The workers of a run: which units each has in its hands, how fast it plays, what it did.

In: what happens to workers. Out: `WorkerReport`s, and sentences for the user. Knows neither
transport nor games.
"""

import copy
import dataclasses
import math

from alphazero.runtime.wording import counted
from alphazero.workers.source import WorkerReport
from alphazero.workers.unit import NO_WORK, SelfPlayWork, Unit, WorkerFacts

MOST_UNITS = 2  #: in a worker's hands: one that it plays and the next one
_PATIENCE_S = 30.0  # without any worker, before the user is told how one joins
_SPEED_WEIGHT = 0.5  # of the newest unit in a worker's speed
_SHRINK, _GROW = 0.5, 1.25  # of the units of a worker that lags behind, and of one that does not


@dataclasses.dataclass
class WorkerState(WorkerReport):
    """A worker that is there. `Roster` changes it."""

    busy_since: float = 0.0  #: when it was given work, or last answered
    flights: dict[int, Unit] = dataclasses.field(default_factory=dict)  #: in its hands, by id
    unit_scale: float = 1.0  #: of its units; less than 1 if it lags behind


class Roster:
    """All workers that are there, and counts of those that are gone.

    What is asked for at every unit takes the same time however many workers there are.

    Args:
        max_staleness: networks by which games that count may lag behind.

    Attributes:
        workers: those that are there, by name.
        num_in_flight: games that the units in workers' hands ask for.
        work: for all games so far.
        notices: sentences for the user, until `take_notices`.
    """

    def __init__(self, max_staleness: int):
        self.workers: dict[str, WorkerState] = {}
        self.num_in_flight = 0
        self.work = NO_WORK
        self.notices: list[str] = []
        self._max_staleness = max_staleness
        self._empty_since: float | None = None
        self._known_games_per_s = 0.0  # of the workers that have answered
        self._num_known = 0
        self._free: dict[str, WorkerState] = {}  # with room for a unit; given to in turn
        self._gone: list[WorkerState] = []  # since the last report

    def add(self, name: str, facts: WorkerFacts, now: float) -> None:
        """Let a worker join."""
        self.workers[name] = self._free[name] = WorkerState(name, facts, busy_since=now)
        threads = counted(facts.num_threads, "thread")
        self.notices.append(f"Worker {name} has joined: {threads} on {facts.host}.")

    def remove(self, worker: WorkerState) -> list[Unit]:
        """Let a worker go; return the units that were in its hands."""
        del self.workers[worker.name]
        worker.is_alive = False
        self._free.pop(worker.name, None)
        self._gone.append(worker)
        self._known_games_per_s -= worker.games_per_s
        self._num_known -= worker.games_per_s > 0
        units = list(worker.flights.values())
        worker.flights.clear()
        self.num_in_flight -= sum(unit.num_games for unit in units)
        return units

    @property
    def games_per_s(self) -> float:
        """The speed of all workers; those that have not answered count like the mean of the rest.

        0 if none has answered.
        """
        return self._known_games_per_s * len(self.workers) / max(self._num_known, 1)

    def next_free(self) -> WorkerState | None:
        """Return a worker that has room for a unit; None if there is none."""
        return next(iter(self._free.values()), None)

    def give(self, worker: WorkerState, unit: Unit, now: float) -> None:
        """Note that a worker was given a unit."""
        if not worker.flights:
            worker.busy_since = now
        worker.flights[unit.id] = unit
        self.num_in_flight += unit.num_games
        del self._free[worker.name]
        if len(worker.flights) < MOST_UNITS:
            self._free[worker.name] = worker  # behind the others

    def take(self, worker: WorkerState, unit_id: int, now: float) -> Unit | None:
        """Note that a worker has answered; return the unit, None if it does not have that one."""
        unit = worker.flights.pop(unit_id, None)
        if unit is not None:
            worker.busy_since = now
            self.num_in_flight -= unit.num_games
            self._free.setdefault(worker.name, worker)
        return unit

    def count(
        self,
        worker: WorkerState | None,
        num_games: int,
        work: SelfPlayWork,
        seconds: float,
        staleness: int,
    ) -> bool:
        """Count games; return whether they are fresh enough.

        Args:
            worker: who played them; None if it is not there any more.
            seconds: in which they were played.
            staleness: networks by which they lag behind.
        """
        self.work = self.work.plus(work)
        is_fresh = staleness <= self._max_staleness
        if worker is None:
            return is_fresh
        before = worker.games_per_s
        worker.games_per_s = smoothed_speed(before, num_games / max(seconds, 1e-3))
        self._known_games_per_s += worker.games_per_s - before
        self._num_known += before == 0
        worker.unit_scale = min(worker.unit_scale * (_GROW if is_fresh else _SHRINK), 1.0)
        if is_fresh:
            worker.num_games += num_games
            worker.total_staleness += staleness * num_games
        else:
            worker.num_stale_games += num_games
        return is_fresh

    def remind(self, now: float, text: str) -> None:
        """Tell the user ``text`` once for each long absence of all workers."""
        if self.workers:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = now
        elif now - self._empty_since > _PATIENCE_S:
            self._empty_since = math.inf
            self.notices.append(text)

    def take_notices(self) -> list[str]:
        """Return the sentences since the last call."""
        notices, self.notices = self.notices, []
        return notices

    def reports(self) -> list[WorkerReport]:
        """Return what each worker did since the last call, and begin to count anew."""
        present, gone, self._gone = list(self.workers.values()), self._gone, []
        reports: list[WorkerReport] = [*map(copy.copy, present), *gone]
        for worker in present:
            worker.num_games = worker.total_staleness = worker.num_stale_games = 0
        return reports


def smoothed_speed(before: float, newest: float) -> float:
    """Return a worker's speed after another unit; ``before`` is 0 before the first."""
    return before + (_SPEED_WEIGHT if before else 1.0) * (newest - before)
