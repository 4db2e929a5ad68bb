"""Ratings: exact in known cases, with correct standard errors, or an error if there are none."""

import itertools
import math

import numpy as np
import pytest

from alphazero.evaluation.elo import Pairing, Ratings, rate


def expected(difference: float) -> float:
    return 1.0 / (1.0 + 10.0 ** (-difference / 400.0))


def naive_elo(pairings, anchor: str, anchor_elo: float) -> dict[str, float]:
    """Return the ratings by Zermelo's iteration, game by game.

    Source: Hunter, "MM algorithms for generalized Bradley-Terry models", 2004.
    """
    points, met = {}, []
    for a, b, counts in pairings:
        for quarters, count in enumerate(counts):
            points[a] = points.get(a, 0.0) + 2 * count * quarters / 4
            points[b] = points.get(b, 0.0) + 2 * count * (1 - quarters / 4)
        met.append((a, b, 2 * sum(counts)))
    strength = dict.fromkeys(points, 1.0)
    for _ in range(20_000):
        weights = dict.fromkeys(points, 0.0)
        for a, b, games in met:
            for player in (a, b):
                weights[player] += games / (strength[a] + strength[b])
        strength = {player: points[player] / weights[player] for player in points}
    return {
        player: anchor_elo + 400.0 * math.log10(value / strength[anchor])
        for player, value in strength.items()
    }


def elo_of(ratings: Ratings, player: str) -> float:
    return float(ratings.elo[ratings.players.index(player)])


def sampled_pairings(
    generator, truth: dict[str, float], num_pairs: int, kind: str
) -> list[Pairing]:
    """Return random results of each player against the next two of ``truth``.

    The games of a pair are "independent", have the "same winner", or "colour decides" them.
    """
    pairings = []
    names = list(truth)
    for (i, a), (j, b) in itertools.combinations(enumerate(names), 2):
        if j - i > 2:
            continue
        score = expected(truth[a] - truth[b])
        if kind == "independent":
            x = (generator.random((num_pairs, 2)) < score).mean(axis=1)
        elif kind == "same winner":
            x = (generator.random(num_pairs) < score).astype(float)
        else:  # in most pairs each player wins with the same colour
            colour = min(score, 1 - score) * 1.2
            x = np.where(
                generator.random(num_pairs) < colour,
                0.5,
                generator.random(num_pairs) < (score - colour / 2) / (1 - colour),
            )
        pairings.append(
            Pairing(a, b, tuple(np.bincount(np.rint(4 * x).astype(int), minlength=5).tolist()))
        )
    return pairings


MIXED = [
    Pairing("a", "b", (3, 2, 5, 4, 6)),
    Pairing("b", "c", (2, 1, 6, 3, 8)),
    Pairing("d", "a", (1, 0, 9, 2, 1)),
    Pairing("d", "c", (0, 1, 2, 1, 3)),
    Pairing("c", "a", (5, 0, 2, 1, 1)),
]


# --- ratings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counts", [(1, 0, 0, 0, 1), (0, 3, 0, 1, 0), (2, 1, 4, 3, 9), (1, 0, 0, 0, 99), (0, 0, 7, 0, 0)]
)
def test_two_players_differ_by_the_elo_of_their_score(counts):
    score = np.dot(counts, [0, 0.25, 0.5, 0.75, 1]) / sum(counts)
    ratings = rate([Pairing("a", "b", counts)], "b", 1000.0)
    assert elo_of(ratings, "a") == pytest.approx(
        1000 + 400 * math.log10(score / (1 - score)), abs=1e-6
    )
    assert ratings.scores.tolist() == pytest.approx([score, 1 - score])
    assert ratings.num_games.tolist() == [2 * sum(counts)] * 2
    assert not ratings.is_bound.any()


def test_many_players_agree_with_zermelos_iteration():
    ratings = rate(MIXED, "b", 700.0)
    naive = naive_elo(MIXED, "b", 700.0)
    np.testing.assert_allclose(
        ratings.elo, [naive[player] for player in ratings.players], atol=1e-6
    )


def points_of(pairings, ratings) -> tuple[dict[str, float], dict[str, float]]:
    """Return the points of each player, and those that their ratings lead to expect."""
    points, expected_points = dict.fromkeys(ratings.players, 0), dict.fromkeys(ratings.players, 0)
    for a, b, counts in pairings:
        a_score, games = np.dot(counts, np.arange(5) / 4) / sum(counts), 2 * sum(counts)
        for player, other, score in ((a, b, a_score), (b, a, 1 - a_score)):
            points[player] += games * score
            expected_points[player] += games * expected(ratings.difference(player, other)[0])
    return points, expected_points


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["independent", "same winner", "colour decides"])
@pytest.mark.parametrize("num_pairs", [8, 30])
def test_intervals_cover_the_truth_with_their_stated_probability(kind, num_pairs):
    truth = {"a": -150.0, "b": 0.0, "c": 120.0, "d": 200.0, "e": 350.0}
    generator, rounds = np.random.default_rng(0), 200
    deviations = []
    for _ in range(rounds):
        ratings = rate(sampled_pairings(generator, truth, num_pairs, kind), "b", 0.0)
        deviations += [
            [
                (elo_of(ratings, player) - truth[player]) / ratings.stderr(player)
                for player in "acde"
            ]
        ]
    # For each player, 95% of 200 rounds has a standard deviation of 1.5%; few pairs add up to 2%.
    # Four standard deviations below: 87%.
    assert (np.abs(deviations) < 1.96).mean(axis=0).min() > 0.87
    # A standard deviation from 200 rounds is accurate to 5%; few pairs add 5%. Three times both.
    assert np.std(deviations, axis=0) == pytest.approx(1.0, abs=0.25)
    assert np.abs(np.mean(deviations, axis=0)).max() < 4 / math.sqrt(rounds)


# --- players who won or lost every game, or played none ------------------------------------------


def test_a_player_who_won_every_game_gets_one_virtual_draw():
    ratings = rate([Pairing("a", "b", (0, 0, 0, 0, 10))], "b", 0.0)
    assert elo_of(ratings, "a") == pytest.approx(400 * math.log10(20.5 / 0.5), abs=1e-6)
    assert ratings.is_bound.tolist() == [True, False]
    assert ratings.scores.tolist() == [1.0, 0.0]
    assert ratings.num_games.tolist() == [20, 20]
    low, high = ratings.interval("a")
    assert 0 < low < elo_of(ratings, "a") < high


def test_lopsided_results_converge_where_full_newton_steps_diverge():
    counts = {
        "ac": (4, 2),
        "ad": (1178, 1),
        "ae": (1, 4),
        "bc": (33, 1),
        "be": (3489, 1),
        "cd": (1, 6292),
    }
    pairings = [Pairing(a, b, (lost, 0, 0, 0, won)) for (a, b), (lost, won) in counts.items()]
    points, expected_points = points_of(pairings, rate(pairings, "a", 0.0))
    assert points == pytest.approx(expected_points, abs=1e-4)


def test_players_without_a_connection_to_the_anchor_are_not_rated():
    pairings = [Pairing("a", "b", (1, 0, 0, 0, 1)), Pairing("x", "y", (1, 0, 0, 0, 1))]
    assert rate(pairings, "a").players == ("a", "b")
    assert rate(pairings, "z") is None
