"""The interface that carries units of work to workers and replies back, over pipes or Ray.

A transport starts workers with the learner's version of the program, and reports when one is lost.
It does not depend on games: `alphazero.workers.dispatcher` reassigns a lost worker's units.
"""

from typing import NamedTuple, Protocol

from alphazero.workers.unit import Answer, Unit, Weights, WorkerFacts


class Joined(NamedTuple):
    """An event: a worker has joined and is ready to play."""

    worker: str
    facts: WorkerFacts


class Answered(NamedTuple):
    """An event: a worker has finished a unit of work."""

    worker: str
    answer: Answer


class Left(NamedTuple):
    """An event: a worker has left and will send no more replies."""

    worker: str
    reason: str  #: a clause such as "its process was killed"


Event = Joined | Answered | Left


class Transport(Protocol):
    """Carries units of work to workers. The name of a worker that has left is not used again."""

    how_to_join: str  #: a sentence for a user who is waiting for the first worker

    def publish(self, weights: Weights) -> None:
        """Send a network to all present and future workers, to replace the previous one."""
        ...

    def submit(self, worker: str, unit: Unit) -> None:
        """Send a unit of work to a worker, which plays its units in order."""
        ...

    def poll(self, timeout_s: float) -> list[Event]:
        """Return the events since the last call; wait up to ``timeout_s`` for a first one."""
        ...

    def dismiss(self, worker: str) -> None:
        """End a worker; no `Left` event follows, and another worker may replace it."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...
