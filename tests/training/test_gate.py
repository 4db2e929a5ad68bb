"""The gate: it keeps or restores networks, and leaves nothing behind in memory."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from run_samples import assert_same, make_trainer, reports

from alphazero.evaluation.report import PAIR_SCORES
from alphazero.network.weights import load_network, network_arrays
from alphazero.training import gate
from alphazero.training.events import IterationReport


def pairs_of(hundredths):
    """Return the scores of 100 pairs, won or lost, with this score."""
    return (0.0,) * (100 - hundredths) + (1.0,) * hundredths


def score_pits(monkeypatch, scores):
    """Give the pits these scores; return the networks that met, as (new, old) first values."""
    met, scores = [], iter(scores)

    def play_match(game, new_player, old_player, *_, **__):
        start = game.initial_states()[0]
        met.append(tuple(player.analyse(start).value for player in (new_player, old_player)))
        hundredths = round(100 * next(scores))
        return SimpleNamespace(
            wins=hundredths, draws=0, losses=100 - hundredths, pair_scores=pairs_of(hundredths)
        )

    monkeypatch.setattr(gate, "play_match", play_match)
    return met


def test_a_rejected_network_is_replaced_and_an_accepted_one_stays(tmp_path, monkeypatch):
    met = score_pits(monkeypatch, [0.55, 0.54, 0.0, 1.0])
    trainer = make_trainer(tmp_path, "pit.every=1", "learner.learning_rate=0.05")
    start = network_arrays(trainer.learner.network)
    found = reports(trainer)
    assert [report.pit.accepted for report in found] == [True, False, False, True]
    weights = [load_network(trainer.folder.network(iteration)).arrays for iteration in (1, 2, 3, 4)]
    assert not np.array_equal(weights[0]["policy.weight"], start["policy.weight"])
    assert_same(weights[1], weights[0])
    assert_same(weights[2], weights[0])
    assert not np.array_equal(weights[3]["policy.weight"], weights[0]["policy.weight"])
    assert all(new != old for new, old in met)
    # The opponent is the last accepted network.
    assert met[1][1] == met[2][1] == met[3][1] == met[0][0]


@pytest.mark.parametrize("half_life", (0, 20))
def test_a_rejection_restores_all_that_learns_and_the_old_network_plays_is_stored_and_resumed(
    tmp_path, monkeypatch, half_life
):
    met = score_pits(monkeypatch, [1.0, 0.0])
    words = ("pit.every=1", "run.num_iterations=2", "learner.learning_rate=0.05")
    words += (f"learner.ema_half_life_steps={half_life}",)
    trainer = make_trainer(tmp_path, *words)
    states = []
    for event in trainer.run():
        if isinstance(event, IterationReport):
            states.append(trainer.learner.state_dict())
    assert_same(states[1], states[0])  # the optimizer, and the average of the accepted network
    played = network_arrays(trainer.learner.played_network)
    trained = network_arrays(trainer.learner.network)
    assert np.array_equal(played["policy.weight"], trained["policy.weight"]) == (half_life == 0)
    assert_same(load_network(trainer.folder.network(2)).arrays, played)
    planes = trainer.game.observe(trainer.game.initial_states())
    network = trainer.learner.played_network.eval()
    logits = network(torch.from_numpy(planes)).prior_logits.detach().numpy()
    np.testing.assert_allclose(trainer.evaluator.evaluate(planes)[0], logits, atol=1e-4)
    assert met[1][1] == met[0][0]
    again = make_trainer(tmp_path, *words)
    again.restore()
    found = again.evaluator.evaluate(planes)[0]
    np.testing.assert_array_equal(found, trainer.evaluator.evaluate(planes)[0])


@pytest.mark.parametrize(
    ("pair_counts", "tie_score", "score"),
    [
        ((0, 0, 10, 0, 0), 0.5, 0.5),
        ((0, 0, 10, 0, 0), 1.0, 1.0),
        ((0, 0, 10, 0, 0), 0.0, 0.0),
        ((1, 2, 3, 4, 0), 0.5, 0.5),  # 2 / 4 + 3 / 2 + 4 * 3 / 4 of ten
        ((1, 2, 3, 4, 0), 1.0, 0.65),
    ],
)
def test_pairs_that_end_even_count_what_the_setting_says(pair_counts, tie_score, score):
    pair_scores = np.repeat(PAIR_SCORES, pair_counts).tolist()
    scores = gate.pit_scores(SimpleNamespace(pair_scores=pair_scores), "pairs", tie_score)
    assert sum(scores) / len(scores) == pytest.approx(score) and len(scores) == 10


@pytest.mark.parametrize(("tie_score", "score"), [(0.5, 0.5), (0.0, 0.375), (1.0, 0.625)])
def test_a_pit_may_count_games_with_draws_as_positive(tie_score, score):
    games = [SimpleNamespace(score=score) for score in (1, 1, 1, 0.5, 0.5, 0, 0, 0)]
    scores = gate.pit_scores(SimpleNamespace(games=games), "games", tie_score)
    assert sum(scores) / len(scores) == score


@pytest.mark.slow
def test_a_pit_is_held_every_few_iterations(tmp_path, monkeypatch):
    score_pits(monkeypatch, [0.0] * 9)
    trainer = make_trainer(tmp_path, "pit.every=2")
    start = network_arrays(trainer.learner.network)
    assert [report.pit is not None for report in reports(trainer)] == [False, True, False, True]
    assert_same(network_arrays(trainer.learner.network), start)  # nothing was ever accepted
    assert not np.array_equal(
        load_network(trainer.folder.network(3)).arrays["policy.weight"], start["policy.weight"]
    )
