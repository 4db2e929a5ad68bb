"""Elo ratings of many players on one scale, computed from games between some of them.

The input is a `Pairing` for every two players that have met. The output, `Ratings`, is a rating for
each player, with covariances. No games are played here.

Model. The expected score of player i against player j is

    p = 1 / (1 + 10 ** ((elo_j - elo_i) / 400))

(Bradley and Terry, "Rank analysis of incomplete block designs", 1952; a draw is half a win for
each). The ratings maximize the likelihood, which is concave, by Newton's method.

Errors. As in `alphazero.evaluation.report`, a pair of games with colours swapped is one observation
x in {0, 1/4, 1/2, 3/4, 1}: its two games share an opening and are not independent. The covariance
is therefore the sandwich H^-1 J H^-1 (Huber, "The behavior of maximum likelihood estimates under
nonstandard conditions", 1967). The inverse of the information H alone would treat all games as
independent, and draws as impossible.

    H = sum over pairs  2 p (1 - p) d d'        J = sum over pairs  4 v d d'
    d = +1 for one player of the pair, -1 for the other

in units of 400 / ln 10 Elo, where v is the variance of x. For any two players, v is estimated from
their n pairs and `PRIOR_PAIRS` virtual ones with the variance that p (1 - p) implies: n is often
small, and pairs with equal results must not look like certainty.

Unbounded ratings. A player who won every game has no finite maximum-likelihood rating. In general,
this happens where one group of players won every game against the rest (Ford, "Solution of a
ranking problem from binary comparisons", 1957). Only in this case, any two players of different
groups that have met are given one virtual draw (half a win for each: Jeffreys' prior for one
pairing), and the ratings of the players outside the anchor's group are marked as bounds.

No library replaces this file: choix, for example, has no draws, treats all games as independent,
and needs SciPy.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.report import PAIR_SCORES, Z_95, Interval

ELO_PER_UNIT = 400.0 / math.log(10.0)
VIRTUAL_PAIRS = 0.5  # the virtual draw is one game, which is half a pair
PRIOR_PAIRS = 4.0
_MAX_STEPS = 200
_TOLERANCE = 1e-10
_PAIR_SCORES = np.array(PAIR_SCORES)


class Pairing(NamedTuple):
    """The results of games between players A and B, counted in pairs that share an opening."""

    player_a: str
    player_b: str
    #: number of pairs in which player A's mean score was 0, 1/4, 1/2, 3/4 and 1; see `PAIR_SCORES`
    pair_counts: tuple[float, ...]


@dataclass(frozen=True)
class Ratings:
    """Elo ratings of P players relative to the anchor, a player whose rating is given."""

    players: tuple[str, ...]  #: the players' names, in alphabetical order
    anchor: str  #: the anchor's name
    elo: np.ndarray  #: float64[P], the ratings
    covariance: np.ndarray  #: float64[P, P], of the ratings, in squared Elo; the anchor's row is 0
    num_games: np.ndarray  #: int64[P], number of games of each player
    scores: np.ndarray  #: float64[P], each player's mean score over its games, in [0, 1]
    #: bool[P], True where the rating is only a bound: the player is outside the anchor's group,
    #: the players who have scored against each other, directly or through others
    is_bound: np.ndarray

    def stderr(self, player: str) -> float:
        """Return the standard error, in Elo, of a player's rating relative to the anchor's."""
        return self.difference(player, self.anchor)[1]

    def interval(self, player: str) -> Interval:
        """Return the 95% confidence interval of a player's Elo rating; exact for the anchor."""
        centre = self.elo[self.players.index(player)]
        margin = Z_95 * self.stderr(player)
        return Interval(float(centre - margin), float(centre + margin))

    def difference(self, player_a: str, player_b: str) -> tuple[float, float]:
        """Return player A's rating minus player B's in Elo, and the difference's standard error.

        The errors of two ratings are correlated, so their separate standard errors do not determine
        that of the difference.
        """
        a = self.players.index(player_a)
        b = self.players.index(player_b)
        difference = float(self.elo[a] - self.elo[b])
        variance = self.covariance[a, a] + self.covariance[b, b] - 2.0 * self.covariance[a, b]
        return difference, math.sqrt(max(variance, 0.0))


