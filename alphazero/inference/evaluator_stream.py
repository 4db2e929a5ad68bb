"""The evaluator of one self-play worker: a cache of its own in front of an engine that all share.

In: planes, from one thread. Out: prior logits and values, and counts of the work. Knows neither the
network's weights nor how the engine is chosen.
"""

import time
from typing import NamedTuple

import numpy as np

from alphazero.inference.cache import CachedEvaluator
from alphazero.inference.verified_engine import VerifiedEngine


class StreamCounts(NamedTuple):
    """The work of a stream since it was made."""

    num_requested: int  #: positions asked for
    num_evaluated: int  #: of these, the ones that the network evaluated; the cache had the others
    network_s: float  #: wall-clock seconds inside the engine


class EvaluatorStream:
    """The `Evaluator` of one worker; it computes on the calling thread.

    Each stream has its own cache. A shared cache would have slightly more hits, but which thread
    fills it first would then decide the last bits of an answer, and no run could be repeated.

    Args:
        game: for the planes' shape and the symmetries.
        cache_bytes: limit for the cache; 0 disables it.
        cache_symmetries: symmetric positions share an entry of the cache.
    """

    def __init__(self, engine: VerifiedEngine, game, cache_bytes: int, cache_symmetries: bool):
        self._engine = _CountingEngine(engine)
        self._cache = None
        if cache_bytes:
            used = slice(None) if cache_symmetries else slice(1)  # the first one is the identity
            tables = (game.cell_symmetries[used], game.action_symmetries[used])
            self._cache = CachedEvaluator(self._engine, game.planes_shape, *tables, cache_bytes)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.inference.evaluator.Evaluator.evaluate`."""
        return (self._cache or self._engine).evaluate(planes)

    def clear_cache(self) -> None:
        """Forget all answers; call it when the weights change."""
        if self._cache is not None:
            self._cache.clear()

    @property
    def counts(self) -> StreamCounts:
        """The work so far."""
        num_evaluated = self._engine.num_evaluated
        num_requested = num_evaluated if self._cache is None else self._cache.num_lookups
        return StreamCounts(num_requested, num_evaluated, self._engine.seconds)


class _CountingEngine:
    """Passes positions on to the engine in use; counts them and the time."""

    def __init__(self, engine: VerifiedEngine):
        self._engine = engine
        self.num_evaluated = 0
        self.seconds = 0.0

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        start = time.perf_counter()
        answer = self._engine.current.evaluate(planes)
        self.seconds += time.perf_counter() - start
        self.num_evaluated += len(planes)
        return answer
