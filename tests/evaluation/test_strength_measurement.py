"""Strength measurements during a run: made when due, and without effect on what is learned."""

from types import SimpleNamespace

import pytest
from run_samples import assert_same, make_trainer, reports

from alphazero.network.weights import network_arrays
from alphazero.training import gate, strength
from alphazero.training import trainer as training


@pytest.mark.slow
def test_accuracy_is_measured_when_due_and_changes_nothing(tmp_path, monkeypatch):
    words = (
        "game.name=connect_x:5x5x4",
        "evaluation.num_simulations=4",
        "evaluation.every=2",
        "run.num_iterations=3",
    )
    plain = make_trainer(tmp_path / "plain", *words, game="connect_x")
    assert [report.exact for report in reports(plain)] == [None, None, None]
    measured = make_trainer(
        tmp_path / "measured", *words, "evaluation.exact=true", game="connect_x"
    )
    # Each look at the clock takes a second, each measurement a thousand.
    clock = iter(range(10**9))
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    measure = strength.measure_accuracy

    def slow_measure(*args, **kwargs):
        for _ in range(1000):
            next(clock)
        return measure(*args, **kwargs)

    monkeypatch.setattr(strength, "measure_accuracy", slow_measure)
    found = reports(measured)
    assert [report.exact is not None for report in found] == [False, True, True]
    assert found[1].exact.num_positions == 500 and 0 < found[1].exact.raw_accuracy < 1
    assert found[1].measure_s > 2000 and found[-1].elapsed_s < 2000
    assert_same(network_arrays(measured.learner.network), network_arrays(plain.learner.network))
    assert_same(measured.board.source.state_dict(), plain.board.source.state_dict())


def test_pits_and_matches_with_uct_start_from_drawn_openings(tmp_path, monkeypatch):
    drawn = []
    for module in (gate, strength):

        def watched(*args, play=module.play_match):
            match = play(*args)
            drawn.append(match.drawn_openings)
            return match

        monkeypatch.setattr(module, "play_match", watched)
    words = "pit.every=1 evaluation.final_num_games=2 evaluation.uct_simulations=4"
    reports(make_trainer(tmp_path, *words.split(), "run.num_iterations=1"))
    assert drawn == [True, True]
