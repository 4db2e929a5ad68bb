"""A match that ends as soon as its question is decided: the sequential probability ratio test (SPRT).

In: the pairs of games played so far. Out: which of two hypotheses is accepted, if any: H0, "A's rating minus B's is elo0", or H1, "it is
elo1". Wald ("Sequential tests of statistical hypotheses", 1945): go on while the logarithm of the likelihood ratio of H1 to H0, the LLR,
is between log(beta / (1 - alpha)) and log((1 - beta) / alpha); then H1 is accepted wrongly with a probability of at most about alpha, H0 with
one of at most about beta, and no test of these errors needs fewer games on average.

A pair of games with colours swapped is one observation x in {0, 1/4, 1/2, 3/4, 1}, whose five probabilities nobody knows. As in the
tests of chess programs (fishtest, fastchess), the generalised test takes for each hypothesis the probabilities of largest likelihood among
those whose mean is the expected score s of the hypothesis (Van den Bergh, "A practical introduction to the GSPRT"). With the observed shares f
they are

    f(x) / (1 + t (x - s))    where t solves    sum over x  f(x) (x - s) / (1 + t (x - s)) = 0
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from alphazero.evaluation.report import score_from_elo

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
UNSEEN = 1e-3  # what stands for the count of a result that has not occurred, which would make its probability exactly 0


class SprtResult(NamedTuple):
    """Where the test stands."""

    llr: float  #: logarithm of the likelihood ratio of H1 to H0
    accepted: str | None  #: "H0", "H1", or None while the question is open
    num_pairs: int


@dataclass(frozen=True)
class Sprt:
    """The question: is player A's rating minus player B's nearer to ``elo0`` or to ``elo1``?

    Args:
        alpha: largest probability of accepting H1 where H0 is true.
        beta: largest probability of accepting H0 where H1 is true.

    Raises:
        ValueError: with one plain sentence for numbers that are no question.
    """

    elo0: float = 0.0
    elo1: float = 50.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self):
        if not self.elo0 < self.elo1:
            raise ValueError(
                f"elo0={self.elo0:g} is not below elo1={self.elo1:g}: the test asks which of the two the rating difference is."
            )
        if not (0.0 < self.alpha < 0.5 and 0.0 < self.beta < 0.5):
            raise ValueError(
                f"alpha and beta are probabilities of errors, between 0 and 0.5: {self.alpha:g} and {self.beta:g} are not."
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLR at or below which H0 is accepted, and that at or above which H1 is."""
        return math.log(self.beta / (1.0 - self.alpha)), math.log((1.0 - self.beta) / self.alpha)

    def test(self, pair_counts: Sequence[int]) -> SprtResult:
        """Return where the test stands after some pairs, see `log_likelihood_ratio`."""
        llr = log_likelihood_ratio(pair_counts, self.elo0, self.elo1)
        low, high = self.bounds
        return SprtResult(
            llr, "H0" if llr <= low else "H1" if llr >= high else None, sum(pair_counts)
        )


def log_likelihood_ratio(pair_counts: Sequence[int], elo0: float, elo1: float) -> float:
    """Return the LLR of ``elo1`` to ``elo0``.

    Args:
        pair_counts: pairs of games in which player A's mean score was 0, 1/4, 1/2, 3/4, 1.
    """
    counts = [count or UNSEEN for count in pair_counts]
    scores = [score_from_elo(elo) for elo in (elo0, elo1)]
    tilts = [_tilt(counts, score) for score in scores]
    return sum(
        count * math.log((1.0 + tilts[0] * (x - scores[0])) / (1.0 + tilts[1] * (x - scores[1])))
        for count, x in zip(counts, PAIR_SCORES)
    )


def _tilt(counts, mean: float) -> float:
    """Return the t of the head of this file; the sum falls as t grows, between the poles of its first and its last term."""
    low, high = -1.0 / (1.0 - mean), 1.0 / mean
    for _ in range(60):  # halvings: more than a float has bits
        middle = (low + high) / 2.0
        if (
            sum(
                count * (x - mean) / (1.0 + middle * (x - mean))
                for count, x in zip(counts, PAIR_SCORES)
            )
            > 0.0
        ):
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
