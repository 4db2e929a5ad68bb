"""The transport of units to workers and of answers back: the interface of processes and Ray.

A transport starts workers of the learner's version, and reports when one is lost. It does not
depend on games: `alphazero.workers.dispatcher` decides who plays a lost worker's units.
"""

from typing import NamedTuple, Protocol

from alphazero.workers.unit import Answer, Unit, Weights, WorkerFacts


class Joined(NamedTuple):
    """A worker is ready."""

    worker: str
    facts: WorkerFacts


class Answered(NamedTuple):
    """A worker has finished a unit."""

    worker: str
    answer: Answer


class Left(NamedTuple):
    """A worker has left; no more answers follow."""

    worker: str
    reason: str  #: a clause such as "its process was killed"


Event = Joined | Answered | Left


class Transport(Protocol):
    """Carries units to workers. A worker's name is never used again once the worker has left."""

    how_to_join: str  #: a sentence for a user who waits for the first worker

    def publish(self, weights: Weights) -> None:
        """Send a network to all present and future workers; it replaces the previous one."""
        ...

    def submit(self, worker: str, unit: Unit) -> None:
        """Send a unit to a worker; a worker plays its units in order."""
        ...

    def poll(self, timeout_s: float) -> list[Event]:
        """Return the events since the last call; wait at most ``timeout_s`` for the first."""
        ...

    def dismiss(self, worker: str) -> None:
        """End a worker; another one may replace it. No `Left` follows."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...
