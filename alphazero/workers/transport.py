"""The interface that carries units of work to workers and their replies back, over pipes or Ray.

A transport starts workers with the learner's version of the program, and reports when one is lost.
It does not depend on games: `alphazero.workers.dispatcher` reassigns a lost worker's units.
"""

from typing import Protocol

from alphazero.workers.unit import Event, Unit, Weights


class Transport(Protocol):
    """Starts workers, sends them units of work (batches of games) and receives their replies.

    The name of a worker that has left is not used again.
    """

    how_to_join: str  #: a sentence for a user who is waiting for the first worker

    def publish(self, weights: Weights) -> None:
        """Send a network to all present and future workers, replacing the previous one.

        Args:
            weights: the network's version and weights.
        """

    def submit(self, name: str, unit: Unit) -> None:
        """Send a unit of work to a worker, which plays its units in the order it receives them."""

    def poll(self, timeout_s: float) -> list[Event]:
        """Return the events since the last call, waiting for the first one if there are none.

        Args:
            timeout_s: maximum seconds to wait; if nothing happens by then, the list is empty.
        """

    def dismiss(self, name: str) -> None:
        """Stop a worker; no `Left` event follows, and a new worker may replace it."""

    def close(self) -> None:
        """Stop all workers."""
