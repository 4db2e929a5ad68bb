"""Ratings: exact where the answer is known, errors that keep their promise, sentences where there is no answer."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphazero.evaluation.elo import Pairing, Ratings, joined_players, rate

ELO = 400.0 / math.log(10.0)


def expected(difference: float) -> float:
    return 1.0 / (1.0 + 10.0 ** (-difference / 400.0))


def naive_elo(pairings, anchor: str, anchor_elo: float) -> dict[str, float]:
    """Return the ratings by Zermelo's iteration (Hunter, "MM algorithms for generalized Bradley-Terry models", 2004), game by game."""
    points, met = {}, []
    for a, b, counts in pairings:
        for quarters, count in enumerate(counts):
            points[a] = points.get(a, 0.0) + 2 * count * quarters / 4
            points[b] = points.get(b, 0.0) + 2 * count * (1 - quarters / 4)
        met.append((a, b, 2 * sum(counts)))
    strength = dict.fromkeys(points, 1.0)
    for _ in range(20_000):
        shares = dict.fromkeys(points, 0.0)
        for a, b, games in met:
            for player in (a, b):
                shares[player] += games / (strength[a] + strength[b])
        strength = {player: points[player] / shares[player] for player in points}
    return {
        player: anchor_elo + 400.0 * math.log10(value / strength[anchor])
        for player, value in strength.items()
    }


def naive_stderr(pairings, ratings: Ratings, player: str) -> float:
    """Return the sandwich's standard error, pair by pair, without what stands in for few pairs, the anchor's row and column left out."""
    names = [name for name in ratings.players if name != ratings.anchor]
    information, scatter = np.zeros((2, len(names), len(names)))
    for a, b, counts in pairings:
        score = expected(
            ratings.elo[ratings.players.index(a)] - ratings.elo[ratings.players.index(b)]
        )
        direction = np.array([(name == a) - (name == b) for name in names], float)
        for quarters, count in enumerate(counts):
            for _ in range(count):
                information += 2 * score * (1 - score) * np.outer(direction, direction)
                scatter += (2 * (quarters / 4 - score)) ** 2 * np.outer(direction, direction)
    inverse = np.linalg.inv(information)
    return ELO * math.sqrt((inverse @ scatter @ inverse)[names.index(player), names.index(player)])


def elo_of(ratings: Ratings, player: str) -> float:
    return float(ratings.elo[ratings.players.index(player)])


def drawn_pairings(generator, truth: dict[str, float], num_pairs: int, kind: str) -> list[Pairing]:
    """Return results of everybody against the next two in the dictionary; a pair's games are independent, alike, or decided by the colour."""
    pairings = []
    names = list(truth)
    for (i, a), (j, b) in itertools.combinations(enumerate(names), 2):
        if j - i > 2:
            continue
        score = expected(truth[a] - truth[b])
        if kind == "independent":
            x = (generator.random((num_pairs, 2)) < score).mean(axis=1)
        elif kind == "alike":
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


# --- ratings ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counts", [(1, 0, 0, 0, 1), (0, 3, 0, 1, 0), (2, 1, 4, 3, 9), (1, 0, 0, 0, 99), (0, 0, 7, 0, 0)]
)
def test_two_players_are_as_far_apart_as_their_score_says(counts):
    score = np.dot(counts, [0, 0.25, 0.5, 0.75, 1]) / sum(counts)
    ratings = rate([Pairing("a", "b", counts)], "b", 1000.0)
    assert elo_of(ratings, "a") == pytest.approx(
        1000 + 400 * math.log10(score / (1 - score)), abs=1e-6
    )
    assert ratings.scores.tolist() == pytest.approx([score, 1 - score])
    assert ratings.num_games.tolist() == [2 * sum(counts)] * 2
    assert not ratings.is_bound.any()


def test_a_chain_adds_up_and_a_circle_without_a_stronger_one_is_flat():
    chain = rate([Pairing("a", "b", (1, 0, 0, 0, 3)), Pairing("b", "c", (1, 0, 0, 0, 3))], "c", 0.0)
    assert elo_of(chain, "a") == pytest.approx(2 * 400 * math.log10(3), abs=1e-6)
    circle = rate([Pairing(a, b, (1, 0, 0, 0, 3)) for a, b in ("ab", "bc", "ca")], "c", 0.0)
    np.testing.assert_allclose(circle.elo, 0.0, atol=1e-6)


