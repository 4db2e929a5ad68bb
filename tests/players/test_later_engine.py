"""An engine that takes over: never within a search, and with the answers of one measured first."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from alphazero.cli import play
from alphazero.inference import fastest_engine, measurements
from alphazero.inference.engines.engine import REFERENCE, EngineChoice
from alphazero.own_games.registry import make_game
from alphazero.players import exact_leaves, later_engine, network
from alphazero.players.base import PlayerSettings, note_of
from alphazero.players.later_engine import LaterEngine
from alphazero.players.registry import make_player

GAME = make_game("tic_tac_toe")
OTHER = EngineChoice("torch", "bfloat16")
SPEED = exact_leaves.LeafSpeed([1.0] * 6, 1e7, 1e4)


class Impatient(PlayerSettings):
    measures_first = False


@pytest.fixture(autouse=True)
def no_delay(monkeypatch):
    monkeypatch.setattr(later_engine, "DELAY_S", 0.0)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Replace the machine by one where nothing is measured yet and another engine is faster.

    Return an event that lets the measurement begin.
    """
    begins = threading.Event()

    def measure(choices, *_):
        assert begins.wait(60)
        return {choice: [900.0 if choice == OTHER else 100.0] for choice in choices}

    def measure_leaves(*_):
        return SPEED

    openvino = EngineChoice("openvino", "float32")
    monkeypatch.setattr(fastest_engine, "candidates", lambda *_: [REFERENCE, OTHER, openvino])
    monkeypatch.setattr(fastest_engine, "has_other_engines", lambda _: True)
    monkeypatch.setattr(fastest_engine, "measure_batch_sizes", measure)
    monkeypatch.setattr(exact_leaves, "known_speed", lambda _: None)
    monkeypatch.setattr(network, "leaf_speed", measure_leaves)
    monkeypatch.setattr(exact_leaves, "leaf_speed", measure_leaves)
    monkeypatch.setattr(measurements, "cache_directory", lambda: tmp_path / "kernels")
    yield begins
    begins.set()


def loaded(cls=Impatient, **settings):
    return make_player("best", GAME, cls(num_simulations=40, device="cpu", **settings))


def same(one, other):
    equal = [np.array_equal(*pair) for pair in zip(one[1:5], other[1:5])]
    return one.action == other.action and all(equal)


# --- the moment -----------------------------------------------------------------------------------


def test_the_engine_is_put_in_place_between_searches_only():
    may_end, events = threading.Event(), []

    def prepare():
        assert may_end.wait(60)
        return lambda: events.append("changed")

    later = LaterEngine(prepare)
    with later.search(), later.search():
        assert later.note and not later.is_waiting
        may_end.set()
        later.wait()
        assert later.is_waiting and later.note
        events.append("searched")
    assert events == ["searched", "changed"] and later.number == 1
    assert not later.is_waiting and later.note == ""
    with later.search():
        pass
    assert len(events) == 2


def test_without_a_search_it_is_put_in_place_at_once():
    events = []
    later = LaterEngine(lambda: lambda: events.append("changed"))
    later.wait()
    assert events == ["changed"] and later.number == 1


def test_an_engine_that_cannot_be_prepared_leaves_the_first_one(caplog):
    def prepare():
        raise ValueError("no memory")

    later = LaterEngine(prepare)
    later.wait()
    assert later.number == 0 and later.note == "" and len(caplog.records) == 1


def test_a_program_that_ends_before_measures_nothing():
    code = "from alphazero.players import later_engine\nlater_engine.DELAY_S = 3600.0\n"
    code += "later_engine.LaterEngine(lambda: print('measured'))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == done.stderr == ""


# --- players --------------------------------------------------------------------------------------


def test_a_player_moves_before_its_engine_is_measured_and_then_changes(machine, capsys):
    state = GAME.initial_states()[0]
    player = loaded(endgame="auto")
    other = player.limited(20)
    first, other_first = player.analyse(state), other.analyse(state)
    assert player.engine == str(REFERENCE) and player.method == "search" and note_of(player)
    machine.set()
    player.later_engine.wait()
    assert player.engine == str(OTHER) and note_of(player) == note_of(other) == ""
    again, other_again = player.analyse(state), other.analyse(state)
    assert player.method == other.method == "search with exact leaves"
    measured_first = loaded(PlayerSettings, endgame="auto")
    assert measured_first.later_engine is None
    assert same(again, measured_first.analyse(state)) and not same(again, first)
    assert same(other_again, measured_first.limited(20).analyse(state))
    assert not same(other_again, other_first)
    assert capsys.readouterr().err == ""  # its caller says it


def test_a_search_keeps_the_engine_that_it_began_with(machine):
    state = GAME.initial_states()[0]
    player = loaded()
    undisturbed, engines = player.analyse(state), []
    player.cache.clear()

    def watch(*_):
        machine.set()
        player.later_engine.wait()
        engines.append(player.engine)

    assert same(player.analyse(state, watch), undisturbed)
    assert set(engines) == {str(REFERENCE)} and player.engine == str(OTHER)


@pytest.mark.slow
def test_what_was_measured_is_taken_at_once_and_what_is_named_too(machine):
    machine.set()
    loaded().later_engine.wait()
    assert loaded().later_engine is None and loaded().engine == str(OTHER)
    assert loaded(engine="torch").engine == str(REFERENCE)
    assert loaded(engine="torch").later_engine is None
    assert loaded(precision="bfloat16").later_engine is None


def test_two_players_measure_once(machine, monkeypatch):
    num_measured = []
    measure = fastest_engine.measure_batch_sizes
    monkeypatch.setattr(
        fastest_engine, "measure_batch_sizes", lambda *a: num_measured.append(1) or measure(*a)
    )
    players = loaded(), loaded()
    machine.set()
    for player in players:
        player.later_engine.wait()
    assert [player.engine for player in players] == [str(OTHER)] * 2 and len(num_measured) == 1


@pytest.mark.parametrize(
    ("first", "second", "measures"),
    [(None, None, False), ("best", "human", False), ("best", None, False), ("best", "uct", True)],
)
def test_a_game_without_people_is_played_by_one_engine(first, second, measures):
    assert play.Settings(first=first, second=second).measures_first == measures
