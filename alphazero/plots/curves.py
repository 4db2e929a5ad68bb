"""Which figures the charts of a run show, on paper (`alphazero plot`) and on the page.

In: the metrics of a run, as `RunFolder.read_metrics` returns them. Out: points, and 95% intervals
where the metrics hold what they need.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from alphazero.evaluation.exact.accuracy import Proportion
from alphazero.evaluation.report import Z_95

Row = dict[str, Any]
#: Figures below this one stay finite when they become percent.
_MOST = 1e300
_MOST_POSITIONS = 1e12


def _percent(fraction: float) -> float:
    return 100 * fraction


def _missing_percent(fraction: float) -> float:
    return 100 * (1.0 - fraction)


def _percents(low: float, high: float) -> tuple[float, float]:
    return _percent(low), _percent(high)


def _missing_interval(accuracy: float, num_positions: float) -> tuple[float, float] | None:
    if not (0 <= accuracy <= 1 <= num_positions <= _MOST_POSITIONS):
        return None  # the file was edited
    interval = Proportion(round(accuracy * num_positions), int(num_positions)).interval
    return _missing_percent(interval.high), _missing_percent(interval.low)


def _elo_interval(elo: float, stderr: float) -> tuple[float, float]:
    return elo - Z_95 * stderr, elo + Z_95 * stderr


class Curve(NamedTuple):
    """One figure over time.

    Attributes:
        keys: of the metrics, what the figure is computed from.
        value: computes it; by default it is the number itself.
        interval_keys: of the metrics, what its 95% interval is computed from.
        interval: computes it; None if it is unknown.
    """

    name: str
    keys: tuple[str, ...]
    value: Callable[..., float] = operator.pos
    interval_keys: tuple[str, ...] = ()
    interval: Callable[..., tuple[float, float] | None] | None = None

    def figure(self, row: Row) -> float | None:
        """Return the figure of a row; None if the row lacks a number."""
        numbers = [row.get(key) for key in self.keys]
        return self.value(*numbers) if all(map(is_number, numbers)) else None

    def bounds(self, row: Row) -> tuple[float, float] | None:
        """Return the ends of the 95% interval of a row; None if they are unknown."""
        numbers = [row.get(key) for key in self.interval_keys]
        if self.interval is None or not all(map(is_number, numbers)):
            return None
        return self.interval(*numbers)

    def points(self, rows: list[Row], x: str = "elapsed_s") -> list[tuple[float, float]]:
        """Return ``x`` and the figure, for each row that has the numbers."""
        numbers: Iterator[list[Any]]
        numbers = ([row.get(key) for key in (x, *self.keys)] for row in rows)
        return [(row[0], self.value(*row[1:])) for row in numbers if all(map(is_number, row))]

    def line(
        self, rows: list[Row], x: str = "elapsed_s", unit: float = 60.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the points as two arrays, of ``x`` in units (by default minutes) and figures."""
        points = np.array(self.points(rows, x), float).reshape(-1, 2)
        return points[:, 0] / unit, points[:, 1]


class Chart(NamedTuple):
    """Curves on the same axes."""

    title: str
    y_label: str
    curves: tuple[Curve, ...]
    from_zero: bool = True  #: whether the upright axis begins at 0


ERRORS = Chart(
    "Moves that give away the exact result",
    "% of positions",
    (
        Curve(
            "with search",
            ("exact.accuracy",),
            _missing_percent,
            ("exact.accuracy", "exact.num_positions"),
            _missing_interval,
        ),
        Curve(
            "network alone",
            ("exact.raw_accuracy",),
            _missing_percent,
            ("exact.raw_accuracy", "exact.num_positions"),
            _missing_interval,
        ),
    ),
)
MISPLAYED = Chart(
    "Positions misplayed, of all in the game",
    "positions",
    (Curve("misplayed", ("proof.num_positions", "proof.num_accurate"), operator.sub),),
)
LOSSES = Chart(
    "Losses",
    "loss",
    (
        Curve("total", ("learner.loss",)),
        Curve("policy", ("learner.policy_loss",)),
        Curve("value", ("learner.value_loss",)),
    ),
)
SCORE = Chart(
    "Score",
    "%",
    (
        Curve(
            "score",
            ("strength.score",),
            _percent,
            ("strength.score_low", "strength.score_high"),
            _percents,
        ),
    ),
    from_zero=False,
)
GAMES = Chart(
    "Self-play games",
    "% of the games",
    (
        Curve("first player wins", ("selfplay.first_player_wins",), _percent),
        Curve("draws", ("selfplay.draws",), _percent),
        Curve("distinct games", ("selfplay.distinct_games",), _percent),
    ),
)
SPEED = Chart(
    "Self-play",
    "positions per second",
    (Curve("positions", ("selfplay.positions_per_s",)),),
)
#: What the page shows of the metrics.
RUN_CHARTS = (ERRORS, MISPLAYED, LOSSES, SCORE, SPEED)
RATING = Chart(
    "Rating",
    "Elo",
    (Curve("Elo", ("elo",), interval_keys=("elo", "elo_stderr"), interval=_elo_interval),),
    from_zero=False,
)


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number that can be drawn: not nan, not infinite."""
    return type(value) in (int, float) and abs(value) < _MOST


def newest(rows: list[Row], key: str) -> float | None:
    """Return the newest number under a key."""
    return next((row[key] for row in reversed(rows) if is_number(row.get(key))), None)