def test_many_players_agree_with_another_method():
    ratings = rate(MIXED, "b", 700.0)
    naive = naive_elo(MIXED, "b", 700.0)
    np.testing.assert_allclose(
        ratings.elo, [naive[player] for player in ratings.players], atol=1e-6
    )


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_ratings_of_largest_likelihood_give_back_every_players_points(data):
    # Where the gradient is 0, a player's expected points are those that it made, virtual draws included.
    pairs = [data.draw(st.tuples(*[st.integers(0, 6)] * 5)) for _ in range(6)]
    pairings = [
        Pairing(a, b, counts)
        for (a, b), counts in zip(itertools.combinations("abcd", 2), pairs)
        if sum(counts)
    ]
    if joined_players(pairings, "a") != set("abcd"):
        return
    ratings = rate(pairings, "a")
    made, owed, slack = dict.fromkeys("abcd", 0.0), dict.fromkeys("abcd", 0.0), 0.0
    for a, b, counts in pairings:
        share, games = np.dot(counts, np.arange(5) / 4) / sum(counts), 2 * sum(counts)
        for player, other, score in ((a, b, share), (b, a, 1 - share)):
            made[player] += games * score
            owed[player] += games * expected(elo_of(ratings, player) - elo_of(ratings, other))
        slack += share in (0, 1)  # at most half a game each for the virtual draws
    for player in "abcd":
        assert made[player] == pytest.approx(owed[player], abs=1e-6 + 0.5 * slack)
    assert (np.diag(ratings.covariance) >= 0).all()


def test_the_anchor_moves_the_scale_and_nothing_else():
    first, second = rate(MIXED, "a", 1000.0), rate(MIXED, "c", -50.0)
    np.testing.assert_allclose(first.elo - first.elo[1], second.elo - second.elo[1], atol=1e-6)
    assert (elo_of(first, "a"), elo_of(second, "c")) == (
        pytest.approx(1000.0),
        pytest.approx(-50.0),
    )
    assert first.stderr("a") == second.stderr("c") == 0.0
    for a, b in itertools.combinations("abcd", 2):
        np.testing.assert_allclose(first.difference(a, b), second.difference(a, b), atol=1e-6)
        np.testing.assert_allclose(
            first.difference(a, b), np.multiply(first.difference(b, a), (-1, 1)), atol=1e-6
        )
    assert first.stderr("c") == pytest.approx(second.stderr("a"))


def test_order_and_side_of_the_results_do_not_matter():
    ratings = rate(MIXED, "a")
    turned = [
        Pairing(b, a, counts[::-1]) if index % 2 else Pairing(a, b, counts)
        for index, (a, b, counts) in enumerate(MIXED)
    ]
    split = [
        Pairing(a, b, tuple(counts[k] * (k == part) for k in range(5)))
        for a, b, counts in turned
        for part in range(5)
    ]
    for other in (rate(MIXED[::-1], "a"), rate(turned, "a"), rate(split, "a")):
        assert other.players == ratings.players
        assert other.elo.tolist() == ratings.elo.tolist()
        assert other.covariance.tolist() == ratings.covariance.tolist()


# --- errors -----------------------------------------------------------------------------------------------------------------------------


def test_errors_agree_with_a_sandwich_made_pair_by_pair():
    # So many pairs that the `PRIOR_PAIRS` = 4 among at least 700 of each pairing change no variance by more than 1 %.
    pairings = [Pairing(a, b, tuple(100 * count for count in counts)) for a, b, counts in MIXED]
    ratings = rate(pairings, "b")
    for player in "acd":
        assert ratings.stderr(player) == pytest.approx(
            naive_stderr(pairings, ratings, player), rel=0.01
        )


@pytest.mark.parametrize("score", [0.5, 0.8])
def test_errors_of_two_players_follow_the_scatter_of_the_pairs(score):
    # 10,000 pairs: the standard deviation of a pair's score by hand, over the slope p (1 - p) of the expected score.
    shares = {
        "independent": ((1 - score) ** 2, 0, 2 * score * (1 - score), 0, score**2),
        "alike": (1 - score, 0, 0, 0, score),
        "all the same but for the mean": (0, 0, 2 * (1 - score), 0, 2 * score - 1),
    }
    for name, share in shares.items():
        counts = tuple(round(10_000 * chance) for chance in share)
        deviation = math.sqrt(np.dot(share, (np.arange(5) / 4 - score) ** 2))
        if name == "independent":
            assert deviation == pytest.approx(
                math.sqrt(score * (1 - score) / 2)
            )  # as if every game were an observation
        ratings = rate([Pairing("a", "b", counts)], "b")
        assert ratings.stderr("a") == pytest.approx(
            ELO * deviation / (score * (1 - score)) / 100, rel=0.01, abs=0.5
        )


def test_equal_pairs_are_no_certainty():
    assert 20 < rate([Pairing("a", "b", (0, 0, 5, 0, 0))], "b").stderr("a") < 400


