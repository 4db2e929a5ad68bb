"""A worker as a Ray actor: it plays units of work with the newest network received."""

import threading

from alphazero.workers.cluster.ray_connection import ray
from alphazero.workers.sent_code import code_version
from alphazero.workers.unit import Answer, Job, Unit, Weights, WorkerFacts
from alphazero.workers.unit_player import UnitPlayer


@ray.remote(concurrency_groups={"weights": 1})  # type: ignore[call-overload]
class WorkerActor:
    """Plays one unit of work at a time; a network that arrives meanwhile waits for the next unit.

    Args:
        name: the worker's name.
        num_threads: threads for self-play.
    """

    def __init__(self, name: str, num_threads: int):
        self._name = name
        self._num_threads = num_threads
        self._player: UnitPlayer | None = None
        self._newest: Weights | None = None  # network received since the last unit
        self._arrival = threading.Condition()

    def code_version(self) -> str:
        """Return this program's version; a job from another version may be unreadable."""
        return code_version()

    def begin(self, job: Job, weights: Weights) -> WorkerFacts:
        """Prepare to play with a first network; return this worker's host and threads."""
        self._player = UnitPlayer(job, self._num_threads, self._name)
        self._player.load(weights)
        return self._player.facts

    @ray.method(concurrency_group="weights")
    def load(self, weights: Weights) -> None:
        """Receive a network, to be used from the next unit of work on."""
        with self._arrival:
            if self._newest is None or weights.version > self._newest.version:
                self._newest = weights
            self._arrival.notify()

    def play(self, unit: Unit, version: int) -> Answer:
        """Play a unit of work and return its games.

        Args:
            version: wait for this network or a newer one, which may arrive after the unit, on
                another thread.
        """
        player = self._player
        assert player is not None
        with self._arrival:
            self._arrival.wait_for(lambda: self._newest_version(player) >= version)
            newest = self._newest
            self._newest = None
        if newest is not None and newest.version > player.version:
            player.load(newest)
        return player.play(unit)

    def _newest_version(self, player: UnitPlayer) -> int:
        return player.version if self._newest is None else self._newest.version
