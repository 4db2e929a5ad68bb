"""The sequential test: known values, error probabilities, and matches that end early."""

import math

import numpy as np
import pytest
from fixed_player import FixedPlayer
from mostly_slow import mostly_slow

from alphazero.evaluation.match import Openings, play_match
from alphazero.evaluation.report import score_from_elo
from alphazero.evaluation.sprt import Sprt, log_likelihood_ratio
from alphazero.own_games.registry import make_game

PAIR_SCORES = np.arange(5) / 4


def tilted(frequencies, mean: float) -> np.ndarray:
    """Return probabilities like ``frequencies`` whose mean is ``mean``."""
    low, high = -50.0, 50.0
    for _ in range(80):
        tilt = (low + high) / 2
        weights = np.asarray(frequencies) * np.exp(tilt * PAIR_SCORES)
        weights /= weights.sum()
        low, high = (tilt, high) if weights @ PAIR_SCORES < mean else (low, tilt)
    return weights


def naive_log_likelihood(counts, mean: float) -> float:
    """Return the largest log-likelihood at a mean, by a search on a fine grid."""
    counts = np.asarray(counts, float)
    # By duality, the maximum over probabilities is the minimum over t of
    # -sum n log(n_total (1 + t (x - mean)) / n).
    tilts = np.linspace(-1 / (1 - mean), 1 / mean, 400_003)[1:-1]
    seen = counts > 0
    inside = 1 + np.outer(tilts, PAIR_SCORES[seen] - mean)
    return float((-(counts[seen] * np.log(counts.sum() * inside / counts[seen])).sum(axis=1)).min())


@pytest.mark.parametrize("counts", [(3, 5, 20, 9, 4), (1, 1, 1, 1, 1), (40, 2, 3, 1, 60)])
def test_likelihood_ratio_agrees_with_a_grid_search(counts):
    for elo0, elo1 in ((0, 50), (-100, 20), (30, 300)):
        slow = naive_log_likelihood(counts, score_from_elo(elo1)) - naive_log_likelihood(
            counts, score_from_elo(elo0)
        )
        assert log_likelihood_ratio(counts, elo0, elo1) == pytest.approx(slow, abs=1e-5)


def test_a_hypothesis_is_accepted_or_the_test_goes_on():
    assert Sprt().test((0,) * 5) == (pytest.approx(0.0, abs=1e-3), None, 0)
    assert Sprt().test((0, 0, 0, 0, 40)).accepted == "H1"
    assert Sprt().test((40, 0, 0, 0, 0)).accepted == "H0"
    assert Sprt().test((1, 0, 0, 0, 1)) == (pytest.approx(0.0, abs=0.1), None, 2)


@pytest.mark.parametrize(
    "case",
    mostly_slow(
        [
            (0.0, 150.0, (0.25, 1e-6, 0.5, 1e-6, 0.25)),
            (-100.0, 0.0, (0.05, 0.2, 0.5, 0.2, 0.05)),
            (-100.0, 0.0, (0.4, 0.02, 0.16, 0.02, 0.4)),
        ]
    ),
)
def test_error_probabilities_are_at_most_5_percent(case):
    elo0, elo1, frequencies = case
    sprt, generator, rounds = Sprt(elo0, elo1), np.random.default_rng(0), 100
    for truth, wrong in ((elo0, "H1"), (elo1, "H0")):
        chances, errors = tilted(frequencies, score_from_elo(truth)), 0
        for _ in range(rounds):
            counts, result = [0] * 5, None
            for outcome in generator.choice(5, size=4000, p=chances):
                counts[outcome] += 1
                if (result := sprt.test(counts)).accepted:
                    break
            assert result.accepted  # 4000 pairs are many times what these tests need
            errors += result.accepted == wrong
        # 5% of 100 rounds has a standard deviation of 2.2%; four of them.
        assert errors / rounds < 0.05 + 4 * math.sqrt(0.05 * 0.95 / rounds)


# --- matches that end early ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def game():
    return make_game("connect_four")


def test_a_match_that_ends_early_is_the_start_of_the_full_match(game):
    whole = play_match(game, FixedPlayer(game, 1, 64), FixedPlayer(game, 2), 100, Openings())
    for batch_size in (1, 5, 64, 256):
        seen = []

        def stop(pair_counts, seen=seen):
            seen.append(pair_counts)
            return sum(pair_counts) == 13

        players = FixedPlayer(game, 1, batch_size), FixedPlayer(game, 2)
        report = play_match(game, *players, 100, Openings(), should_stop=stop)
        assert report.games == whole.games[:26]
        assert [sum(counts) for counts in seen] == list(range(1, 14))
        points = [sum(np.multiply(counts, PAIR_SCORES)) for counts in seen]
        # Pairs are counted in the order of their openings, whichever game ends first.
        assert points == np.cumsum(whole.pair_scores[:13]).tolist()
        assert report.pair_counts == seen[-1]
