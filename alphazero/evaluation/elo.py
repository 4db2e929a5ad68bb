"""Ratings of many players on one Elo scale, from the games that some of them played with each other.

In: for each two players that met, how their pairs of games ended. Out: a rating for each player, with covariances. Nothing is played here.

The expected score of player i against player j is p = 1 / (1 + 10 ** ((elo_j - elo_i) / 400)) (Bradley and Terry, "Rank analysis of incomplete
block designs", 1952; a draw is half a win for each). The ratings maximise the likelihood, by Newton's method; it is concave.

Errors. As in `alphazero.evaluation.report`, a pair of games with colours swapped is one observation x in {0, 1/4, 1/2, 3/4, 1}: its two games share
an opening and are not independent. The covariance is therefore the sandwich H^-1 J H^-1 (Huber, "The behavior of maximum likelihood estimates
under nonstandard conditions", 1967) and not the inverse of the information H alone, which takes all games for independent and none for drawn:

    H = sum over pairs  2 p (1 - p) d d'        J = sum over pairs  4 v d d'        d = +1 for the one player, -1 for the other

in units of 400 / ln 10 Elo, where v is the variance of x. It is estimated for each two players from their n pairs, mixed with what p (1 - p)
lets one expect as if that were `PRIOR_PAIRS` more: n is often small, and equal pairs must not pass for certainty.

Somebody who won everything has no finite rating of largest likelihood; in general that is so wherever one group of players won every game
against the rest (Ford, "Solution of a ranking problem from binary comparisons", 1957). There, and nowhere else, each two players of
different groups that met are given one drawn game more (half a win to each side: Jeffreys' prior of one pairing), and the players
beyond the anchor's group are marked as known in one direction only.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.report import Z_95, Interval

PAIR_SCORES = np.arange(5) / 4.0  #: what a pair of games can bring, as the mean of its two games
ELO_PER_UNIT = 400.0 / math.log(10.0)
VIRTUAL_PAIRS = 0.5  # one drawn game is half a pair
PRIOR_PAIRS = 4.0
_MAX_STEPS, _TOLERANCE = 200, 1e-10


class Pairing(NamedTuple):
    """How two players did against each other."""

    player_a: str
    player_b: str
    pair_counts: tuple[
        int, ...
    ]  #: pairs of games in which player A's mean score was 0, 1/4, 1/2, 3/4, 1


@dataclass(frozen=True)
class Ratings:
    """Ratings of P players, relative to the anchor, whose rating is given and exact."""

    players: tuple[str, ...]  #: in alphabetical order
    anchor: str
    elo: np.ndarray  #: float64[P]
    covariance: np.ndarray  #: float64[P, P], Elo squared; the anchor's row is 0
    num_games: np.ndarray  #: int64[P]
    scores: np.ndarray  #: float64[P], mean points of each player's games
    is_bound: np.ndarray  #: bool[P], True where all games that join the player to the anchor's group were won, or all lost

    def stderr(self, player: str) -> float:
        """Return the standard error of a player's rating relative to the anchor's."""
        return self.difference(player, self.anchor)[1]

    def interval(self, player: str) -> Interval:
        """Return the 95 % interval of a player's rating relative to the anchor's."""
        centre, margin = self.elo[self.players.index(player)], Z_95 * self.stderr(player)
        return Interval(float(centre - margin), float(centre + margin))

    def difference(self, player_a: str, player_b: str) -> tuple[float, float]:
        """Return player A's rating minus player B's, and its standard error: the errors of two ratings are not independent."""
        a, b = self.players.index(player_a), self.players.index(player_b)
        variance = self.covariance[a, a] + self.covariance[b, b] - 2.0 * self.covariance[a, b]
        return float(self.elo[a] - self.elo[b]), math.sqrt(max(variance, 0.0))


def rate(pairings: Iterable[Pairing], anchor: str, anchor_elo: float = 1000.0) -> Ratings:
    """Return the ratings of largest likelihood.

    Args:
        pairings: in any order; the same two players may occur several times, either of them as player A.
        anchor: the player whose rating is held at ``anchor_elo``.

    Raises:
        ValueError: with one plain sentence if the anchor has not played, or no chain of games leads to it from some player.
    """
    pairings = list(pairings)
    players, counts = count_pairs(pairings)
    if anchor not in players:
        raise ValueError(f"ratings are relative to the anchor, and {anchor} has not played.")
    games = counts.sum(axis=2)
    apart = sorted(set(players) - joined_players(pairings, anchor))
    if apart:
        raise ValueError(
            f"no chain of games leads from {', '.join(apart)} to {anchor}: their ratings cannot be compared."
        )
    same_group = _same_group(counts)
    filled = counts.copy()
    filled[..., 2] += VIRTUAL_PAIRS * ((games > 0) & ~same_group)
    units = fit(filled)
    from_anchor = (
        np.eye(len(players)) - (np.array(players) == anchor)[None, :]
    )  # subtracts the anchor's rating from each
    covariance = from_anchor @ _sandwich(filled, units) @ from_anchor.T
    points = (counts @ PAIR_SCORES).sum(axis=1)
    return Ratings(
        players,
        anchor,
        anchor_elo + ELO_PER_UNIT * (from_anchor @ units),
        ELO_PER_UNIT**2 * covariance,
        np.rint(2 * games.sum(axis=1)).astype(np.int64),
        points / games.sum(axis=1),
        ~same_group[players.index(anchor)],
    )


def joined_players(pairings: Iterable[Pairing], anchor: str) -> set[str]:
    """Return the players to whom a chain of games leads from the anchor, itself included."""
    players, counts = count_pairs(pairings, [anchor])
    return {
        player
        for player, joined in zip(
            players, _reachable(counts.sum(axis=2) > 0)[players.index(anchor)]
        )
        if joined
    }


def count_pairs(
    pairings: Iterable[Pairing], players: Iterable[str] = ()
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of all players in alphabetical order, and float64[P, P, 5]: pairs in which the first scored 0, 1/4, ... on the second.

    Args:
        players: who belongs to them even without a game.
    """
    pairings = list(pairings)
    names = tuple(sorted({*players} | {name for pairing in pairings for name in pairing[:2]}))
    counts = np.zeros((len(names), len(names), len(PAIR_SCORES)))
    for pairing in pairings:
        a, b = names.index(pairing.player_a), names.index(pairing.player_b)
        counts[a, b] += pairing.pair_counts
        counts[b, a] += pairing.pair_counts[::-1]
    return names, counts


