"""Two ways of training, compared on the same positions: how much more often does one keep the exact result, and how sure is that?

In: for each way, which positions each of its runs plays right. Out: the difference with its 95 % interval. Two things could have fallen out otherwise:
the positions, and the runs' seeds. Positions are shared, so that the difference is taken position by position; seeds are not.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.report import Z_95


class Difference(NamedTuple):
    """A difference of two shares."""

    mean: float  #: in [-1, 1]
    low: float  #: 95 % interval
    high: float
    over_seeds: bool  #: whether the interval knows how runs of different seeds vary; with one run of a way it knows of the positions alone


def difference(is_kept: np.ndarray, baseline: np.ndarray) -> Difference:
    """Return by how much the share of right moves differs from the baseline's.

    With d the mean over the runs of one way less that of the other at each position: variance = var(d) / N, for the positions, plus the variance of
    the runs' shares over the number of runs, of either way.

    Args:
        is_kept, baseline: bool[R, N] and bool[S, N], for each run and position whether the move is right.
    """
    by_position = is_kept.mean(axis=0) - baseline.mean(axis=0)
    variance = by_position.var(ddof=1) / len(by_position)
    over_seeds = len(is_kept) > 1 and len(baseline) > 1
    if over_seeds:
        variance += sum(
            np.var(runs.mean(axis=1), ddof=1) / len(runs) for runs in (is_kept, baseline)
        )
    half = Z_95 * math.sqrt(variance)
    mean = float(by_position.mean())
    return Difference(mean, mean - half, mean + half, over_seeds)
