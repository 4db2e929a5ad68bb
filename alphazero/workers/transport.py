"""How units reach workers and answers come back: the interface of processes and of Ray.

A transport makes workers, loses them and says so; none runs another version of this program than
the learner. It knows neither what a unit is for nor what becomes of one whose worker is gone:
`alphazero.workers.dispatcher` decides that.
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
    """A worker is gone; it will not answer any more."""

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
        """Give a unit to a worker, which plays its units one after the other."""
        ...

    def poll(self, timeout_s: float) -> list[Event]:
        """Return what has happened; wait at most ``timeout_s`` for something to happen."""
        ...

    def dismiss(self, worker: str) -> None:
        """End a worker, which may be replaced by another one. No `Left` follows."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...
