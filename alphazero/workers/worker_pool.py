"""Keep track of a run's workers: their unfinished units of work, their speeds and their games.

`WorkerPool` also collects notices for the user. It does not depend on the transport or the game.
"""

import dataclasses
import math

from alphazero.runtime.console import counted
from alphazero.workers.source import WorkersTally
from alphazero.workers.unit import NO_WORK, Answer, Joined, Unit

MAX_UNITS = 2  #: maximum units of work that a worker holds: the one it is playing and the next one
_PATIENCE_S = 30.0  # seconds without any worker before the user is told how one joins


@dataclasses.dataclass
class WorkerState:
    """A connected worker: its speed, and the units of work that it has not finished."""

    name: str
    busy_since: float  #: time in seconds when it last replied or, if idle, got work
    games_per_s: float = 0.0  #: estimated speed while playing; 0 before its first reply
    #: unfinished units of work by id
    in_flight: dict[int, Unit] = dataclasses.field(default_factory=dict)


class WorkerPool:
    """Keeps the connected workers, and counts their games.

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
        self._remind_at: float | None = None
        self._tally = WorkersTally()

    def add(self, joined: Joined, now: float) -> None:
        """Add a worker that has joined at time ``now``, and a notice that tells the user."""
        self.workers[joined.worker] = WorkerState(joined.worker, now)
        threads = counted(joined.num_threads, "thread")
        self.notices.append(f"Worker {joined.worker} has joined: {threads} on {joined.host}.")

    def remove(self, name: str, reason: str) -> list[Unit]:
        """Remove a worker, add a notice, and return the units of work that it has not finished.

        Args:
            name: the worker's name; it need not have joined yet.
            reason: why the worker was lost, as a clause.
        """
        worker = self.workers.pop(name, None)
        unfinished = [] if worker is None else list(worker.in_flight.values())
        self._tally.num_lost += worker is not None
        notice = f"Worker {name} is gone: {reason}."
        if unfinished:
            goes = "goes" if len(unfinished) == 1 else "go"
            notice += f" {counted(len(unfinished), 'unit')} of work {goes} to another worker."
        self.notices.append(notice)
        return unfinished

    @property
    def num_in_flight(self) -> int:
        """Number of games that were requested from workers and have not arrived yet."""
        units = (unit for worker in self.workers.values() for unit in worker.in_flight.values())
        return sum(unit.num_games for unit in units)

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
        free = [worker for worker in self.workers.values() if len(worker.in_flight) < MAX_UNITS]
        return min(free, key=lambda worker: len(worker.in_flight), default=None)

    def count(self, worker: WorkerState, answer: Answer, num_games: int, staleness: int) -> bool:
        """Count the games of a worker's reply, and return whether they are fresh enough to use.

        Games are fresh if they are at most ``max_staleness`` networks out of date. The worker's
        estimated speed is updated too.

        Args:
            worker: the worker that replied.
            answer: the reply.
            num_games: number of games in the reply.
            staleness: number of networks by which the games are out of date.
        """
        self.work = self.work.plus(answer.work)
        newest = num_games / max(answer.seconds, 1e-3)
        before = worker.games_per_s or newest
        worker.games_per_s = (before + newest) / 2
        is_fresh = staleness <= self._max_staleness
        if is_fresh:
            self._tally.num_games += num_games
            self._tally.total_staleness += staleness * num_games
        else:
            self._tally.num_stale_games += num_games
        return is_fresh

    def remind(self, now: float, text: str) -> None:
        """Add a notice if no worker has been connected for 30 seconds.

        It is added once, and again only after a worker has joined and left.

        Args:
            now: the current time in seconds.
            text: the notice, a sentence that tells the user how a worker joins.
        """
        if self.workers or self._remind_at is None:
            self._remind_at = now + _PATIENCE_S
        elif now > self._remind_at:
            self._remind_at = math.inf
            self.notices.append(text)

    def take_notices(self) -> list[str]:
        """Return the notices added since the last call, and clear them."""
        notices = self.notices
        self.notices = []
        return notices

    def take_tally(self) -> WorkersTally:
        """Return the number of workers and the counts since the last call, and reset the counts."""
        tally = self._tally
        self._tally = WorkersTally()
        tally.num_workers = len(self.workers)
        return tally
