"""Report a match: results, score and rating difference, with 95% confidence intervals.

All figures are computed from the games of the match and returned as data; nothing is printed.

The two games of a pair share an opening and are not independent, so the pair is the unit of
observation: x in {0, 1/4, 1/2, 3/4, 1} is player A's mean score over its two games. With n pairs,
the mean of x has the standard error s / sqrt(n), where s is the standard deviation of x. That is 0
if all pairs are equal, which would claim certainty after two games. We therefore add four
pseudo-observations, two of 0 and two of 1, as the "plus four" interval does (Agresti and Coull,
"Approximate is better than exact", 1998):

    centre = (sum x + 2) / (n + 4)
    variance = (sum (x - centre)^2 + 2 centre^2 + 2 (1 - centre)^2) / (n + 4)
    score_stderr = sqrt(variance / (n + 4))
    interval = centre -+ 1.96 score_stderr, cut to [0, 1]

If all pairs are won or lost, this is exactly the Agresti-Coull interval; with few pairs it tends to
be too wide.

In a one-player game, both players play each opening alone. The better result wins the pair, so
that x is 0, 1/2 or 1; `alphazero.evaluation.puzzle` extracts the results themselves.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

Z_95 = 1.959964  #: the 97.5% quantile of the normal distribution
PSEUDO_WINS = PSEUDO_LOSSES = 2.0
#: A player's possible mean scores over a pair of games. *Pair counts* are five numbers: the number
#: of pairs with each of these scores.
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)


class MatchGame(NamedTuple):
    """One game of a match between players A and B."""

    moves: tuple[int, ...]  #: actions from the start of the game, including the opening
    a_moves_first: bool  #: whether player A plays the side that moves first in the game
    #: player A's points: 1 for a win, 0.5 for a draw, 0 for a loss, or a number in between; in a
    #: one-player game, (1 + result) / 2 if A played it and (1 - result) / 2 if B did,
    #: where the result is in [-1, 1]
    score: float
    pair_index: int  #: index of the pair; both games of a pair have the same opening


class Tally(NamedTuple):
    """The numbers of games that player A won, drew and lost."""

    wins: int
    draws: int
    losses: int


class Interval(NamedTuple):
    """A 95% confidence interval, given by its two ends."""

    low: float
    high: float


@dataclass(frozen=True)
class MatchReport:
    """The result of a match, from player A's viewpoint."""

    game: str  #: the game's name
    player_a: str
    player_b: str
    opening_plies: int  #: number of random moves at the start of each game
    seed: int  #: seed of the openings
    games: tuple[MatchGame, ...]
    num_players: int = 2  #: number of players in one game: 1 (a puzzle) or 2
    drawn_openings: bool = False  #: whether all openings are drawn, as an exact solver has found

    @property
    def openings(self) -> str:
        """Where the games started, such as "drawn openings (opening_plies=4)"."""
        if not self.opening_plies:
            return "the start"
        kind = "drawn" if self.drawn_openings else "random"
        return f"{kind} openings (opening_plies={self.opening_plies})"

    @cached_property
    def total(self) -> Tally:
        """Player A's wins, draws and losses in all games (in pairs, in a one-player game)."""
        if self.num_players == 1:
            return _tally(self.pair_scores)
        return _tally(game.score for game in self.games)

    @property
    def wins(self) -> int:
        """Number of games (pairs, in a one-player game) that player A won."""
        return self.total.wins

    @property
    def draws(self) -> int:
        """Number of games (pairs, in a one-player game) that were drawn."""
        return self.total.draws

    @property
    def losses(self) -> int:
        """Number of games (pairs, in a one-player game) that player A lost."""
        return self.total.losses

    @cached_property
    def as_first(self) -> Tally:
        """Player A's wins, draws and losses in the games in which it moved first."""
        return _tally(game.score for game in self.games if game.a_moves_first)

    @cached_property
    def as_second(self) -> Tally:
        """Player A's wins, draws and losses in the games in which it moved second."""
        return _tally(game.score for game in self.games if not game.a_moves_first)

    @property
    def score(self) -> float:
        """Player A's mean points per game (per pair in a one-player game), in [0, 1].

        A win is 1 point, a draw half a point and a loss 0.
        """
        if self.num_players == 1:
            return sum(self.pair_scores) / len(self.pair_scores)
        return sum(game.score for game in self.games) / len(self.games)

    @cached_property
    def pair_scores(self) -> tuple[float, ...]:
        """Player A's points in each pair of games, in [0, 1], as `pair_score` computes them."""
        points: dict[int, list[float]] = {}
        for game in self.games:
            points.setdefault(game.pair_index, []).append(game.score)
        return tuple(pair_score(pair, self.num_players) for _, pair in sorted(points.items()))

    @cached_property
    def pair_counts(self) -> tuple[float, ...]:
        """How many pairs of games had each mean score of player A: 0, 1/4, 1/2, 3/4 and 1.

        The numbers can be fractional: `count_pair` splits a pair whose score lies between two of
        these.
        """
        counts = [0.0] * len(PAIR_SCORES)
        for score in self.pair_scores:
            count_pair(counts, score)
        return tuple(counts)

    @property
    def score_interval(self) -> Interval:
        """95% confidence interval of player A's expected score."""
        return score_interval(self.pair_scores)

    @property
    def elo(self) -> float:
        """Player A's rating minus player B's, in Elo.

        It is infinite if one of the players scored every point.
        """
        return elo_from_score(self.score)

    @property
    def elo_interval(self) -> Interval:
        """95% confidence interval of `elo`: the ends of `score_interval` converted to Elo."""
        return Interval(*map(elo_from_score, self.score_interval))

    @property
    def elo_stderr(self) -> float:
        """Approximate standard error of `elo`, in Elo.

        It is the standard error of the score, times the slope of the Elo curve at the centre of
        the score's confidence interval.
        """
        centre, stderr = _centre_and_stderr(self.pair_scores)
        return 400.0 / math.log(10.0) * stderr / (centre * (1.0 - centre))

    @property
    def num_distinct_games(self) -> int:
        """Number of different games; those with equal moves and first player count once."""
        return len({(game.moves, game.a_moves_first) for game in self.games})

    def to_plain(self) -> dict[str, Any]:
        """Convert the whole report to a dict for JSON; infinite numbers become None."""
        by_side = {"as_first": self.as_first._asdict(), "as_second": self.as_second._asdict()}
        return {
            "game": self.game,
            "player_a": self.player_a,
            "player_b": self.player_b,
            "num_games": len(self.games),
            "opening_plies": self.opening_plies,
            "drawn_openings": self.drawn_openings,
            "seed": self.seed,
            **self.total._asdict(),
            **(by_side if self.num_players == 2 else {}),
            "score": self.score,
            "score_interval": self.score_interval,
            "elo": _finite(self.elo),
            "elo_interval": [*map(_finite, self.elo_interval)],
            "elo_stderr": self.elo_stderr,
            "num_distinct_games": self.num_distinct_games,
            "games": [game._asdict() for game in self.games],
        }