@pytest.mark.parametrize("kind", ["independent", "alike", "colour decides"])
@pytest.mark.parametrize("num_pairs", [8, 30])
def test_intervals_cover_the_truth_as_often_as_they_say(kind, num_pairs):
    truth = {"a": -150.0, "b": 0.0, "c": 120.0, "d": 200.0, "e": 350.0}
    generator, rounds = np.random.default_rng(0), 200
    deviations = []
    for _ in range(rounds):
        ratings = rate(drawn_pairings(generator, truth, num_pairs, kind), "b", 0.0)
        deviations += [
            [
                (elo_of(ratings, player) - truth[player]) / ratings.stderr(player)
                for player in "acde"
            ]
        ]
    # Per player 95 % with a standard deviation of 1.5 % over 200 rounds; few pairs make it waver by 2 % more. Four deviations: 87 %.
    assert (np.abs(deviations) < 1.96).mean(axis=0).min() > 0.87
    # The errors are those that occur: a standard deviation from 200 rounds is sure to 5 %, few pairs add 5 %; three times both.
    assert np.std(deviations, axis=0) == pytest.approx(1.0, abs=0.25)
    assert np.abs(np.mean(deviations, axis=0)).max() < 4 / math.sqrt(rounds)


# --- players who won or lost everything, or met nobody ----------------------------------------------------------------------------------


def test_one_drawn_game_is_added_for_who_won_everything():
    ratings = rate([Pairing("a", "b", (0, 0, 0, 0, 10))], "b", 0.0)
    assert elo_of(ratings, "a") == pytest.approx(400 * math.log10(20.5 / 0.5), abs=1e-6)
    assert ratings.is_bound.tolist() == [True, False]
    assert ratings.scores.tolist() == [1.0, 0.0]
    assert ratings.num_games.tolist() == [20, 20]
    low, high = ratings.interval("a")
    assert 0 < low < elo_of(ratings, "a") < high


def test_a_group_that_won_everything_keeps_its_inner_distances():
    inner = [Pairing("a", "b", (2, 0, 0, 0, 6)), Pairing("c", "d", (3, 0, 0, 0, 6))]
    ratings = rate([*inner, Pairing("a", "c", (0, 0, 0, 0, 5))], "c", 0.0)
    assert ratings.is_bound.tolist() == [True, True, False, False]
    assert ratings.difference("a", "b")[0] == pytest.approx(400 * math.log10(3), abs=1e-6)
    assert ratings.difference("c", "d")[0] == pytest.approx(400 * math.log10(2), abs=1e-6)
    assert ratings.difference("a", "c")[0] == pytest.approx(400 * math.log10(10.5 / 0.5), abs=1e-6)


def test_who_lost_to_one_and_scored_elsewhere_gets_no_virtual_draw():
    # a won all against c, but b ties them: everything is finite, and Zermelo's iteration without any addition agrees.
    pairings = [
        Pairing("a", "c", (0, 0, 0, 0, 4)),
        Pairing("a", "b", (1, 0, 1, 0, 3)),
        Pairing("b", "c", (1, 0, 1, 0, 3)),
    ]
    ratings, naive = rate(pairings, "b", 0.0), naive_elo(pairings, "b", 0.0)
    np.testing.assert_allclose(ratings.elo, [naive[player] for player in "abc"], atol=1e-6)
    assert not ratings.is_bound.any()


def test_extreme_results_stay_finite():
    names = [f"p{index:02d}" for index in range(12)]
    ratings = rate(
        [Pairing(a, b, (0, 0, 0, 0, 5000)) for b, a in itertools.pairwise(names)], "p00", 0.0
    )
    assert np.isfinite(ratings.elo).all() and np.isfinite(ratings.covariance).all()
    np.testing.assert_allclose(np.diff(ratings.elo), 400 * math.log10(10000.5 / 0.5), atol=1e-3)


def test_lopsided_results_are_solved_where_whole_newton_steps_diverge():
    counts = {
        "ac": (4, 2),
        "ad": (1178, 1),
        "ae": (1, 4),
        "bc": (33, 1),
        "be": (3489, 1),
        "cd": (1, 6292),
    }
    ratings = rate(
        [Pairing(a, b, (lost, 0, 0, 0, won)) for (a, b), (lost, won) in counts.items()], "a", 0.0
    )
    for player in "abcde":
        sides = [
            (a, b, won, lost) if a == player else (b, a, lost, won)
            for (a, b), (lost, won) in counts.items()
            if player in (a, b)
        ]
        owed = sum(
            (won + lost) * expected(ratings.difference(player, other)[0])
            for _, other, won, lost in sides
        )
        assert owed == pytest.approx(sum(won for *_, won, _ in sides), abs=1e-4)


def test_players_who_cannot_be_compared_are_named():
    pairings = [Pairing("a", "b", (1, 0, 0, 0, 1)), Pairing("x", "y", (1, 0, 0, 0, 1))]
    with pytest.raises(
        ValueError,
        match=r"^no chain of games leads from x, y to a: their ratings cannot be compared\.$",
    ):
        rate(pairings, "a")
    with pytest.raises(
        ValueError, match=r"^ratings are relative to the anchor, and z has not played\.$"
    ):
        rate(pairings, "z")
    assert joined_players(pairings, "a") == {"a", "b"}
    assert joined_players(pairings, "z") == {"z"}
