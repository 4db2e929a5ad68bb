"""Hand out batches of self-play games to workers, and collect the games that they return.

The workers run in other processes or on other machines; a `Transport` connects them. A batch of
games is called a unit of work. If a worker is lost, another one plays its units; repeated replies
are ignored, so each game counts once.

In free mode workers go on playing while the network learns, and games that are more than
`workers.max_staleness` networks old are dropped. A unit lasts about `workers.unit_s`, but at most a
quarter of the time in which all workers play an iteration's games. No more units are requested once
the finished and the requested games together make up one iteration.
"""

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator

import torch

from alphazero.inference.engines.agreement import PositionSample
from alphazero.network.weights import network_arrays
from alphazero.runtime.errors import InputError
from alphazero.selfplay.game_record import GameRecord, unflatten
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.source import GameSource, Played, WorkersTally
from alphazero.workers.transport import Transport
from alphazero.workers.unit import Answer, Joined, Left, SelfPlayWork, Unit, Weights, ordered_units
from alphazero.workers.worker_pool import MAX_UNITS, WorkerPool, WorkerState

_POLL_S = 0.5
_FIRST_GAMES = 16  # games in a worker's first unit, which measures its speed
_FIRST_TIMEOUT_S = 600.0  # kernels may have to be compiled first
_TIMEOUT_FACTOR = 10
_MAX_FAILURES = 5  # the run ends if this many workers are lost before the first reply


