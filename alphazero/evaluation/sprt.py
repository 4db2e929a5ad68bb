"""The sequential probability ratio test (SPRT), which ends a match once a hypothesis is accepted.

From the scores of the pairs of games so far, it decides which hypothesis to accept, if any: H0,
"A's rating minus B's is elo0", or H1, "it is elo1". The test goes on while the log-likelihood ratio
(LLR) of H1 to H0 is between -log(19) and log(19) (Wald, "Sequential tests of statistical
hypotheses", 1945). The probability of wrongly accepting either is then about 5% at most. No other
test with these error probabilities needs fewer games on average.

A pair of games with colours swapped is one observation x in {0, 1/4, 1/2, 3/4, 1}, whose five
probabilities are unknown. We use the generalised test used for chess engines (fishtest, fastchess).
For each hypothesis, it takes the most likely probabilities among those whose mean is the expected
score s of the hypothesis (Van den Bergh, "A practical introduction to the GSPRT"). With the
observed frequencies f they are

    f(x) / (1 + t (x - s))    where t solves    sum over x  f(x) (x - s) / (1 + t (x - s)) = 0
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from alphazero.evaluation.report import PAIR_SCORES, score_from_elo
from alphazero.runtime.errors import ConfigError

#: Approximate maximum probability of accepting H1 if H0 is true, and H0 if H1 is true.
ERROR_PROBABILITY = 0.05
#: The test accepts H1 at this log-likelihood ratio, H0 at its negative.
LLR_BOUND = math.log((1.0 - ERROR_PROBABILITY) / ERROR_PROBABILITY)
# Replaces a count of 0, for a score that has not occurred: 0 would make its probability exactly 0.
UNSEEN = 1e-3


class SprtResult(NamedTuple):
    """The state of the sequential test after the pairs of games played so far."""

    llr: float  #: log-likelihood ratio of H1 to H0
    accepted: str | None  #: "H0", "H1", or None while the test is undecided
    num_pairs: int  #: number of pairs of games tested


@dataclass(frozen=True)
class Sprt:
    """A sequential test of whether player A's rating minus player B's is ``elo0`` or ``elo1``.

    Args:
        elo0: rating difference, in Elo, under hypothesis H0.
        elo1: rating difference, in Elo, under hypothesis H1.

    Raises:
        ConfigError: if elo0 is not less than elo1.
    """

    elo0: float = 0.0
    elo1: float = 50.0

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            reason = f"elo1 is {self.elo1:g}"
            raise ConfigError.of("elo0", self.elo0, f"less than {self.elo1:g}", reason)

    def test(self, pair_counts: Sequence[float]) -> SprtResult:
        """Return the log-likelihood ratio, and which hypothesis is accepted, for the given pairs.

        Args:
            pair_counts: numbers of pairs in which player A's mean score was 0, 1/4, 1/2, 3/4 and 1.
        """
        llr = log_likelihood_ratio(pair_counts, self.elo0, self.elo1)
        accepted = "H0" if llr <= -LLR_BOUND else "H1" if llr >= LLR_BOUND else None
        return SprtResult(llr, accepted, round(sum(pair_counts)))

    def is_decided(self, pair_counts: Sequence[float]) -> bool:
        """Return whether the games played so far suffice to accept one of the hypotheses.

        Args:
            pair_counts: numbers of pairs in which player A's mean score was 0, 1/4, 1/2, 3/4 and 1.
        """
        return self.test(pair_counts).accepted is not None


def log_likelihood_ratio(pair_counts: Sequence[float], elo0: float, elo1: float) -> float:
    """Compute the log-likelihood ratio of the hypothesis ``elo1`` to the hypothesis ``elo0``.

    A positive ratio favours ``elo1``.

    Args:
        pair_counts: numbers of pairs in which player A's mean score was 0, 1/4, 1/2, 3/4 and 1.
        elo0: player A's rating minus player B's, in Elo, under hypothesis H0.
        elo1: player A's rating minus player B's, in Elo, under hypothesis H1.
    """
    counts = [count or UNSEEN for count in pair_counts]
    score0 = score_from_elo(elo0)
    score1 = score_from_elo(elo1)
    tilt0 = _tilt(counts, score0)
    tilt1 = _tilt(counts, score1)
    return sum(
        count * math.log((1.0 + tilt0 * (x - score0)) / (1.0 + tilt1 * (x - score1)))
        for count, x in zip(counts, PAIR_SCORES)
    )


def _tilt(counts: Sequence[float], mean: float) -> float:
    """Return t, the tilt of the most likely probabilities of pair scores with a given mean.

    The probability of the score x is f(x) / (1 + t (x - mean)), where f(x) is its observed
    frequency; see the module docstring. The equation for t is solved by bisection: its sum falls as
    t grows, and t lies between the poles of the sum's first and last terms.

    Args:
        counts: numbers of pairs with each of `PAIR_SCORES`, all positive.
        mean: the expected score under the hypothesis.
    """
    low = -1.0 / (1.0 - mean)
    high = 1.0 / mean
    for _ in range(60):  # more halvings than a float has bits
        middle = (low + high) / 2.0
        terms = (
            count * (x - mean) / (1.0 + middle * (x - mean))
            for count, x in zip(counts, PAIR_SCORES)
        )
        if sum(terms) > 0.0:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
