"""Training of games in plain Python: like compiled ones, and in worker processes by default."""

import sys
import warnings

import numpy as np
import pytest
from python_games import COMPILED_SMALL, SMALL, ConnectFour, SmallConnectFour
from run_samples import TINY, assert_same, figures, make_trainer, reports, run_until

import alphazero as az
from alphazero.network.weights import network_arrays
from alphazero.network.window_states import LOOKED_UP
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.enumeration import ExactValues, enumerate_positions
from alphazero.training import strength
from alphazero.training.events import IterationReport
from alphazero.training.settings import TrainSettings, check_run
from alphazero.workers.choose_source import unsendable_reason
from alphazero.workers.dispatcher import Dispatcher
from alphazero.workers.thread_source import ThreadSource


class Local(SmallConnectFour):
    """A class that a new process cannot import by a name: tests hide it."""


@pytest.mark.slow
def test_a_class_and_its_compiled_twin_train_to_the_same_weights(tmp_path):
    """Bit for bit, also where the run of the class is stopped and resumed."""
    words = ("pit.every=2", "pit.acceptance=0.4", "learner.ema_half_life_steps=3")
    words += ("selfplay.random_opening_fraction=0.5", "replay.surprise_fraction=0.5")
    name = f"game.name={COMPILED_SMALL}"  # with the settings of a game of one's own
    twin = make_trainer(tmp_path / "twin", *words, name, game="custom")
    expected = reports(twin)
    stopped = make_trainer(tmp_path / "class", *words, game=SMALL)
    run_until(stopped, lambda event: isinstance(event, IterationReport) and event.iteration == 3)
    resumed = make_trainer(tmp_path / "class", *words, game=SMALL)
    resumed.restore()
    assert resumed.iteration == 2
    found = reports(resumed)
    for report, other in zip(found, expected[2:], strict=True):
        assert_same(figures(report), figures(other))
    arrays = network_arrays(resumed.learner.network)
    assert_same(arrays, network_arrays(twin.learner.network))
    assert_same(
        network_arrays(resumed.learner.played_network), network_arrays(twin.learner.played_network)
    )


@pytest.mark.slow
def test_the_functions_of_the_api_take_objects_and_classes(tmp_path):
    game = SmallConnectFour()
    run = f"run.root={tmp_path}"
    made = list(az.train(game, *TINY, run, "run.name=own", "run.num_iterations=1"))
    assert len(made) == 1
    (folder,) = tmp_path.glob("*/own")
    with pytest.raises(ConfigError) as error:
        next(az.train(resume=folder, game=ConnectFour))
    assert error.value.key == "game"
    with pytest.raises(StopIteration):  # it is finished
        next(az.train(resume=folder, game=game))
    match = az.play_match(SmallConnectFour, str(folder), "uct:20", num_games=2, opening_plies=1)
    assert match.wins + match.draws + match.losses == 2
    assert az.make_settings(game).game.name == SMALL
    assert az.make_settings(make_game("connect_four")).game.name == "connect_four"
    assert az.load_player("uct:10", game).game.num_actions == 4


# --- what a run needs at its end ------------------------------------------------------------------


class TwoMoves(SmallConnectFour):
    """Ends after two moves, whatever `max_plies` says."""

    def is_over(self):
        return int((self.cells() != 0).sum()) == 2

    def result(self):
        return 0


@pytest.mark.parametrize(
    ("key", "words", "game"),
    [
        ("evaluation.opening_plies", "evaluation.final_num_games=2", TwoMoves),
        ("pit.opening_plies", "pit.every=9 pit.opening_plies=2", TwoMoves),
        ("evaluation.prove", "evaluation.prove=true", ConnectFour),
    ],
)
def test_what_the_end_of_a_run_needs_is_refused_at_its_start(
    tmp_path, monkeypatch, key, words, game
):
    monkeypatch.setattr(strength, "ExactValues", few_values)
    name = make_game(game).name
    with pytest.raises(ConfigError) as error:
        make_trainer(tmp_path, *words.split(), game=name)
    assert error.value.key == key and game.__name__ in str(error.value)


class OnBothSides(SmallConnectFour):
    """The opponent's plane contains the player's own discs as well."""

    def observe(self):
        own, opponent = super().observe()
        return np.stack([own, own | opponent])


@pytest.mark.parametrize("kind", LOOKED_UP)
def test_networks_of_pieces_are_refused_where_planes_are_something_else(kind):
    settings = TrainSettings()
    settings.network.kind = kind
    settings.game.name = make_game(SmallConnectFour).name
    check_run(settings)
    settings.game.name = make_game(OnBothSides).name
    with pytest.raises(ConfigError) as error:
        check_run(settings)
    assert (error.value.key, error.value.value) == ("network.kind", kind)