def fit(counts: np.ndarray, precision: float = 0.0) -> np.ndarray:
    """Return the ratings of largest likelihood, float64[P], in units of 400 / ln 10 Elo and with mean 0.

    Args:
        counts: float64[P, P, 5] as of `count_pairs`.
        precision: of a normal prior with mean 0 on each rating; with 0 the largest likelihood must exist.
    """
    units = np.zeros(len(counts))
    value, gradient = _log_likelihood(counts, units, precision)
    for _ in range(_MAX_STEPS):
        # The likelihood is blind to a constant added to all ratings; the matrix of ones keeps their mean at 0.
        step = np.linalg.solve(
            information(counts, units) + precision * np.eye(len(units)) + 1.0 / len(units), gradient
        )
        while (found := _log_likelihood(counts, units + step, precision))[0] < value - 1e-9 * (
            1.0 + abs(value)
        ):
            step /= 2.0
        units, (value, gradient) = units + step, found
        if np.abs(step).max() < _TOLERANCE:
            break
    return units


def expected_scores(units: np.ndarray) -> np.ndarray:
    """Return the expected score of each player (row) against each other (column), float64[P, P]."""
    return 1.0 / (1.0 + np.exp(np.clip(units[None, :] - units[:, None], -500.0, 500.0)))


def information(counts: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the matrix H of the head of this file, float64[P, P]."""
    expected = expected_scores(units)
    return _laplacian(2.0 * counts.sum(axis=2) * expected * (1.0 - expected))


def _log_likelihood(counts, units, precision) -> tuple[float, np.ndarray]:
    """Return the logarithm of the likelihood (with the prior's) and its gradient."""
    points, games = 2.0 * counts @ PAIR_SCORES, 2.0 * counts.sum(axis=2)
    gap = units[None, :] - units[:, None]
    # Each pairing stands in the matrix twice, once for each player's points.
    value = -(points * np.logaddexp(0.0, gap)).sum() - 0.5 * precision * (units**2).sum()
    return value, (points - games * expected_scores(units)).sum(axis=1) - precision * units


def _sandwich(counts, units) -> np.ndarray:
    """Return the covariance of the ratings, of mean 0, in units of 400 / ln 10 Elo."""
    expected, pairs = expected_scores(units), counts.sum(axis=2)
    squares = (counts * (PAIR_SCORES - expected[..., None]) ** 2).sum(axis=2)
    of_independent_games = expected * (1.0 - expected) / 2.0
    # How much more or less than that pairs scatter, over all players, with `PRIOR_PAIRS` at even odds won or lost as a whole.
    ratio = (squares.sum() / 2 + PRIOR_PAIRS / 4) / (
        (pairs * of_independent_games).sum() / 2 + PRIOR_PAIRS / 8
    )
    variances = (squares + PRIOR_PAIRS * ratio * of_independent_games) / (pairs + PRIOR_PAIRS)
    inverse = np.linalg.inv(information(counts, units) + 1.0 / len(units))
    return inverse @ _laplacian(4.0 * pairs * variances) @ inverse


def _laplacian(weights: np.ndarray) -> np.ndarray:
    """Return the sum of weight * d d' over all pairings, where d is +1 for one player and -1 for the other; ``weights`` is symmetric."""
    weights = weights - np.diag(np.diag(weights))
    return np.diag(weights.sum(axis=1)) - weights


def _same_group(counts) -> np.ndarray:
    """Return bool[P, P]: whether each of two players is joined to the other by a chain of games of which none was lost whole."""
    scored = _reachable(counts @ PAIR_SCORES > 0)
    return scored & scored.T


def _reachable(edges: np.ndarray) -> np.ndarray:
    """Return bool[P, P]: whether a chain of edges leads from one to the other, or they are the same."""
    reached = edges | np.eye(len(edges), dtype=bool)
    for _ in range(max(1, len(edges).bit_length())):
        reached = (reached.astype(np.float64) @ reached) > 0
    return reached
