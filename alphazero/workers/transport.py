"""How units reach workers and answers come back: the interface of processes and of Ray.

A transport starts workers of the learner's own version, and reports when one is lost. It knows
nothing of games: `alphazero.workers.dispatcher` decides who plays a lost worker's units.
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


class Notice(NamedTuple):
    """Something that the user should know."""

    text: str  #: a sentence


Event = Joined | Answered | Left | Notice


class Transport(Protocol):
    """Carries units to workers. A worker's name is never used again once the worker has left."""

    how_to_join: str  #: a sentence for the user who waits for the first worker

    def publish(self, weights: Weights) -> None:
        """Send a network to all workers, present and future; it replaces the one before."""
        ...

    def submit(self, worker: str, unit: Unit) -> None:
        """Send a unit to a worker, which plays its units in order."""
        ...

    def poll(self, timeout_s: float) -> list[Event]:
        """Return what has happened; wait at most ``timeout_s`` for something to happen."""
        ...

    def dismiss(self, worker: str) -> None:
        """End a worker; another one may replace it. No `Left` follows."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...