def rate(pairings: Iterable[Pairing], anchor: str, anchor_elo: float = 1000.0) -> Ratings | None:
    """Compute the maximum-likelihood ratings of all players connected to the anchor by games.

    Args:
        pairings: the games played, in any order; the same two players may occur in several
            pairings, in either order.
        anchor: the name of the player whose rating is fixed.
        anchor_elo: the rating to give the anchor, in Elo.

    Returns:
        The ratings of all players connected to the anchor by a chain of games; None if the anchor
        has not played.
    """
    players, counts = count_pairs(pairings, [anchor])
    connected = _reachable(counts.sum(axis=2) > 0)[players.index(anchor)]
    players = tuple(compress(players, connected))
    counts = counts[connected][:, connected]
    if len(players) == 1:
        return None
    num_pairs = counts.sum(axis=2)
    same_group = _same_group(counts)
    filled = counts.copy()
    filled[..., 2] += VIRTUAL_PAIRS * ((num_pairs > 0) & ~same_group)
    units = fit(filled)
    # A matrix that subtracts the anchor's rating from every rating.
    from_anchor = np.eye(len(players)) - (np.array(players) == anchor)[None, :]
    covariance = from_anchor @ _sandwich(filled, units) @ from_anchor.T
    return Ratings(
        players,
        anchor,
        elo=anchor_elo + ELO_PER_UNIT * (from_anchor @ units),
        covariance=ELO_PER_UNIT**2 * covariance,
        num_games=np.rint(2 * num_pairs.sum(axis=1)).astype(np.int64),
        scores=(counts @ _PAIR_SCORES).sum(axis=1) / num_pairs.sum(axis=1),
        is_bound=~same_group[players.index(anchor)],
    )


def count_pairs(
    pairings: Iterable[Pairing], players: Iterable[str]
) -> tuple[tuple[str, ...], np.ndarray]:
    """Combine pairings into one table of how many game pairs every two players have by score.

    Args:
        pairings: the games played; the same two players may occur in several pairings, in either
            order.
        players: names to include even if they occur in no pairing.

    Returns:
        The names of all P players in alphabetical order, and counts, float64[P, P, 5]: entry [a, b]
        holds the numbers of pairs of games in which player a scored 0, 1/4, 1/2, 3/4 and 1 against
        player b.
    """
    pairings = list(pairings)
    distinct = set(players)
    for pairing in pairings:
        distinct |= {pairing.player_a, pairing.player_b}
    names = tuple(sorted(distinct))
    counts = np.zeros((len(names), len(names), len(PAIR_SCORES)))
    for pairing in pairings:
        a = names.index(pairing.player_a)
        b = names.index(pairing.player_b)
        counts[a, b] += pairing.pair_counts
        counts[b, a] += pairing.pair_counts[::-1]
    return names, counts


def fit(counts: np.ndarray, precision: float = 0.0) -> np.ndarray:
    """Compute the maximum-likelihood ratings of P players by Newton's method.

    Args:
        counts: float64[P, P, 5], numbers of game pairs by player, opponent and score (see
            `count_pairs`).
        precision: inverse variance of a normal prior with mean 0 on each rating, in the units of
            the ratings. With 0 there is no prior; the likelihood must then have a finite maximum,
            so no group of players may have won every game against the rest.

    Returns:
        float64[P], the ratings in units of 400 / ln 10 Elo; their mean is 0.
    """
    units = np.zeros(len(counts))
    value, gradient = _log_likelihood(counts, units, precision)
    for _ in range(_MAX_STEPS):
        # The likelihood does not change if a constant is added to all ratings. Adding a matrix of
        # equal entries to the information keeps their mean at 0.
        of_prior = precision * np.eye(len(units))
        curvature = information(counts, units) + of_prior + 1.0 / len(units)
        step = np.linalg.solve(curvature, gradient)
        lowest = value - 1e-9 * (1.0 + abs(value))
        value, gradient = _log_likelihood(counts, units + step, precision)
        while value < lowest:
            step /= 2.0
            value, gradient = _log_likelihood(counts, units + step, precision)
        units = units + step
        if np.abs(step).max() < _TOLERANCE:
            break
    return units


def expected_scores(units: np.ndarray) -> np.ndarray:
    """Return the expected score of each player (row) against each player (column).

        expected = 1 / (1 + exp(units[column] - units[row]))

    A win scores 1, a draw 1/2 and a loss 0.

    Args:
        units: float64[P], ratings in units of 400 / ln 10 Elo, as `fit` returns them.

    Returns:
        float64[P, P], in [0, 1]; 1/2 on the diagonal.
    """
    gap = units[None, :] - units[:, None]
    return 1.0 / (1.0 + np.exp(np.clip(gap, -500.0, 500.0)))


