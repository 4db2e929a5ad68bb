"""The interface between search and network: input planes in, prior logits and values out.

A search depends on this protocol only. `alphazero.inference.network_evaluator` implements it with a
network; the uniform evaluator here serves tests and benchmarks of the search alone.
"""

from typing import Protocol

import numpy as np


class Evaluator(Protocol):
    """Evaluates leaves in batches.

    Laws: batch rows are independent, up to rounding; values are from the viewpoint of the player to
    move; illegal actions may have any finite logit, because the search masks them.
    """

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate B positions.

        Args:
            planes: float32[B, C, H, W], B >= 1.

        Returns:
            prior_logits: float32[B, A].
            values: float32[B], in [-1, 1].
        """
        ...


class UniformEvaluator:
    """Gives every action the same prior and every position the value 0, at no cost."""

    def __init__(self, num_actions: int):
        self._num_actions = num_actions

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Evaluator.evaluate`."""
        logits = np.zeros((len(planes), self._num_actions), np.float32)
        return logits, np.zeros(len(planes), np.float32)
