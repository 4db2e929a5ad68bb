"""Which figures the charts of a run show, on paper (`alphazero plot`) and on the page.

In: the metrics of a run, as `RunFolder.read_metrics` returns them. Out: points.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

Row = dict[str, Any]
#: Figures below this one stay finite when they become percent.
_MOST = 1e300


def _percent(fraction: float) -> float:
    return 100 * fraction


def _missing_percent(fraction: float) -> float:
    return 100 * (1.0 - fraction)


class Curve(NamedTuple):
    """One figure over time.

    Attributes:
        keys: of the metrics, what the figure is computed from.
        value: computes it; by default it is the number itself.
    """

    name: str
    keys: tuple[str, ...]
    value: Callable[..., float] = operator.pos

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
        Curve("with search", ("exact.accuracy",), _missing_percent),
        Curve("network alone", ("exact.raw_accuracy",), _missing_percent),
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
        Curve("score", ("strength.score",), _percent),
        Curve("95% low", ("strength.score_low",), _percent),
        Curve("95% high", ("strength.score_high",), _percent),
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
RATING = Chart("Rating", "Elo", (Curve("Elo", ("elo",)),), from_zero=False)


def is_number(value: Any) -> bool:
    """Return whether a value is a number that can be drawn: not nan, not infinite."""
    return type(value) in (int, float) and abs(value) < _MOST


def newest(rows: list[Row], key: str) -> float | None:
    """Return the newest number under a key."""
    return next((row[key] for row in reversed(rows) if is_number(row.get(key))), None)