def few_values(game):
    """Return the exact values of a game of few positions: three million take minutes."""
    return ExactValues(game, enumerate_positions(game, max_positions=1000))


# --- workers --------------------------------------------------------------------------------------


def source_of(path, *words, game=SMALL):
    """Return the source of the games of a run, which nothing is asked for."""
    return make_trainer(path, *words, game=game).board.source


@pytest.mark.slow
def test_games_in_plain_python_are_played_by_a_process_for_each_core(tmp_path):
    source = source_of(tmp_path / "a", "run.num_threads=3")
    assert isinstance(source, Dispatcher)
    assert source._transport._num_processes == 3 and source._transport._num_threads == 1
    for words, game in (
        (["run.num_threads=1"], SMALL),
        (["run.num_threads=2", "workers=threads"], SMALL),
        (["run.num_threads=2"], COMPILED_SMALL),
    ):
        assert isinstance(source_of(tmp_path / "b", *words, game=game), ThreadSource)


def test_a_class_that_processes_cannot_import_is_played_here_and_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(Local, "__module__", "__main__")
    name = make_game(Local).name
    assert name == "__main__:Local"
    with pytest.warns(UserWarning) as warned:
        source = source_of(tmp_path, "run.num_threads=2", game=name)
    assert isinstance(source, ThreadSource) and len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source_of(tmp_path, "workers=threads", "run.num_threads=2", game=name)


@pytest.mark.parametrize("kind", ("processes", "ray"))
def test_workers_elsewhere_are_refused_where_they_cannot_import_the_game(kind, monkeypatch):
    monkeypatch.setattr(Local, "__module__", "__main__")
    settings = TrainSettings()
    settings.game.name = make_game(Local()).name
    settings.workers.kind = kind
    with pytest.raises(ConfigError) as error:
        check_run(settings)
    assert (error.value.key, error.value.allowed) == ("workers.kind", "threads")


def test_what_other_processes_cannot_make_from_a_name(monkeypatch):
    assert unsendable_reason(make_game(SmallConnectFour())) is None
    assert unsendable_reason(make_game(COMPILED_SMALL)) is None
    started = SmallConnectFour()
    started.step(1)
    assert unsendable_reason(make_game(started)) is not None
    make_game(SmallConnectFour)  # so that the name means the class again
    inner = type("Inner", (SmallConnectFour,), {"__qualname__": "f.<locals>.Inner"})
    assert unsendable_reason(make_game(inner)) is not None
    monkeypatch.setitem(sys.modules, "typed_in", type(sys)("typed_in"))
    monkeypatch.setattr(sys.modules["typed_in"], "Local", Local, raising=False)
    monkeypatch.setattr(Local, "__module__", "typed_in")
    assert unsendable_reason(make_game(Local)) is not None


# --- pgx ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        pytest.param("tic_tac_toe", "free", marks=pytest.mark.slow),
        pytest.param("tic_tac_toe", "ordered", marks=pytest.mark.slow),
        pytest.param("connect_four", "free", marks=pytest.mark.slow),
        pytest.param("connect_four", "ordered", marks=pytest.mark.slow),
    ],
)
def test_rules_of_pgx_and_compiled_ones_train_to_the_same_weights(tmp_path, name, mode):
    """Bit for bit, also where the run of pgx is stopped and resumed."""
    pytest.importorskip("pgx", reason="pgx is not installed")
    # Pits begin at the start: only compiled rules have a solver that finds drawn openings.
    words = ("run.num_iterations=3", "pit.every=2", "pit.opening_plies=0", f"workers.mode={mode}")
    words += ("selfplay.random_opening_fraction=0.5", "learner.ema_half_life_steps=3")
    compiled = make_trainer(tmp_path / "compiled", *words, f"game.name={name}", game="custom")
    expected = reports(compiled)
    stopped = make_trainer(tmp_path / "pgx", *words, game=f"pgx:{name}")
    run_until(stopped, lambda event: isinstance(event, IterationReport) and event.iteration == 2)
    resumed = make_trainer(tmp_path / "pgx", *words, game=f"pgx:{name}")
    resumed.restore()
    assert resumed.iteration == 1
    for report, other in zip(reports(resumed), expected[1:], strict=True):
        assert_same(figures(report), figures(other))
    arrays = network_arrays(resumed.learner.network)
    assert_same(arrays, network_arrays(compiled.learner.network))
