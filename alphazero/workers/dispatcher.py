"""Hand out batches of self-play games to workers, and collect the games that they return.

The workers run in other processes or on other machines; a `Transport` connects them. A batch of
games is called a unit of work. If a worker is lost, another one plays its units; repeated replies
are ignored, so each game counts once.

In free mode workers go on playing while the network learns, and games that are more than
`workers.max_staleness` networks old are dropped. A unit lasts about `workers.unit_s`, but at most a
quarter of the time in which all workers play an iteration's games. No more units are requested once
the finished and the requested games together make up one iteration.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator

import torch

from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.engines.engine import EngineChoice
from alphazero.network.weights import network_arrays
from alphazero.runtime.console import counted
from alphazero.runtime.errors import InputError
from alphazero.selfplay.game_record import LENGTHS, GameRecord, unflatten
from alphazero.workers.roster import MAX_UNITS, Roster, WorkerState
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.source import GameSource, Played, WorkerReport
from alphazero.workers.transport import Event, Joined, Left, Transport
from alphazero.workers.unit import (
    UNITS_OF_A_VERSION,
    Answer,
    Job,
    SelfPlayWork,
    Unit,
    Weights,
    ordered_units,
)

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
        job: the run's game, settings and seed, which every worker receives when it starts.
        clock: returns the current time in seconds, from any starting point.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        transport: Transport,
        job: Job,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.plays_on = settings.mode == "free"
        self._settings = settings
        self._transport = transport
        self._job = job
        self._num_games = job.selfplay.games_per_iteration  # for which the trainer has asked last
        self._engine: EngineChoice | None = None  # in free mode, each worker chooses its own
        if not self.plays_on:
            self._engine = EngineChoice(job.evaluator.engine, job.evaluator.precision)
        self._clock = clock
        self._roster = Roster(settings.max_staleness)
        self._version = 0
        self._next_index = 0  # number of units made for this version
        self._progress = 0.0
        self._waiting: deque[Unit] = deque()  # units of work to send, those of lost workers first
        self._finished: dict[int, list[GameRecord]] = {}  # games that wait for the trainer, by unit
        self._num_failures = 0
        self._has_answered = False

    # --- the trainer's requests -------------------------------------------------------------------

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """Send a new network to all workers; see `GameSource.update`."""
        self._version = version
        self._next_index = 0
        arrays = network_arrays(network)
        self._transport.publish(Weights(version, arrays, sample, self._engine))

    def play(self, num_games: int, progress: float) -> Iterator[Played]:
        """Yield finished games and notices as they arrive from workers; see `GameSource.play`."""
        self._progress = progress
        self._num_games = num_games
        if not self.plays_on:
            yield from self._play_ordered(num_games)
            return
        num_finished = 0
        while num_finished < num_games:
            records = [record for unit in self._finished.values() for record in unit]
            self._finished.clear()
            num_finished += len(records)
            yield Played(records, self._roster.take_notices())
            if num_finished < num_games:
                self._wait(_POLL_S)

    def _play_ordered(self, num_games: int) -> Iterator[Played]:
        """Send an iteration's units of work to the workers, and yield their games in order.

        Args:
            num_games: number of games in the iteration.
        """
        settings = self._settings
        units = ordered_units(self._version, num_games, settings.unit_games, self._progress)
        self._waiting = deque(units)  # any others are of an iteration that a time limit ended
        for unit in units:
            while unit.id not in self._finished:
                yield Played([], self._roster.take_notices())
                self._wait(_POLL_S)
            records = self._finished.pop(unit.id)
            yield Played(records, self._roster.take_notices())

    def tend(self) -> None:
        """Send units of work and receive games, without waiting, while the network learns."""
        self._wait(0.0)

    @property
    def work(self) -> SelfPlayWork:
        """Counts and timings of the self-play done by all workers so far."""
        return self._roster.work

    def worker_reports(self) -> list[WorkerReport]:
        """Return a report on each worker's games since the last call; see `WorkerReport`."""
        return self._roster.reports()

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
            self._handle(event)
        self._dismiss_hanging()
        self._roster.remind(self._clock(), f"Waiting for workers. {self._transport.how_to_join}")
        self._send_units()

    def _send_units(self) -> None:
        """Send units of work until each worker holds two, or no more games are needed."""
        num_finished = sum(map(len, self._finished.values()))
        worker = self._roster.next_free()
        while worker is not None:
            unit = self._next_unit(worker, num_finished)
            if unit is None:
                return
            if not worker.in_flight:
                worker.busy_since = self._clock()
            worker.in_flight[unit.id] = unit
            self._transport.submit(worker.name, unit)
            worker = self._roster.next_free()

    def _next_unit(self, worker: WorkerState, num_finished: int) -> Unit | None:
        """Return the next unit of work for a worker; None if no more games are needed.

        Args:
            worker: the worker, whose speed determines the size of the unit in free mode.
            num_finished: number of finished games that the trainer has not taken yet.
        """
        if self._waiting:
            unit = self._waiting.popleft()
            if self.plays_on:  # this worker may be slower than the one that was lost
                num_games = min(unit.num_games, self._unit_games(worker))
                unit = unit._replace(num_games=num_games)
            return unit
        num_games = num_finished + self._roster.num_in_flight
        if not self.plays_on or num_games >= self._num_games:
            return None
        self._next_index += 1
        unit_id = self._version * UNITS_OF_A_VERSION + self._next_index
        return Unit(unit_id, self._unit_games(worker), self._progress)

    def _unit_games(self, worker: WorkerState) -> int:
        """Return the number of games that a worker should play in its next unit of work.

        It is chosen by the worker's speed, so that the unit lasts `workers.unit_s` or a quarter of
        an iteration, whichever is shorter. Before the worker's first reply, it is at most 16.
        """
        quarter = self._num_games / (2 * MAX_UNITS)
        if not worker.games_per_s:
            fair_share = int(quarter / len(self._roster.workers))
            return max(1, min(fair_share, _FIRST_GAMES))
        seconds = min(self._settings.unit_s, quarter / self._roster.games_per_s)
        return max(1, int(worker.games_per_s * seconds))

    def _remove(self, worker: WorkerState, reason: str) -> None:
        """Remove a worker, return its unfinished units of work to the queue, and notify the user.

        Args:
            worker: the worker that has left or hangs.
            reason: a clause that follows the worker's name in the notice.
        """
        unfinished = self._roster.remove(worker)
        self._waiting.extendleft(reversed(unfinished))
        notice = f"Worker {worker.name} {reason}."
        if unfinished:
            goes = "goes" if len(unfinished) == 1 else "go"
            notice += f" {counted(len(unfinished), 'unit')} of work {goes} to another worker."
        self._roster.notices.append(notice)

    # --- events -----------------------------------------------------------------------------------

    def _handle(self, event: Event) -> None:
        if isinstance(event, Joined):
            self._roster.add(event.worker, event.facts, self._clock())
        elif isinstance(event, Left):
            self._lose(event)
        elif event.worker in self._roster.workers:
            self._accept(self._roster.workers[event.worker], event.answer)

    def _lose(self, event: Left) -> None:
        """Remove a worker that has left, notify the user, and count the failure.

        Raises:
            InputError: if too many workers are lost before the first reply (see `_count_failure`).
        """
        worker = self._roster.workers.get(event.worker)
        if worker is None:  # it had not joined yet
            self._roster.notices.append(f"Worker {event.worker} is gone: {event.reason}.")
        else:
            self._remove(worker, f"is gone: {event.reason}")
        self._count_failure(event.reason)

    def _count_failure(self, reason: str) -> None:
        """Count a lost worker, and end the run if many are lost before the first reply.

        Args:
            reason: why the worker was lost, as a clause.

        Raises:
            InputError: if no worker has replied and the number lost has reached five, or the number
                of connected workers if that is larger.
        """
        self._num_failures += 1
        max_failures = max(_MAX_FAILURES, len(self._roster.workers))
        if self._has_answered or self._num_failures < max_failures:
            return
        raise InputError(
            f"workers.kind={self._settings.kind}: {self._num_failures} workers were lost, and none "
            f"has played a game. The last one was lost because {reason}."
        )

    def _accept(self, worker: WorkerState, answer: Answer) -> None:
        """Accept the games of a worker's reply if they are at most ``max_staleness`` networks old.

        A reply for a unit of work that the worker does not hold, such as a repeated one, is
        ignored.
        """
        unit = worker.in_flight.pop(answer.unit_id, None)
        if unit is None:
            return  # a repeated reply
        worker.busy_since = self._clock()
        self._has_answered = True
        staleness = self._version - answer.version
        num_games = len(answer.games[LENGTHS])
        if self._roster.count(worker, num_games, answer.work, answer.seconds, staleness):
            self._finished[unit.id] = unflatten(answer.games)

    def _dismiss_hanging(self) -> None:
        """Dismiss workers without a reply for ``timeout_s`` seconds, or `_patience_s` if that is 0.

        Raises:
            InputError: if too many workers are lost before the first reply (see `_count_failure`).
        """
        now = self._clock()
        for worker in list(self._roster.workers.values()):
            limit_s = self._settings.timeout_s or self._patience_s(worker)
            silent_s = now - worker.busy_since
            if worker.in_flight and silent_s > limit_s:
                reason = f"no answer for {round(silent_s)} seconds"
                self._transport.dismiss(worker.name)
                self._remove(worker, f"is given up: {reason}")
                self._count_failure(f"it gave {reason}")

    def _patience_s(self, worker: WorkerState) -> float:
        """Return the number of seconds without a reply after which a worker counts as hanging.

        It is ten minutes before the worker's first reply. Later it is ten times `workers.unit_s`,
        or ten times the expected duration of the worker's current unit of work if that is longer.
        A positive setting ``timeout_s`` overrides it.
        """
        if not worker.games_per_s:
            return _FIRST_TIMEOUT_S
        first = next(iter(worker.in_flight.values()), None)
        expected_s = 0.0 if first is None else first.num_games / worker.games_per_s
        return _TIMEOUT_FACTOR * max(expected_s, self._settings.unit_s)