def information(counts: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the Fisher information matrix of the ratings: H in the module docstring.

    Args:
        counts: float64[P, P, 5], numbers of game pairs by player, opponent and score (see
            `count_pairs`).
        units: float64[P], ratings in units of 400 / ln 10 Elo.

    Returns:
        float64[P, P], the information in these units; its inverse estimates the covariance.
    """
    expected = expected_scores(units)
    return _laplacian(2.0 * counts.sum(axis=2) * expected * (1.0 - expected))


def _log_likelihood(
    counts: np.ndarray, units: np.ndarray, precision: float
) -> tuple[float, np.ndarray]:
    """Return the log-likelihood of the ratings, including the prior, and the gradient.

    Args:
        counts: float64[P, P, 5], numbers of game pairs by player, opponent and score (see
            `count_pairs`).
        units: float64[P], ratings in units of 400 / ln 10 Elo.
        precision: inverse variance of the prior, as in `fit`.

    Returns:
        The log-likelihood, and float64[P], the derivative with respect to each rating.
    """
    points = 2.0 * counts @ _PAIR_SCORES
    games = 2.0 * counts.sum(axis=2)
    gap = units[None, :] - units[:, None]
    # Each pairing occurs twice in the matrix, once for each player's points.
    of_games = -(points * np.logaddexp(0.0, gap)).sum()
    value = of_games - 0.5 * precision * (units**2).sum()
    surplus = points - games * expected_scores(units)
    return value, surplus.sum(axis=1) - precision * units


def _sandwich(counts: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return the ratings' robust covariance matrix: H^-1 J H^-1 in the module docstring.

    It is the covariance of ratings that are shifted so that their mean is 0.

    Args:
        counts: float64[P, P, 5], numbers of game pairs by player, opponent and score (see
            `count_pairs`).
        units: float64[P], ratings in units of 400 / ln 10 Elo.

    Returns:
        float64[P, P], in squared units of 400 / ln 10 Elo.
    """
    expected = expected_scores(units)
    pairs = counts.sum(axis=2)
    squares = (counts * (_PAIR_SCORES - expected[..., None]) ** 2).sum(axis=2)
    independent = expected * (1.0 - expected) / 2.0  # the variance of x if games were independent
    # The ratio of the observed variance of x to this one, over all players. In the pairs of the
    # prior, one of two equal players wins both games.
    observed_sum = squares.sum() / 2 + PRIOR_PAIRS / 4
    independent_sum = (pairs * independent).sum() / 2 + PRIOR_PAIRS / 8
    ratio = observed_sum / independent_sum
    variances = (squares + PRIOR_PAIRS * ratio * independent) / (pairs + PRIOR_PAIRS)
    inverse = np.linalg.inv(information(counts, units) + 1.0 / len(units))
    return inverse @ _laplacian(4.0 * pairs * variances) @ inverse


def _laplacian(weights: np.ndarray) -> np.ndarray:
    """Return the weighted Laplacian of the graph of pairings: the sum of weight * d d'.

    The sum is over all pairs of players; the vector d is +1 for one of the two, -1 for the other
    and 0 for everybody else.

    Args:
        weights: float64[P, P], symmetric, the weight of each pairing; the diagonal is ignored.

    Returns:
        float64[P, P], the Laplacian.
    """
    weights = weights - np.diag(np.diag(weights))
    return np.diag(weights.sum(axis=1)) - weights


def _same_group(counts: np.ndarray) -> np.ndarray:
    """Return which pairs of players have each scored against the other, directly or indirectly.

    Indirectly means through a chain of players, each of whom has scored against the next. A player
    scores by winning or drawing a game.

    Args:
        counts: float64[P, P, 5], numbers of game pairs by player, opponent and score (see
            `count_pairs`).

    Returns:
        bool[P, P], symmetric and True on the diagonal.
    """
    scored = _reachable(counts @ _PAIR_SCORES > 0)
    return scored & scored.T


def _reachable(edges: np.ndarray) -> np.ndarray:
    """Return for every two players whether a chain of edges leads from the first to the second.

    Args:
        edges: bool[P, P], True where an edge leads from row to column.

    Returns:
        bool[P, P], True where a chain leads from row to column, and on the diagonal.
    """
    reached = edges | np.eye(len(edges), dtype=bool)
    for _ in range(max(1, len(edges).bit_length())):
        reached = (reached.astype(np.float64) @ reached) > 0
    return reached
