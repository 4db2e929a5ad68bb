"""How exactly a player plays: its moves and values on the positions of an evaluation set, beside perfect play.

In: a function that chooses moves, and an `EvaluationSet`. Out: an `AccuracyReport`. A move *keeps* the result if its exact result is that of the best move,
and is *optimal* if its exact score is the best one (for Connect-X: the fastest win, the slowest loss). A share of n positions, k of them right, has
the 95 % interval of E. B. Wilson ("Probable inference", 1927), which also holds near 0 and 1:

    centre = (k + z^2 / 2) / (n + z^2)        half width = z / (n + z^2) * sqrt(k (n - k) / n + z^2 / 4)

Letters for shapes: N positions, K state words, A actions.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.exact.kinds import KINDS
from alphazero.evaluation.exact.sets import SOURCES, EvaluationSet
from alphazero.evaluation.report import Z_95, Interval
from alphazero.players.base import Choice
from alphazero.solvers.solver import ILLEGAL_SCORE, values_of

_NUM_PLY_BINS = 7
_DRAWISH = (
    1.0 / 3.0
)  # values up to here, on either side of 0, are read as a draw: each result has a third of [-1, 1]


class Share(NamedTuple):
    """Some positions out of a number of them."""

    count: int
    total: int

    @property
    def share(self) -> float:
        return self.count / self.total if self.total else math.nan

    @property
    def interval(self) -> Interval:
        """The 95 % interval; see the head of this file."""
        if not self.total:
            return Interval(0.0, 1.0)
        count, total, square = self.count, self.total, Z_95**2
        centre = (count + square / 2) / (total + square)
        half = Z_95 / (total + square) * math.sqrt(count * (total - count) / total + square / 4)
        return Interval(max(0.0, centre - half), min(1.0, centre + half))


class PlyBin(NamedTuple):
    """Positions of neighbouring plies."""

    first: int
    last: int  #: included

    def __str__(self) -> str:
        return f"{self.first} to {self.last}" if self.last > self.first else str(self.first)


class ValueReport(NamedTuple):
    """How far a player's values are from the exact results."""

    mean_error: float  #: mean |value - exact result|, in [0, 2]
    result_accuracy: Share  #: positions whose value tells the result: above 1/3 a win, below -1/3 a loss, between them a draw


@dataclasses.dataclass(frozen=True)
class AccuracyReport:
    """What `measure_accuracy` found. ``rows`` (bool[N]) limits a figure to some of the positions."""

    evaluation_set: EvaluationSet
    actions: np.ndarray  #: int32[N], the moves chosen
    is_kept: np.ndarray  #: bool[N], the move has the best possible result
    is_optimal: np.ndarray  #: bool[N], the move has the best possible score
    values: ValueReport | None  #: None where the player has no opinion, or was not asked

    def kept(self, rows: np.ndarray | None = None) -> Share:
        """Return how many moves keep the best possible result."""
        return _share(self.is_kept, rows)

    def optimal(self, rows: np.ndarray | None = None) -> Share:
        """Return how many moves have the best possible score."""
        return _share(self.is_optimal, rows)

    def misplayed(self) -> np.ndarray:
        """Return int64[M]: the positions whose move does not keep the result."""
        return np.flatnonzero(~self.is_kept)

    def to_plain(self) -> dict:
        """Return the figures as plain data for JSON."""
        groups = {
            heading: {
                label: {"kept": _plain(self.kept(rows)), "optimal": _plain(self.optimal(rows))}
                for label, rows in group.items()
            }
            for heading, group in groups_of(self.evaluation_set).items()
        }
        figures = {
            "num_positions": len(self.evaluation_set),
            "kept": _plain(self.kept()),
            "optimal": _plain(self.optimal()),
        }
        if self.values is not None:
            figures |= {
                "value_error": self.values.mean_error,
                "result_accuracy": _plain(self.values.result_accuracy),
            }
        return figures | groups


def measure_accuracy(
    choose: Callable[[np.ndarray], Choice], evaluation_set: EvaluationSet, with_values: bool = True
) -> AccuracyReport:
    """Ask a player about every position of a set.

    Args:
        choose: from positions ([N, K]) to moves and values, such as `alphazero.players.base.Player.choose`.
        with_values: look at its values too, for which it is also asked about the set's replies.

    Raises:
        ValueError: if the player chooses an illegal action.
    """
    choice = choose(evaluation_set.states.copy())
    scores, actions = evaluation_set.action_scores, np.asarray(choice.actions)
    inside = (actions >= 0) & (actions < scores.shape[1])
    chosen = np.where(
        inside, scores[np.arange(len(scores)), np.where(inside, actions, 0)], ILLEGAL_SCORE
    )
    for row in np.flatnonzero(chosen == ILLEGAL_SCORE):
        raise ValueError(
            f"the player chose action {actions[row]}, which is not legal after the moves {list(evaluation_set.moves[row])}."
        )
    is_kept = values_of(chosen) == evaluation_set.values
    values = (
        _value_report(choose, evaluation_set, np.asarray(choice.values)) if with_values else None
    )
    return AccuracyReport(evaluation_set, actions, is_kept, chosen == scores.max(axis=1), values)


def groups_of(evaluation_set: EvaluationSet) -> dict[str, dict[str, np.ndarray]]:
    """Return the groups that figures are told apart by, "kind", "source" and "ply": each a label and bool[N], groups without a position left out."""
    plies = evaluation_set.plies
    groups = {
        "kind": {kind: evaluation_set.kinds == kind for kind in KINDS},
        "source": {source: evaluation_set.sources == source for source in SOURCES},
        "ply": {
            str(plies_of): (plies >= plies_of.first) & (plies <= plies_of.last)
            for plies_of in ply_bins(evaluation_set)
        },
    }
    return {
        heading: {label: rows for label, rows in group.items() if rows.any()}
        for heading, group in groups.items()
    }


def ply_bins(evaluation_set: EvaluationSet) -> list[PlyBin]:
    """Return at most seven bins of equal width that hold every ply of a set."""
    first, last = int(evaluation_set.plies.min()), int(evaluation_set.plies.max())
    width = -(-(last - first + 1) // _NUM_PLY_BINS)
    return [PlyBin(start, min(start + width - 1, last)) for start in range(first, last + 1, width)]


def _value_report(choose, evaluation_set: EvaluationSet, values: np.ndarray) -> ValueReport | None:
    """Compare ``values`` (float32[N], of the set's positions) and those of its replies with the exact results."""
    if np.isnan(values).any():
        return None
    exact = evaluation_set.values
    if len(evaluation_set.replies):
        values = np.concatenate([values, choose(evaluation_set.replies.copy()).values])
        exact = np.concatenate([exact, evaluation_set.reply_values])
    told = (values > _DRAWISH).astype(int) - (values < -_DRAWISH)
    return ValueReport(
        float(np.abs(values - exact).mean()), Share(int((told == exact).sum()), len(exact))
    )


def _share(right: np.ndarray, rows: np.ndarray | None) -> Share:
    right = right if rows is None else right[rows]
    return Share(int(right.sum()), len(right))


def _plain(share: Share) -> dict:
    return {
        "count": share.count,
        "total": share.total,
        "share": share.share,
        "interval": list(share.interval),
    }
