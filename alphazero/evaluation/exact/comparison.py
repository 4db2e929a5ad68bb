"""The difference in accuracy between two training configurations, with its 95% interval.

In: for each run of either configuration, whether its move is correct in each position. Out: the
difference of the two accuracies. There are two sources of variance, the choice of positions and the
seeds of the runs. All runs answer the same positions, so the difference is taken position by
position; seeds are independent.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.report import Z_95


class Difference(NamedTuple):
    """A difference of two accuracies."""

    mean: float  #: in [-1, 1]
    low: float  #: 95% interval
    high: float
    #: Whether the interval covers the variation between seeds. It takes two runs of both
    #: configurations; otherwise it covers the choice of positions alone.
    over_seeds: bool


def difference(correct: np.ndarray, baseline: np.ndarray) -> Difference:
    """Return by how much the accuracy of one configuration exceeds that of the baseline.

    With d the difference of the means over runs at each position, the variance is var(d) / N for
    the positions, plus, for each configuration, the variance of its runs' accuracies divided by
    the number of runs.

    Args:
        correct, baseline: bool[R, N] and bool[S, N], whether each run's move is correct.
    """
    by_position = correct.mean(axis=0) - baseline.mean(axis=0)
    variance = by_position.var(ddof=1) / len(by_position)
    over_seeds = len(correct) > 1 and len(baseline) > 1
    if over_seeds:
        variance += sum(
            np.var(runs.mean(axis=1), ddof=1) / len(runs) for runs in (correct, baseline)
        )
    half = Z_95 * math.sqrt(variance)
    mean = float(by_position.mean())
    return Difference(mean, mean - half, mean + half, over_seeds)
