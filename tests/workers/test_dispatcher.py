"""The dispatcher of units: every unit counts once, whatever workers do."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from alphazero.inference.evaluator import UniformEvaluator
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import InputError
from alphazero.search.settings import SearchSettings
from alphazero.selfplay.game_record import flatten
from alphazero.selfplay.lockstep import SelfPlay
from alphazero.selfplay.settings import SelfPlaySettings
from alphazero.workers import dispatcher as dispatching
from alphazero.workers.dispatcher import Dispatcher
from alphazero.workers.settings import WorkerSettings
from alphazero.workers.unit import NO_WORK, Answer, Joined, Left

GAME = make_game("tic_tac_toe")
NETWORK = SimpleNamespace(state_dict=dict)  # without weights


@pytest.fixture(scope="module")
def records():
    """Return finished games of tic-tac-toe."""
    settings = SelfPlaySettings(num_parallel_games=16, num_simulations=8, num_sampled_plies=9)
    generator = np.random.default_rng(0)
    evaluator = UniformEvaluator(GAME.num_actions)
    selfplay = SelfPlay(GAME, evaluator, settings, SearchSettings(), generator)
    return list(selfplay.play(40))


class FakeTransport:
    """Keeps what was asked of it; events are those that the test put into `events`."""

    how_to_join = "How workers join."

    def __init__(self):
        self.published, self.submitted, self.dismissed, self.events = [], [], [], []

    def publish(self, weights):
        self.published.append(weights.version)

    def submit(self, worker, unit):
        self.submitted.append((worker, unit))

    def poll(self, timeout_s):
        events, self.events = self.events, []
        return events

    def dismiss(self, worker):
        self.dismissed.append(worker)

    def close(self):
        pass


class Room:
    """A dispatcher, its transport and its clock."""

    def __init__(self, records, games_per_iteration=64, **settings):
        self.records = records
        self.now = 0.0
        self.transport = FakeTransport()
        self.hands: dict[str, list] = {}  # units by worker that is there
        self.notices: list[str] = []
        self.games_per_iteration = games_per_iteration
        self.dispatcher = Dispatcher(
            WorkerSettings(kind="processes", **settings),
            self.transport,
            games_per_iteration,
            lambda: self.now,
        )
        self.update(0)

    def update(self, version):
        self.dispatcher.update(version, NETWORK, None)

    def join(self, *names):
        self.happens(*(Joined(name, "host", 2) for name in names))

    def answer(self, worker, unit, seconds=1.0, version=None, num_games=None):
        """Return an answer with games that tell which unit they were played for."""
        version = self.dispatcher._version if version is None else version
        num_games = num_games or unit.num_games
        games = flatten([self.records[(unit.id + i) % 40] for i in range(num_games)])
        return Answer(worker, unit.id, version, games, NO_WORK, seconds)

    def happens(self, *events):
        """Let the dispatcher handle events; note what it gives out."""
        self.transport.events += events
        self.dispatcher.poll()
        self.note()

    def note(self):
        """Take what was submitted, dismissed and said."""
        present = set(self.dispatcher._pool.workers)
        self.hands = {name: self.hands.get(name, []) for name in present}
        for name, unit in self.transport.submitted:
            if name in present:
                self.hands[name].append(unit)
        self.transport.submitted.clear()
        self.notices += self.dispatcher._pool.take_notices()

    def finish(self, worker, **changed):
        """Let a worker answer the first unit in its hands; return the unit."""
        unit = self.hands[worker].pop(0)
        self.happens(self.answer(worker, unit, **changed))
        return unit

    def take(self):
        """Return the games that wait."""
        return next(self.dispatcher.play(self.games_per_iteration, 0.0)).records


# --- each unit once -------------------------------------------------------------------------------


def test_the_units_of_a_dead_worker_are_first_in_line(records):
    room = Room(records)
    room.join("a")
    lost = list(room.hands["a"])
    room.happens(Left("a", "its power failed"))
    assert any("its power failed" in notice for notice in room.notices)
    room.join("b")
    assert len(lost) == 2 and [unit.id for unit in room.hands["b"]] == [unit.id for unit in lost]


def test_an_answer_that_comes_twice_counts_once(records):
    room = Room(records)
    room.join("a")
    unit = room.hands["a"].pop(0)
    room.happens(room.answer("a", unit), room.answer("a", unit))
    room.happens(room.answer("a", unit))
    assert len(room.take()) == room.dispatcher.tally().num_games == unit.num_games


def test_an_answer_of_a_worker_that_was_given_up_does_not_count(records):
    room = Room(records, timeout_s=5.0)
    room.join("a")
    unit = room.hands["a"][0]
    room.now = 6.0
    room.happens()
    room.happens(room.answer("a", unit))
    assert not room.take() and room.dispatcher.work == NO_WORK


@pytest.mark.slow
@hypothesis_settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("join answer last twice die stranger late wait".split()),
            st.integers(0, 9),
        ),
        max_size=60,
    ),
    st.integers(1, 5),
)
def test_every_unit_is_yielded_once_and_in_order_whatever_happens(records, schedule, unit_games):
    room = Room(records, mode="ordered", unit_games=unit_games, timeout_s=50.0)
    num_games, num_joined, lost = 23, 0, []
    found = []

    def workers():
        return sorted(room.hands)

    def act(kind, which):
        nonlocal num_joined
        name = workers()[which % len(workers())] if room.hands else None
        units = room.hands.get(name, [])
        if kind == "join" or name is None:
            num_joined += 1
            room.join(f"w{num_joined}")
        elif kind == "die":
            lost.extend((name, unit) for unit in units)
            room.happens(Left(name, "it died"))
        elif kind == "stranger":
            room.happens(Answer("nobody", 0, 0, {}, NO_WORK, 1.0), Left("nobody", "it never came"))
        elif kind == "late" and lost:
            room.happens(room.answer(*lost[which % len(lost)]))
        elif kind == "wait":
            room.now += 6.0 * which
            room.happens()
        elif units:
            unit = units.pop(-1 if kind == "last" else 0)
            answer = room.answer(name, unit)
            room.happens(answer, *[answer] * (kind == "twice"))

    for version in (0, 1):
        room.update(version)
        room.dispatcher._has_answered = True  # however many die
        games = []
        # When the schedule has ended, all answer in turn.
        actions = itertools.chain(schedule, (("answer", turn) for turn in range(1000)))
        for played in room.dispatcher.play(num_games, 0.0):
            games += played.records
            room.note()
            act(*next(actions))
        found.append(games)
    for version, games in enumerate(found):
        first = version << 20
        sizes = [min(unit_games, num_games - at) for at in range(0, num_games, unit_games)]
        expected = [
            records[(first + index + i) % 40] for index, n in enumerate(sizes) for i in range(n)
        ]
        assert len(games) == num_games
        assert all(a.actions.tolist() == b.actions.tolist() for a, b in zip(games, expected))
    assert not room.dispatcher._pool.num_in_flight and not room.dispatcher._finished


# --- who works ------------------------------------------------------------------------------------


def test_workers_that_hang_are_given_up_after_the_timeout(records):
    room = Room(records, timeout_s=7.0)
    room.join("a", "b")
    lost = {unit.id for unit in room.hands["a"]}
    room.now = 6.0
    room.finish("b")
    assert not room.transport.dismissed
    room.now = 8.0
    room.happens()
    assert room.transport.dismissed == ["a"]  # b answered two seconds ago
    tally = room.dispatcher.tally()
    assert (tally.num_workers, tally.num_lost) == (1, 1) and list(room.hands) == ["b"]
    assert lost <= {room.finish("b").id for _ in range(4)}


# --- when all fails -------------------------------------------------------------------------------


def fail(room, number, how):
    """Let a worker join and fail."""
    if how == "never comes":
        return room.happens(Left(f"w{number}", "it cannot start"))
    room.join(f"w{number}")
    if how == "dies":
        room.happens(Left(f"w{number}", "it died"))
    elif how == "hangs":
        room.now += 1000.0
        room.happens()


@pytest.mark.parametrize("how", ("never comes", "dies", "hangs"))
def test_a_run_ends_when_five_workers_fail_and_none_has_answered(records, how):
    room = Room(records)
    for number in range(dispatching._MAX_FAILURES - 1):
        fail(room, number, how)
    with pytest.raises(InputError) as ended:
        fail(room, "last", how)
    assert "processes" in str(ended.value) and str(dispatching._MAX_FAILURES) in str(ended.value)


def test_a_run_goes_on_when_the_only_worker_that_answered_is_lost(records):
    room = Room(records)
    room.join("a")
    room.finish("a")
    room.happens(Left("a", "it died"))
    for number in range(20):
        fail(room, number, "dies")
    assert len(room.notices) > 20


# --- free mode ------------------------------------------------------------------------------------


def test_stale_games_are_dropped_and_counted(records):
    room = Room(records, games_per_iteration=40, max_staleness=1)
    room.join("a")
    room.finish("a")
    room.take()
    room.update(2)
    room.dispatcher.tally()
    stale = room.finish("a", version=0)
    assert not room.take()
    tally = room.dispatcher.tally()
    assert tally.num_stale_games == stale.num_games and tally.num_workers == 1
    room.finish("a", version=1)
    tally = room.dispatcher.tally()
    assert room.take() and tally.total_staleness == tally.num_games > 0


def speeds(room, **games_per_s):
    """Let workers join and show how fast they are."""
    room.join(*games_per_s)
    for name, speed in games_per_s.items():
        for _ in range(2):
            unit = room.hands[name][0]
            room.take()
            room.finish(name, seconds=unit.num_games / speed)
    room.take()
    for name, speed in games_per_s.items():
        for _ in range(2):
            unit = room.hands[name][0]
            room.finish(name, seconds=unit.num_games / speed)
            room.take()
    return {name: room.hands[name][-1].num_games for name in games_per_s}


def test_units_last_as_long_as_they_should(records):
    sizes = speeds(Room(records, games_per_iteration=10_000, unit_s=3.0), slow=2.0, fast=20.0)
    assert sizes == {"slow": 6, "fast": 60}


def test_a_unit_of_a_fast_worker_becomes_small_in_the_hands_of_a_slow_one(records):
    room = Room(records, games_per_iteration=10_000, unit_s=3.0)
    speeds(room, slow=2.0, fast=20.0)
    lost = {unit.id for unit in room.hands["fast"]}
    room.happens(Left("fast", "it died"))
    got = [room.finish("slow", seconds=3.0) for _ in range(4)]
    again = [unit for unit in got if unit.id in lost]
    assert len(again) == 2 and all(unit.num_games <= 6 for unit in again)


@pytest.mark.parametrize("num_workers", (1, 7, 100))
def test_no_more_games_than_an_iteration_has_wait_or_are_asked_for(records, num_workers):
    room = Room(records, games_per_iteration=60)
    room.join(*(f"w{number}" for number in range(num_workers)))
    largest = 0
    for _ in range(300):  # the learner learns for a long time
        for name in sorted(room.hands):
            if room.hands[name]:
                room.finish(name, seconds=1.0)
        waiting = sum(map(len, room.dispatcher._finished.values()))
        flying = sum(unit.num_games for units in room.hands.values() for unit in units)
        assert flying == room.dispatcher._pool.num_in_flight
        largest = max(largest, waiting + flying)
        if not flying:
            break
    assert not flying and 60 <= waiting <= largest < 60 + 16
    assert len(room.take()) == waiting
    room.happens()
    assert any(room.hands.values())
