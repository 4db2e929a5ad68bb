"""The workers of a run: which units each has in its hands, how fast it plays, what it did.

In: what happens to workers. Out: `WorkerReport`s. Knows neither transport nor games.
"""

import dataclasses
from typing import NamedTuple

from alphazero.workers.source import WorkerReport
from alphazero.workers.unit import Answer, Unit, WorkerFacts

_SPEED_WEIGHT = 0.5  # of the newest unit in a worker's speed
_SHRINK, _GROW = 0.5, 1.25  # of the units of a worker that lags behind, and of one that does not


class Flight(NamedTuple):
    """A unit in a worker's hands."""

    unit: Unit
    given_at: float


@dataclasses.dataclass
class WorkerState:
    """A worker that is there."""

    name: str
    facts: WorkerFacts
    busy_since: float  #: when it was given something to do, or answered last
    flights: dict[int, Flight] = dataclasses.field(default_factory=dict)
    games_per_s: float = 0.0  #: 0 until it has answered
    unit_scale: float = 1.0  #: of its units; less than 1 if it lags behind
    num_games: int = 0
    total_staleness: int = 0
    num_stale_games: int = 0

    def give(self, unit: Unit, now: float) -> None:
        """Note that the worker was given a unit."""
        if not self.flights:
            self.busy_since = now
        self.flights[unit.id] = Flight(unit, now)

    def take(self, answer: Answer, now: float) -> Unit | None:
        """Note that the worker has answered; return the unit, None if it was not given that one."""
        flight = self.flights.pop(answer.unit_id, None)
        if flight is None:
            return None
        self.busy_since = now
        return flight.unit

    def count(self, num_games: int, seconds: float, staleness: int, is_stale: bool) -> None:
        """Count the games of an answer.

        Args:
            seconds: in which they were played.
            staleness: networks by which they lag behind.
            is_stale: whether they are dropped.
        """
        self.games_per_s = smoothed_speed(self.games_per_s, num_games / max(seconds, 1e-3))
        self.unit_scale = min(self.unit_scale * (_SHRINK if is_stale else _GROW), 1.0)
        if is_stale:
            self.num_stale_games += num_games
        else:
            self.num_games += num_games
            self.total_staleness += staleness * num_games


class Roster:
    """All workers that are there, and counts of those that are gone."""

    def __init__(self) -> None:
        self._workers: dict[str, WorkerState] = {}
        self._gone: list[WorkerState] = []  # since the last report
        self._any_answer = False

    def add(self, name: str, facts: WorkerFacts, now: float) -> None:
        """Let a worker join."""
        self._workers[name] = WorkerState(name, facts, now)

    def remove(self, worker: WorkerState) -> None:
        """Let a worker go."""
        if self._workers.pop(worker.name, None) is not None:
            self._gone.append(worker)

    def get(self, name: str) -> WorkerState | None:
        """Return a worker that is there."""
        return self._workers.get(name)

    def present(self) -> list[WorkerState]:
        """Return the workers that are there."""
        return list(self._workers.values())

    def has_answered(self) -> bool:
        """Return whether any worker has ever counted a game."""
        present = any(worker.num_games for worker in self._workers.values())
        self._any_answer = self._any_answer or present
        return self._any_answer

    def reports(self) -> list[WorkerReport]:
        """Return what each worker did since the last call, and begin to count anew."""
        self.has_answered()
        gone, self._gone = self._gone, []
        reports = [_report(worker, True) for worker in self._workers.values()]
        reports += [_report(worker, False) for worker in gone]
        for worker in self._workers.values():
            worker.num_games = worker.total_staleness = worker.num_stale_games = 0
        return reports


def smoothed_speed(before: float, newest: float) -> float:
    """Return a worker's speed after another unit; ``before`` is 0 before the first."""
    return before + (_SPEED_WEIGHT if before else 1.0) * (newest - before)


def _report(worker: WorkerState, is_alive: bool) -> WorkerReport:
    facts = worker.facts
    return WorkerReport(
        name=worker.name,
        host=facts.host,
        engine=facts.engine,
        num_threads=facts.num_threads,
        evaluations_per_s=facts.evaluations_per_s,
        games_per_s=worker.games_per_s,
        num_games=worker.num_games,
        staleness=worker.total_staleness / max(worker.num_games, 1),
        num_stale_games=worker.num_stale_games,
        is_alive=is_alive,
    )