def pair_score(points: Sequence[float], num_players: int = 2) -> float:
    """Return player A's score in a pair of games: the mean of its points in the two games.

    In a one-player game, the result is 1 if A did better than B, 0 if worse, and 0.5 if equally
    well.

    Args:
        points: player A's points in each game of the pair, as in `MatchGame.score`: 1 for a win,
            0.5 for a draw, 0 for a loss.
        num_players: number of players in one game: 1 or 2.
    """
    mean = sum(points) / len(points)
    if num_players == 2 or mean == 0.5:
        return mean
    return float(mean > 0.5)


def count_pair(counts: list[float], score: float) -> None:
    """Add one pair of games, with the given score for player A, to the numbers of pairs by score.

    A pair whose score lies between two of `PAIR_SCORES` is split between their counts, so that the
    mean score is preserved.

    Args:
        counts: numbers of pairs in which player A scored 0, 1/4, 1/2, 3/4 and 1; changed in place.
        score: player A's mean points in the two games, in [0, 1].
    """
    below = int(4 * score)
    part = 4 * score - below
    counts[below] += 1 - part
    if part:
        counts[below + 1] += part


def score_interval(pair_scores: Sequence[float]) -> Interval:
    """Compute the 95% confidence interval of a player's expected score.

    It is the "plus four" interval of Agresti and Coull (see the module docstring).

    Args:
        pair_scores: the player's mean points in each pair of games, in [0, 1].

    Returns:
        The ends of the interval, cut to [0, 1].
    """
    centre, stderr = _centre_and_stderr(pair_scores)
    margin = Z_95 * stderr
    return Interval(max(0.0, centre - margin), min(1.0, centre + margin))


def elo_from_score(score: float) -> float:
    """Convert an expected score to a rating difference; the inverse of `score_from_elo`.

    Args:
        score: the player's expected score, in [0, 1].

    Returns:
        The player's rating minus the opponent's, in Elo; infinite for a score of 0 or 1.
    """
    if score <= 0.0 or score >= 1.0:
        return math.copysign(math.inf, score - 0.5)
    return 400.0 * math.log10(score / (1.0 - score))


def score_from_elo(elo: float) -> float:
    """Convert a rating difference to the expected score: 1 / (1 + 10 ** (-elo / 400)).

    Args:
        elo: the player's rating minus the opponent's, in Elo.

    Returns:
        The player's expected score, in (0, 1).
    """
    return 1.0 / (1.0 + 10.0 ** (-elo / 400.0))


def _tally(scores: Iterable[float]) -> Tally:
    counts = Counter((score > 0.5) - (score < 0.5) for score in scores)
    return Tally(counts[1], counts[0], counts[-1])


def _centre_and_stderr(pair_scores: Sequence[float]) -> tuple[float, float]:
    """Return the centre of the score's 95% confidence interval, and the score's standard error.

    Args:
        pair_scores: player A's mean points in each pair of games, in [0, 1].
    """
    count = len(pair_scores) + PSEUDO_WINS + PSEUDO_LOSSES
    centre = (sum(pair_scores) + PSEUDO_WINS) / count
    squares = sum((score - centre) ** 2 for score in pair_scores)
    squares = squares + PSEUDO_WINS * (1.0 - centre) ** 2 + PSEUDO_LOSSES * centre**2
    return centre, math.sqrt(squares / count / count)


def _finite(number: float) -> float | None:
    """Return the number, or None if it is infinite or NaN, which JSON cannot represent."""
    return number if math.isfinite(number) else None
