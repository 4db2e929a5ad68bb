"""The report of a match: who scored what, and an interval that says how sure that is.

In: the games of a match. Out: numbers, as data; nothing is printed here.

A pair of games with colours swapped is one observation x in {0, 1/4, 1/2, 3/4, 1} (player A's mean score of the two): the two games of a
pair share an opening and are not independent, so an interval computed over games would be wrong. With n pairs, the mean of x has the standard
error s / sqrt(n); but where all pairs are equal s is 0, which claims certainty after two games. As in the "plus four" interval of Agresti and
Coull ("Approximate is better than exact", 1998), four pseudo-observations are therefore added, two of 0 and two of 1:

    centre = (sum x + 2) / (n + 4)        variance = (sum (x - centre)^2 + 2 centre^2 + 2 (1 - centre)^2) / (n + 4)
    score_stderr = sqrt(variance / (n + 4))        interval = centre -+ 1.96 score_stderr, cut to [0, 1]

For pairs that are only won or lost this is their interval to the letter, and like it errs on the wide side for few pairs.
"""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

Z_95 = 1.959964  #: the normal distribution's 97.5 % point
PSEUDO_WINS = PSEUDO_LOSSES = 2.0


class MatchGame(NamedTuple):
    """One game of a match."""

    moves: tuple[int, ...]  #: actions from the start of the game, the opening's included
    a_moves_first: bool  #: whether player A had the first mover's colour
    score: float  #: player A's points: 1 for a win, 0.5 for a draw, 0 for a loss
    pair_index: int  #: games of the same pair share their opening


class Tally(NamedTuple):
    """Results of some games from player A's viewpoint."""

    wins: int
    draws: int
    losses: int


class Interval(NamedTuple):
    """A 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True)
class MatchReport:
    """The result of a match, from player A's viewpoint."""

    game: str
    player_a: str
    player_b: str
    opening_plies: int
    seed: int
    games: tuple[MatchGame, ...]

    @cached_property
    def total(self) -> Tally:
        return _tally(self.games)

    @property
    def wins(self) -> int:
        return self.total.wins

    @property
    def draws(self) -> int:
        return self.total.draws

    @property
    def losses(self) -> int:
        return self.total.losses

    @cached_property
    def as_first(self) -> Tally:
        """The games in which player A had the first move."""
        return _tally(game for game in self.games if game.a_moves_first)

    @cached_property
    def as_second(self) -> Tally:
        """The games in which player B had the first move."""
        return _tally(game for game in self.games if not game.a_moves_first)

    @property
    def score(self) -> float:
        """Player A's mean points, in [0, 1]; a draw is half a point."""
        return sum(game.score for game in self.games) / len(self.games)

    @cached_property
    def pair_scores(self) -> tuple[float, ...]:
        """Player A's mean points of each pair."""
        points: dict[int, list[float]] = {}
        for game in self.games:
            points.setdefault(game.pair_index, []).append(game.score)
        return tuple(sum(pair) / len(pair) for _, pair in sorted(points.items()))

    @cached_property
    def pair_counts(self) -> tuple[int, ...]:
        """Pairs in which player A scored 0, 1/4, 1/2, 3/4 and all of the points."""
        counts = Counter(round(4 * score) for score in self.pair_scores)
        return tuple(counts[quarters] for quarters in range(5))

    @property
    def score_interval(self) -> Interval:
        """The 95 % interval of the score that player A would reach in a match without end; see the head of this file."""
        centre, stderr = _centre_and_stderr(self.pair_scores)
        return Interval(max(0.0, centre - Z_95 * stderr), min(1.0, centre + Z_95 * stderr))

    @property
    def elo(self) -> float:
        """Player A's rating minus player B's; infinite if one of them has won every game."""
        return elo_from_score(self.score)

    @property
    def elo_interval(self) -> Interval:
        return Interval(*map(elo_from_score, self.score_interval))

    @property
    def elo_stderr(self) -> float:
        """The standard error of the rating difference: that of the score times the slope of `elo_from_score` at the interval's centre."""
        centre, stderr = _centre_and_stderr(self.pair_scores)
        return 400.0 / math.log(10.0) * stderr / (centre * (1.0 - centre))

    @property
    def num_distinct_games(self) -> int:
        """How many games differ in their moves or in who played which colour."""
        return len({(game.moves, game.a_moves_first) for game in self.games})

    @property
    def num_distinct_openings(self) -> int:
        """How many sequences of opening moves occurred."""
        return len({game.moves[: self.opening_plies] for game in self.games})

    @property
    def lengths(self) -> tuple[int, ...]:
        """Plies of each game, the opening's included."""
        return tuple(len(game.moves) for game in self.games)

    def to_plain(self) -> dict:
        """Return everything as plain data for JSON; an infinite number becomes None, since JSON has none."""
        figures = {
            "game": self.game,
            "player_a": self.player_a,
            "player_b": self.player_b,
            "num_games": len(self.games),
            "opening_plies": self.opening_plies,
            "seed": self.seed,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "as_first": self.as_first._asdict(),
            "as_second": self.as_second._asdict(),
            "score": self.score,
            "score_interval": list(self.score_interval),
            "elo": self.elo,
            "elo_interval": list(self.elo_interval),
            "elo_stderr": self.elo_stderr,
            "num_distinct_games": self.num_distinct_games,
            "num_distinct_openings": self.num_distinct_openings,
            "length_plies": {
                "min": min(self.lengths),
                "mean": sum(self.lengths) / len(self.games),
                "max": max(self.lengths),
            },
            "games": [game._asdict() | {"moves": list(game.moves)} for game in self.games],
        }
        return _finite(figures)


def elo_from_score(score: float) -> float:
    """Return the rating difference at which ``score`` is expected: score = 1 / (1 + 10 ** (-elo / 400))."""
    if score <= 0.0 or score >= 1.0:
        return math.copysign(math.inf, score - 0.5)
    return 400.0 * math.log10(score / (1.0 - score))


def score_from_elo(elo: float) -> float:
    """Return the score that is expected at a rating difference, see `elo_from_score`."""
    return 1.0 / (1.0 + 10.0 ** (-elo / 400.0))


def _tally(games) -> Tally:
    counts = Counter(game.score for game in games)
    return Tally(counts[1.0], counts[0.5], counts[0.0])


def _centre_and_stderr(pair_scores) -> tuple[float, float]:
    count = len(pair_scores) + PSEUDO_WINS + PSEUDO_LOSSES
    centre = (sum(pair_scores) + PSEUDO_WINS) / count
    squares = (
        sum((score - centre) ** 2 for score in pair_scores)
        + PSEUDO_WINS * (1.0 - centre) ** 2
        + PSEUDO_LOSSES * centre**2
    )
    return centre, math.sqrt(squares / count / count)


def _finite(value):
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
