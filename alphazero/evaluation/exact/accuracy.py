"""Compare a player's moves and values with perfect play on the positions of an evaluation set.

`measure_accuracy` asks a function that chooses moves about every position of an `EvaluationSet`,
and reports two measures:

- *accuracy*: the fraction of positions in which the player's move keeps the exact result: perfect
  play after it gives the same result (win, draw or loss) as after the best move.
- *optimal*: the fraction of positions in which the player's move has the best exact score. In
  Connect-X that is the fastest win or the slowest loss.

Shapes: N positions, K state words, A actions.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from alphazero.evaluation.exact.sets import EvaluationSet
from alphazero.evaluation.report import Z_95, Interval
from alphazero.players.base import Choice
from alphazero.solvers.base import ILLEGAL_SCORE, values_of
from alphazero.solvers.proof import Failure

#: A function that chooses moves, like `Player.choose`: maps states ([N, K]) to a `Choice`.
Choose = Callable[[np.ndarray], Choice]

_MAX_PLY_BINS = 7
# Values within +-1/3 count as a predicted draw, so that each result has a third of [-1, 1].
_DRAW_THRESHOLD = 1.0 / 3.0


@dataclasses.dataclass(frozen=True)
class Proportion:
    """The proportion of positions that meet a condition, with a confidence interval.

    The 95% confidence interval is that of E. B. Wilson ("Probable inference, the law of succession,
    and statistical inference", 1927), which is valid near 0 and 1 too. With k of n positions and z
    = 1.96:

        centre = (k + z^2 / 2) / (n + z^2)
        half width = z / (n + z^2) * sqrt(k (n - k) / n + z^2 / 4)
    """

    count: int  #: number of positions that meet the condition
    total: int  #: number of positions examined

    @property
    def fraction(self) -> float:
        """The count divided by the total, in [0, 1]; NaN if the total is 0."""
        return self.count / self.total if self.total else math.nan

    @property
    def interval(self) -> Interval:
        """95% confidence interval of the fraction, by the formula in the class docstring.

        It is [0, 1] if the total is 0.
        """
        if not self.total:
            return Interval(0.0, 1.0)
        count = self.count
        total = self.total
        square = Z_95**2
        centre = (count + square / 2) / (total + square)
        root = math.sqrt(count * (total - count) / total + square / 4)
        half = Z_95 / (total + square) * root
        return Interval(max(0.0, centre - half), min(1.0, centre + half))

    def to_plain(self) -> dict[str, Any]:
        """Convert the count, total, fraction and confidence interval to a dict for JSON."""
        return vars(self) | {"fraction": self.fraction, "interval": list(self.interval)}


class ValueReport(NamedTuple):
    """How close a player's position values are to the exact results, for the player to move."""

    mean_error: float  #: mean |value - exact result|, in [0, 2]
    #: Proportion of positions whose value predicts the exact result. A value above 1/3 predicts a
    #: win, one below -1/3 a loss, any other a draw.
    result_accuracy: Proportion


class Difference(NamedTuple):
    """One player's accuracy minus another's on the same positions, with a confidence interval."""

    mean: float  #: mean difference over the positions, in [-1, 1]
    low: float  #: lower end of the 95% confidence interval, if the positions are a random sample
    high: float  #: upper end of this interval


@dataclasses.dataclass(frozen=True)
class AccuracyReport:
    """A player's moves in N positions and whether each is as good as perfect play."""

    evaluation_set: EvaluationSet
    actions: np.ndarray  #: int32[N], the player's moves
    keeps_result: np.ndarray  #: bool[N], whether the move keeps the exact result
    is_optimal: np.ndarray  #: bool[N], whether the move has the best exact score
    #: how good the player's values are; None if it gives no values, or they were not measured
    values: ValueReport | None

    def accuracy(self, rows: np.ndarray | None = None) -> Proportion:
        """Return the proportion of positions in which the move keeps the exact result.

        Args:
            rows: bool[N], True for the positions to count; None means all.
        """
        return _proportion(self.keeps_result, rows)

    def optimal(self, rows: np.ndarray | None = None) -> Proportion:
        """Return the proportion of positions in which the move has the best exact score.

        Args:
            rows: bool[N], True for the positions to count; None means all.
        """
        return _proportion(self.is_optimal, rows)

    def misplayed(self) -> np.ndarray:
        """Return the indices of the positions in which the player's move gives up the exact result.

        Returns:
            int64[M], in ascending order.
        """
        return np.flatnonzero(~self.keeps_result)

    def failures(self, limit: int) -> list[Failure]:
        """Describe misplayed positions, in the set's order, with the moves that keep the result.

        Args:
            limit: maximum number of positions to describe.
        """
        positions = self.evaluation_set
        failures = []
        for row in self.misplayed()[:limit]:
            values = values_of(positions.action_scores[row])
            action = int(self.actions[row])
            best = int(positions.values[row])
            best_actions = np.flatnonzero(values == best).tolist()
            value = int(values[action])
            failures.append(Failure(positions.states[row], action, value, best, best_actions))
        return failures

    def to_plain(self) -> dict[str, Any]:
        """Convert the accuracy figures to nested dicts for JSON, overall and by ply."""
        figures = {"num_positions": len(self.evaluation_set)} | self._plain_rows(None)
        if self.values is not None:
            figures["value_error"] = self.values.mean_error
            figures["result_accuracy"] = self.values.result_accuracy.to_plain()
        bins = ply_bins(self.evaluation_set.plies)
        return figures | {"ply": {label: self._plain_rows(rows) for label, rows in bins.items()}}

    def _plain_rows(self, rows: np.ndarray | None) -> dict[str, Any]:
        return {
            "accuracy": self.accuracy(rows).to_plain(),
            "optimal": self.optimal(rows).to_plain(),
        }


def measure_accuracy(
    choose: Choose, evaluation_set: EvaluationSet, with_values: bool = True
) -> AccuracyReport:
    """Compare a player's moves in all positions of an evaluation set with perfect play.

    Args:
        choose: returns moves and values for a batch of states, such as `Player.choose`.
        evaluation_set: the positions, with the exact score of every move.
        with_values: whether to measure the values too; ``choose`` is then also called with the
            positions in `EvaluationSet.replies`.

    Raises:
        ValueError: if the player chooses an illegal action.
    """
    choice = choose(evaluation_set.states.copy())
    actions = np.asarray(choice.actions)
    chosen_scores = _scores_of(actions, evaluation_set)
    values = np.asarray(choice.values)
    return AccuracyReport(
        evaluation_set,
        actions,
        keeps_result=values_of(chosen_scores) == evaluation_set.values,
        is_optimal=chosen_scores == evaluation_set.action_scores.max(axis=1),
        values=_value_report(choose, evaluation_set, values) if with_values else None,
    )


def ply_bins(plies: np.ndarray) -> dict[str, np.ndarray]:
    """Group positions by ply into at most seven ranges of equal width, such as "4 to 7".

    Args:
        plies: int[N], number of moves that lead to each position.

    Returns:
        {label: bool[N]}, True for the positions in the range; empty ranges are left out.
    """
    first = int(plies.min())
    last = int(plies.max())
    width = -(-(last - first + 1) // _MAX_PLY_BINS)
    bins = {}
    for low in range(first, last + 1, width):
        high = min(low + width - 1, last)
        rows = (plies >= low) & (plies <= high)
        if rows.any():
            bins[f"{low} to {high}" if high > low else str(low)] = rows
    return bins


def difference(correct: np.ndarray, baseline: np.ndarray) -> Difference:
    """Compute by how much one player's accuracy exceeds another's on the same N positions.

    If d is the difference at each position (-1, 0 or 1), the variance of its mean is var(d) / N.

    Args:
        correct: bool[N], whether each move of the player is correct.
        baseline: bool[N], whether each move of the other player is correct.

    Returns:
        The accuracy of ``correct`` minus that of ``baseline``, with a 95% confidence interval.
    """
    by_position = correct.astype(float) - baseline
    mean = float(by_position.mean())
    half = Z_95 * math.sqrt(by_position.var(ddof=1) / len(by_position))
    return Difference(mean, mean - half, mean + half)


def _scores_of(actions: np.ndarray, evaluation_set: EvaluationSet) -> np.ndarray:
    """Return the exact score of the action chosen in each position, for the player to move.

    Args:
        actions: int[N], one action for each position of the evaluation set.
        evaluation_set: the positions, with the exact score of every move.

    Returns:
        int16[N], the scores.

    Raises:
        ValueError: if an action is illegal.
    """
    scores = evaluation_set.action_scores
    inside = (actions >= 0) & (actions < scores.shape[1])
    chosen = scores[np.arange(len(scores)), np.where(inside, actions, 0)]
    illegal = np.flatnonzero(~inside | (chosen == ILLEGAL_SCORE))
    if len(illegal):
        row = illegal[0]
        raise ValueError(
            f"the player chose action {actions[row]}, "
            f"which is illegal after the moves {list(evaluation_set.moves[row])}."
        )
    return chosen


def _value_report(
    choose: Choose, evaluation_set: EvaluationSet, values: np.ndarray
) -> ValueReport | None:
    """Compare a player's values with the exact results; return None if the player has no values.

    Args:
        choose: returns the player's values for the positions in `EvaluationSet.replies`.
        evaluation_set: the positions, with their exact results.
        values: float32[N], the player's values in the set's positions, for the player to move.
    """
    if np.isnan(values).any():
        return None
    exact = evaluation_set.values
    if len(evaluation_set.replies):
        values = np.concatenate([values, choose(evaluation_set.replies.copy()).values])
        exact = np.concatenate([exact, evaluation_set.reply_values])
    predicted = (values > _DRAW_THRESHOLD).astype(int) - (values < -_DRAW_THRESHOLD)
    mean_error = float(np.abs(values - exact).mean())
    return ValueReport(mean_error, _proportion(predicted == exact))


def _proportion(mask: np.ndarray, rows: np.ndarray | None = None) -> Proportion:
    mask = mask if rows is None else mask[rows]
    return Proportion(int(mask.sum()), len(mask))