class Dispatcher(GameSource):
    """Hands out batches of self-play games to workers in other processes; see `GameSource`.

    The processes run on this machine or on others. Each batch is called a unit of work.

    Args:
        settings: the settings of the workers, such as ``max_staleness``.
        transport: starts the workers and carries messages to and from them.
        num_games: number of games in an iteration, until the trainer asks for another number.
        clock: returns the current time in seconds, from any starting point.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        transport: Transport,
        num_games: int,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.plays_on = settings.mode == "free"
        self._settings = settings
        self._transport = transport
        self._num_games = num_games
        self._clock = clock
        self._pool = WorkerPool(settings.max_staleness)
        self._version = 0
        self._unit_ids = itertools.count()  # in free mode
        self._progress = 0.0
        self._waiting: deque[Unit] = deque()  # units of work to send, those of lost workers first
        self._finished: dict[int, list[GameRecord]] = {}  # games that wait for the trainer, by unit
        self._num_failures = 0
        self._has_answered = False

    # --- the trainer's requests -------------------------------------------------------------------

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Send a new network to all workers; see `GameSource.update`."""
        self._version = version
        self._transport.publish(Weights(version, network_arrays(network), sample))

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """Yield finished games and notices as they arrive from workers; see `GameSource.play`."""
        self._progress = progress
        self._num_games = num_games
        if not self.plays_on:
            yield from self._play_ordered(num_games)
            return
        num_finished = 0
        while num_finished < num_games:
            records = list(itertools.chain.from_iterable(self._finished.values()))
            self._finished.clear()
            num_finished += len(records)
            yield Played(records, self._pool.take_notices())
            if num_finished < num_games:
                self._wait(_POLL_S)

    def _play_ordered(self, num_games: int) -> Iterator[Played]:
        """Send an iteration's units of work to the workers, and yield their games in order.

        Args:
            num_games: number of games in the iteration.
        """
        unit_games = self._settings.unit_games
        units = ordered_units(self._version, num_games, unit_games, self._progress)
        self._waiting = deque(units)  # any others are of an iteration that a time limit ended
        for unit in units:
            while unit.id not in self._finished:
                yield Played([], self._pool.take_notices())
                self._wait(_POLL_S)
            yield Played(self._finished.pop(unit.id), self._pool.take_notices())

    def poll(self) -> None:
        """Send units of work and receive games, without waiting, while the network learns."""
        self._wait(0.0)

    @property
    def work(self) -> SelfPlayWork:
        """Counts and timings of the self-play done by all workers so far."""
        return self._pool.work

    def tally(self) -> WorkersTally:
        """Return the number of workers, and counts since the last call."""
        return self._pool.take_tally()

    def close(self) -> None:
        """Stop all workers."""
        self._transport.close()

    # --- units ------------------------------------------------------------------------------------

    def _wait(self, timeout_s: float) -> None:
        """Send units of work, wait for events and handle them, and dismiss workers that hang.

        Args:
            timeout_s: maximum seconds to wait for the first event.
        """
        self._send_units()
        for event in self._transport.poll(timeout_s):
            if isinstance(event, Joined):
                self._pool.add(event, self._clock())
            elif isinstance(event, Left):
                self._lose(event.worker, event.reason)
            else:
                self._accept(event)
        self._dismiss_hanging()
        self._pool.remind(self._clock(), f"Waiting for workers. {self._transport.how_to_join}")
        self._send_units()

    def _send_units(self) -> None:
        """Send units of work until each worker holds two, or no more games are needed."""
        while (worker := self._pool.next_free()) and (unit := self._next_unit(worker)):
            if not worker.in_flight:
                worker.busy_since = self._clock()
            worker.in_flight[unit.id] = unit
            self._transport.submit(worker.name, unit)

    def _next_unit(self, worker: WorkerState) -> Unit | None:
        """Return the next unit of work for a worker; None if no more games are needed.

        Args:
            worker: the worker, whose speed determines the size of the unit in free mode.
        """
        if self._waiting:
            unit = self._waiting.popleft()
            if not self.plays_on:
                return unit
            # This worker may be slower than the one that was lost.
            return unit._replace(num_games=min(unit.num_games, self._unit_games(worker)))
        num_games = sum(map(len, self._finished.values())) + self._pool.num_in_flight
        if not self.plays_on or num_games >= self._num_games:
            return None
        return Unit(next(self._unit_ids), self._unit_games(worker), self._progress)

    def _unit_games(self, worker: WorkerState) -> int:
        """Return the number of games that a worker should play in its next unit of work.

        It is chosen by the worker's speed, so that the unit lasts `workers.unit_s` or a quarter of
        an iteration, whichever is shorter. Before the worker's first reply, it is at most 16.
        """
        quarter = self._num_games / (2 * MAX_UNITS)
        if not worker.games_per_s:
            fair_share = int(quarter / len(self._pool.workers))
            return max(1, min(fair_share, _FIRST_GAMES))
        seconds = min(self._settings.unit_s, quarter / self._pool.games_per_s)
        return max(1, int(worker.games_per_s * seconds))

    # --- replies and losses -----------------------------------------------------------------------

    def _lose(self, name: str, reason: str) -> None:
        """Remove a worker, and return its unfinished units of work to the queue.

        Args:
            name: the name of the worker, which has left or hangs.
            reason: why it was lost, as a clause.

        Raises:
            InputError: if no worker has replied and the number lost has reached five, or the number
                of connected workers if that is larger.
        """
        self._waiting.extendleft(reversed(self._pool.remove(name, reason)))
        self._num_failures += 1
        max_failures = max(_MAX_FAILURES, len(self._pool.workers))
        if not self._has_answered and self._num_failures >= max_failures:
            raise InputError(
                f"workers.kind={self._settings.kind}: {self._num_failures} workers were lost, and "
                f"none has played a game. The last one was lost because {reason}."
            )

    def _accept(self, answer: Answer) -> None:
        """Accept the games of a worker's reply if they are at most ``max_staleness`` networks old.

        A reply for a unit of work that the worker does not hold, such as a repeated one, is
        ignored.
        """
        worker = self._pool.workers.get(answer.worker)
        if worker is None or worker.in_flight.pop(answer.unit_id, None) is None:
            return
        worker.busy_since = self._clock()
        self._has_answered = True
        records = unflatten(answer.games)
        if self._pool.count(worker, answer, len(records), self._version - answer.version):
            self._finished[answer.unit_id] = records

    def _dismiss_hanging(self) -> None:
        """Dismiss workers that hold units of work but have not replied for too long.

        Raises:
            InputError: if too many workers are lost before the first reply (see `_lose`).
        """
        busy = [worker for worker in self._pool.workers.values() if worker.in_flight]
        for worker in busy:
            silent_s = self._clock() - worker.busy_since
            if silent_s > self._patience_s(worker):
                self._transport.dismiss(worker.name)
                reason = f"it was given up after {round(silent_s)} seconds without an answer"
                self._lose(worker.name, reason)

    def _patience_s(self, worker: WorkerState) -> float:
        """Return the number of seconds without a reply after which a busy worker counts as hanging.

        It is ``timeout_s`` if that setting is positive. Otherwise it is ten minutes before the
        worker's first reply; later it is ten times `workers.unit_s`, or ten times the expected
        duration of the worker's current unit of work if that is longer.
        """
        if self._settings.timeout_s:
            return self._settings.timeout_s
        if not worker.games_per_s:
            return _FIRST_TIMEOUT_S
        unit = next(iter(worker.in_flight.values()))
        return _TIMEOUT_FACTOR * max(unit.num_games / worker.games_per_s, self._settings.unit_s)
