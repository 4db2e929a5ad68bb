"""`workers.overlap`: games are played while the network learns, and the run can be repeated."""

import os

import pytest
from python_games import SMALL
from run_samples import assert_same, figures, make_trainer, reports, run_until

from alphazero.network.weights import network_arrays
from alphazero.own_games.registry import make_game
from alphazero.runtime.errors import ConfigError
from alphazero.storage.checkpoint import load_state
from alphazero.training.events import IterationReport
from alphazero.training.run_config import compose
from alphazero.training.settings import check_run
from alphazero.workers.choose_source import plays_on_here

OVERLAP = "workers.overlap=true"


def at(stage, iteration):
    """Return a function that tells the first event of a stage."""
    return lambda event: getattr(event, "stage", None) == stage and event.iteration == iteration


def stored(iteration):
    return lambda event: isinstance(event, IterationReport) and event.iteration == iteration


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        f"{OVERLAP} run.num_threads=2 learner.ema_half_life_steps=3",
        pytest.param(f"{OVERLAP} pit.every=1 pit.acceptance=0.5", marks=pytest.mark.slow),
        pytest.param(f"{OVERLAP} selfplay.carry_over=false", marks=pytest.mark.slow),
    ],
)
def test_a_resumed_run_is_the_run_that_never_stopped(tmp_path, words):
    whole = make_trainer(tmp_path / "whole", *words.split())
    expected = {report.iteration: figures(report) for report in reports(whole)}
    parts = make_trainer(tmp_path / "parts", *words.split())
    stops = ((at("learning", 1), 0), (at("next games", 2), 1), (at("learning", 3), 2))
    for stop, last in (*stops, (stored(4), 3)):
        run_until(parts, stop)
        parts = make_trainer(tmp_path / "parts", *words.split())
        if last:
            parts.restore()
        assert parts.iteration == last
    for report in reports(parts):
        assert_same(figures(report), expected[report.iteration], str(report.iteration))
    assert_same(network_arrays(parts.learner.network), network_arrays(whole.learner.network))
    names = os.listdir(tmp_path / "whole" / "games")
    assert sorted(names) == sorted(os.listdir(tmp_path / "parts" / "games"))
    for name in names:
        run, other = (load_state(tmp_path / kind / "games" / name) for kind in ("whole", "parts"))
        assert_same(run, other, name)


@pytest.mark.slow
def test_games_are_one_network_behind_and_search_rests_when_the_network_changes(tmp_path):
    trainer = make_trainer(tmp_path, OVERLAP, "run.num_iterations=3")
    source, evaluator, seen = trainer.source, trainer.evaluator, []
    play_ahead, update = source.play_ahead, evaluator.update

    def begun(num_games, progress):
        seen.append(f"games of {trainer.iteration + 1}")
        play_ahead(num_games, progress)

    def updated(network, sample):
        assert source._playing is None
        seen.append(f"network {trainer.iteration}")
        update(network, sample)

    source.play_ahead, evaluator.update = begun, updated
    found = reports(trainer)
    assert seen == ["games of 2", "network 1", "games of 3", "network 2", "network 3"]
    assert [report.selfplay.num_games >= 6 for report in found] == [True] * 3
    games = [report.selfplay for report in found]
    simulations = sum(own.simulations_per_s * own.seconds for own in games)
    assert simulations == pytest.approx(source.work.num_simulations)


def test_it_plays_while_the_network_learns(tmp_path):
    trainer = make_trainer(tmp_path, OVERLAP)
    source, before = trainer.source, []
    play_ahead = source.play_ahead

    def begun(num_games, progress):
        before.append(source.selfplay.num_positions)
        play_ahead(num_games, progress)

    source.play_ahead = begun
    events = trainer.run()
    while not at("learning", 1)(next(events)):
        pass
    source._playing.result(timeout=60)  # nobody learns meanwhile
    assert source.selfplay.num_positions > before[0]
    assert len(source._ahead) >= 6
    events.close()


def test_games_that_the_time_limit_would_waste_are_not_begun(tmp_path):
    trainer = make_trainer(tmp_path, OVERLAP, "run.time_limit_s=1000")
    trainer.iteration, trainer._durations_s = 1, [300.0]
    for elapsed_s, begins in ((500.0, False), (300.0, True)):
        trainer.elapsed_s = elapsed_s
        trainer._play_ahead()
        assert (trainer.source._playing is not None) == begins
    trainer.source.close()


def test_an_error_of_the_games_ends_the_run_and_an_end_of_the_run_the_games(tmp_path):
    trainer = make_trainer(tmp_path / "error", OVERLAP)
    play = trainer.source.selfplay.play

    def broken(num_games, progress):
        yield from play(num_games, progress)
        trainer.source.selfplay.play = lambda *_: [][0]

    trainer.source.selfplay.play = broken
    with pytest.raises(IndexError):
        reports(trainer)
    assert trainer.iteration == 1
    trainer = make_trainer(tmp_path / "end", OVERLAP, "run.num_iterations=2")
    trainer.settings.selfplay.games_per_iteration = 100_000
    trainer.source.play_ahead(100_000, 0.0)
    trainer.source.close()
    assert trainer.source._playing.done() and len(trainer.source._ahead) < 50_000


def test_the_learner_leaves_cores_to_the_players():
    game, small = make_game("connect_four"), make_game(SMALL)
    for words, shares in (
        ([OVERLAP], True),
        ([], False),
        (["workers=processes"], True),
        (["workers=processes", "workers.mode=ordered"], False),
    ):
        assert plays_on_here(compose(words).workers, game, 4) == shares
    assert plays_on_here(compose([]).workers, small, 4)  # in processes
    assert not plays_on_here(compose([]).workers, small, 1)


@pytest.mark.parametrize("word", ("workers.mode=ordered", "workers=processes"))
def test_workers_that_always_or_never_play_on_refuse_it(word):
    with pytest.raises(ConfigError) as error:
        check_run(compose([OVERLAP, word]))
    assert (error.value.key, error.value.value) == ("workers.overlap", True)
