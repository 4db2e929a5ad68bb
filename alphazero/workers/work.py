"""The work of self-play, counted: simulations, evaluations and where the time went."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alphazero.inference.cache import CachedEvaluator
from alphazero.selfplay.threads import ParallelSelfPlay


class SelfPlayWork(NamedTuple):
    """Work of self-play, added up over its threads."""

    num_simulations: int  #: simulations whose leaf was new
    num_evaluations: int  #: positions that search passed to the evaluator
    num_batches: int
    total_depth: int  #: of the new leaves
    evaluator_s: float  #: wall seconds inside the evaluator
    num_proven_leaves: int  #: new leaves whose result an exact search proved
    exact_s: float  #: wall seconds inside the exact search
    num_requested: int  #: the same positions, counted by the evaluator
    num_evaluated: int  #: of these, positions that the network answered; the cache had the others
    network_s: float  #: wall seconds inside the engine
    thread_s: float = 0.0  #: wall seconds of all threads that played

    @classmethod
    def now(cls, selfplay: ParallelSelfPlay, streams: Sequence[CachedEvaluator]) -> "SelfPlayWork":
        """Return the counts since self-play was made, without `thread_s`."""
        counts = np.sum([stream.counts for stream in streams], axis=0)
        return cls(*dataclasses.astuple(selfplay.counts), *counts)

    def since(self, before: "SelfPlayWork") -> "SelfPlayWork":
        """Return the work done after ``before``."""
        return SelfPlayWork._make(count - old for count, old in zip(self, before))

    def plus(self, more: Sequence[float]) -> "SelfPlayWork":
        """Return the sum of this work and other work."""
        return SelfPlayWork._make(count + other for count, other in zip(self, more, strict=True))


NO_WORK = SelfPlayWork(*[0] * len(SelfPlayWork._fields))
