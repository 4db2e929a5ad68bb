"""Games played by workers elsewhere: who plays which unit, and what becomes of its answer.

In: a `Transport`, and the trainer's requests. Out: games, each counted once, and sentences about
what happens to the workers. A unit whose worker is gone is given out again; an answer that comes
twice, or that fails `alphazero.workers.answer_check`, does not count.

In free mode workers play on while the network learns, and games that are more than
`workers.max_staleness` networks old are dropped. Units last about `workers.unit_s`, and less than
half an iteration; those of a worker that lags behind become smaller.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator

import torch

from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.engines.engine import EngineChoice
from alphazero.network.weights import network_arrays
from alphazero.runtime.errors import InputError
from alphazero.runtime.wording import counted
from alphazero.selfplay.flat_games import LENGTHS, unflatten
from alphazero.selfplay.game_record import GameRecord
from alphazero.workers.answer_check import AnswerError, check_games
from alphazero.workers.ordered import UNITS_OF_A_VERSION, ordered_units
from alphazero.workers.roster import Roster, WorkerState
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.source import Played, WorkerReport
from alphazero.workers.transport import Event, Joined, Left, Notice, Transport
from alphazero.workers.unit import Answer, Unit, Weights
from alphazero.workers.work import NO_WORK, SelfPlayWork

_POLL_S = 0.5
_MOST_UNITS = 2  # in a worker's hands: one that it plays and the next one
_FIRST_GAMES = 16  # of a worker's first unit, from which its speed is known
_FIRST_TIMEOUT_S = 600.0  # kernels may have to be compiled first
_TIMEOUT_FACTOR = 10
_PATIENCE_S = 20.0  # without any worker, before the user is told how one joins
_MOST_FAILURES = 5  # workers in a row that leave without an answer, before the run gives up


class Dispatcher:
    """A `GameSource` that gives units to workers.

    Args:
        settings: of the workers.
        game: checks the answers.
        transport: to the workers.
        games_per_iteration: no unit of free mode is larger.
        may_be_adjudicated: see `alphazero.workers.answer_check.check_games`.
        engine: that all workers must use; None lets each choose its own.
        code_version: of this program.
        clock: returns seconds.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        game: Game,
        transport: Transport,
        games_per_iteration: int,
        may_be_adjudicated: bool,
        engine: EngineChoice | None,
        code_version: str,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.plays_on = settings.mode == "free"
        self._settings = settings
        self._game = game
        self._transport = transport
        self._games_per_iteration = games_per_iteration
        self._may_be_adjudicated = may_be_adjudicated
        self._engine = engine
        self._code_version = code_version
        self._clock = clock
        self._roster = Roster()
        self._work = NO_WORK
        self._version = 0
        self._next_index = 0  # of the units of this version
        self._run_fraction = 0.0
        self._waiting: deque[Unit] = deque()  # to be given out, those of lost workers first
        self._outstanding: set[int] = set()  # ids of units that are waiting or in a worker's hands
        self._finished: dict[int, list[GameRecord]] = {}  # games by unit that wait for their turn
        self._notices: list[str] = []
        self._updated_at: float | None = None
        self._iteration_s = math.inf  # the time between the last two networks
        self._alone_since: float | None = None
        self._num_failures = 0

    # --- what the trainer asks for ----------------------------------------------------------------

    def update(self, version: int, network: torch.nn.Module, sample: PositionSample) -> None:
        """See `GameSource.update`."""
        now = self._clock()
        if self._updated_at is not None:
            self._iteration_s = now - self._updated_at
        self._updated_at = now
        self._version, self._next_index = version, 0
        self._transport.publish(Weights(version, network_arrays(network), sample, self._engine))

    def play(self, num_games: int, run_fraction: float) -> Iterator[Played]:
        """See `GameSource.play`."""
        self._run_fraction = run_fraction
        if not self.plays_on:
            yield from self._play_ordered(num_games)
            return
        num_finished = 0
        while num_finished < num_games:
            records = [record for unit in self._finished.values() for record in unit]
            self._finished.clear()
            num_finished += len(records)
            yield Played(records, self._take_notices())
            if num_finished < num_games:
                self._wait(_POLL_S)

    def _play_ordered(self, num_games: int) -> Iterator[Played]:
        """Give out the units of this iteration; yield their games in the order of the units."""
        settings = self._settings
        units = ordered_units(self._version, num_games, settings.unit_games, self._run_fraction)
        self._waiting.extend(units)
        self._outstanding = {unit.id for unit in units}
        for unit in units:
            while unit.id not in self._finished:
                yield Played([], self._take_notices())
                self._wait(_POLL_S)
            yield Played(self._finished.pop(unit.id), self._take_notices())

    def tend(self) -> None:
        """See `GameSource.tend`."""
        self._wait(0.0)

    @property
    def work(self) -> SelfPlayWork:
        """See `GameSource.work`."""
        return self._work

    def worker_reports(self) -> list[WorkerReport]:
        """See `GameSource.worker_reports`."""
        return self._roster.reports()

    def state_dict(self) -> dict:
        """Return {}: units that are under way are played again after a resume."""
        return {}

    def load_state_dict(self, state: dict) -> None:
        """Do nothing: games in progress on threads of an earlier process are lost."""

    def stored(self) -> None:
        """Do nothing: nothing waits for it."""

    def close(self) -> None:
        """See `GameSource.close`."""
        self._transport.close()

    # --- units ------------------------------------------------------------------------------------

    def _wait(self, timeout_s: float) -> None:
        """Give out units, handle what has happened, and look after workers that hang."""
        self._give_out()
        for event in self._transport.poll(timeout_s):
            self._handle(event)
        self._give_up_hanging()
        self._note_loneliness()
        self._give_out()

    def _give_out(self) -> None:
        """Let every worker have units to play."""
        for worker in self._roster.present():
            while len(worker.flights) < _MOST_UNITS:
                unit = self._waiting.popleft() if self._waiting else self._new_unit(worker)
                if unit is None:
                    return
                self._outstanding.add(unit.id)
                worker.give(unit, self._clock())
                self._transport.submit(worker.name, unit)

    def _new_unit(self, worker: WorkerState) -> Unit | None:
        """Return a unit of free mode for a worker; None if there are games enough."""
        num_waiting = sum(map(len, self._finished.values()))
        if not self.plays_on or num_waiting >= self._games_per_iteration:
            return None
        self._next_index += 1
        unit_id = self._version * UNITS_OF_A_VERSION + self._next_index
        return Unit(unit_id, self._unit_games(worker), self._run_fraction)

    def _unit_games(self, worker: WorkerState) -> int:
        """Return the number of games that last as long as a unit should."""
        largest = self._games_per_iteration
        if not worker.games_per_s:
            return min(largest, _FIRST_GAMES)
        seconds = min(self._settings.unit_s, self._iteration_s / (2 * _MOST_UNITS))
        return int(min(max(worker.games_per_s * seconds * worker.unit_scale, 1), largest))

    def _part_with(self, worker: WorkerState, reason: str) -> None:
        """Let a worker go, and give its units to others.

        Args:
            reason: what follows its name in a sentence.
        """
        self._roster.remove(worker)
        units = [flight.unit for flight in worker.flights.values()]
        worker.flights.clear()
        self._waiting.extendleft(reversed(units))
        goes = "goes" if len(units) == 1 else "go"
        again = f" {counted(len(units), 'unit')} of work {goes} to another worker." if units else ""
        self._notices.append(f"Worker {worker.name} {reason}.{again}")

    # --- events -----------------------------------------------------------------------------------

    def _handle(self, event: Event) -> None:
        if isinstance(event, Notice):
            self._notices.append(event.text)
        elif isinstance(event, Joined):
            self._join(event)
        elif isinstance(event, Left):
            self._lose(event)
        elif (worker := self._roster.get(event.worker)) is not None:
            self._take(worker, event.answer)

    def _join(self, event: Joined) -> None:
        """Accept a worker, unless it runs another version of this program."""
        facts = event.facts
        if facts.code_version != self._code_version:
            self._transport.dismiss(event.worker, for_good=True)
            self._notices.append(
                f"Worker {event.worker} on {facts.host} is refused: it runs version "
                f"{facts.code_version} of this program, and the learner {self._code_version}. "
                "Install the same version there."
            )
            return
        self._alone_since = None
        self._roster.add(event.worker, facts, self._clock())
        self._notices.append(
            f"Worker {event.worker} has joined: {counted(facts.num_threads, 'thread')} on "
            f"{facts.host}."
        )

    def _lose(self, event: Left) -> None:
        """Note that a worker is gone; end the run if none of them ever answers."""
        reason, worker = event.reason, self._roster.get(event.worker)
        if worker is None:  # it had not joined yet
            self._notices.append(f"Worker {event.worker} is gone: {reason}.")
        else:
            self._part_with(worker, f"is gone: {reason}")
        self._num_failures += 1
        if self._num_failures >= _MOST_FAILURES and not self._roster.has_answered():
            raise InputError(
                f"workers.kind={self._settings.kind}: {self._num_failures} workers were lost, and "
                f"none has played a game. The last one was lost because {reason}."
            )

    def _take(self, worker: WorkerState, answer: Answer) -> None:
        """Count the games of an answer, if they are right, new and fresh enough."""
        unit = worker.take(answer, self._clock())
        if unit is None or answer.unit_id not in self._outstanding:
            return  # it came twice
        try:
            self._check(answer, unit)
        except AnswerError as error:
            self._transport.dismiss(worker.name)
            worker.give(unit, self._clock())
            self._part_with(worker, f"is dismissed: {error}")
            return
        self._outstanding.discard(answer.unit_id)
        self._work = self._work.plus(answer.work)
        self._num_failures = 0
        staleness = self._version - answer.version
        num_games = len(answer.games[LENGTHS])
        is_stale = staleness > self._settings.max_staleness
        worker.count(num_games, answer.seconds, staleness, is_stale)
        if not is_stale:
            self._finished[answer.unit_id] = unflatten(answer.games)

    def _check(self, answer: Answer, unit: Unit) -> None:
        """Raise `AnswerError` unless an answer is one to its unit."""
        try:
            check_games(answer.games, self._game, self._may_be_adjudicated)
            num_games = len(answer.games[LENGTHS])
            figures = SelfPlayWork._make(float(count) for count in answer.work)
            if not all(math.isfinite(figure) for figure in (*figures, answer.seconds)):
                raise AnswerError("its work is not all finite numbers")
        except AnswerError:
            raise
        except Exception as error:  # an answer may be anything
            raise AnswerError(f"it answers what is no answer ({error})") from None
        if num_games < unit.num_games or not self.plays_on and num_games > unit.num_games:
            raise AnswerError(
                f"it was asked for {counted(unit.num_games, 'game')} and answers with {num_games}"
            )
        if not 0 <= answer.version <= self._version:
            raise AnswerError(f"it claims to play with network {answer.version}")
        if not self.plays_on and answer.version != self._version:
            raise AnswerError(f"it plays with network {answer.version}, not {self._version}")

    def _give_up_hanging(self) -> None:
        """Dismiss workers that take far too long."""
        now = self._clock()
        for worker in self._roster.present():
            limit_s = self._settings.timeout_s or self._patience_s(worker)
            if worker.flights and now - worker.busy_since > limit_s:
                seconds = round(now - worker.busy_since)
                self._transport.dismiss(worker.name)
                self._part_with(worker, f"is given up: no answer for {seconds} seconds")

    def _patience_s(self, worker: WorkerState) -> float:
        """Return the seconds after which a worker is believed to hang."""
        if not worker.games_per_s:
            return _FIRST_TIMEOUT_S
        first = next(iter(worker.flights.values()), None)
        expected_s = 0.0 if first is None else first.unit.num_games / worker.games_per_s
        return _TIMEOUT_FACTOR * max(expected_s, self._settings.unit_s)

    def _note_loneliness(self) -> None:
        """Tell the user how workers join if there is none for a while."""
        if self._roster.present():
            self._alone_since = None
            return
        now = self._clock()
        if self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > _PATIENCE_S:
            self._alone_since = math.inf  # said once
            self._notices.append(f"Waiting for workers. {self._transport.how_to_join}")

    def _take_notices(self) -> list[str]:
        notices, self._notices = self._notices, []
        return notices
