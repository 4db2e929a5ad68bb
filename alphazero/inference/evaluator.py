"""The seam between search and network: input planes in, prior logits and value out.

A search only sees this protocol. The network's engine is in `alphazero.network.registry`; the uniform one here serves tests and the benchmark of
the search alone.
"""

from typing import Protocol

import numpy as np


class Evaluator(Protocol):
    """Answers leaves in batches.

    Laws: rows are independent (a row's answer does not depend on the others, up to rounding); values are from the viewpoint of the player to
    move; illegal actions may have any finite logit, the search masks them.
    """

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate M positions.

        Args:
            planes: float32[M, C, H, W], M >= 1.

        Returns:
            prior_logits: float32[M, A].
            values: float32[M], in [-1, 1].
        """
        ...


class UniformEvaluator:
    """Gives every action the same prior and every position the value 0, at no cost."""

    def __init__(self, num_actions: int):
        self._num_actions = num_actions

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Evaluator.evaluate`."""
        return np.zeros((len(planes), self._num_actions), np.float32), np.zeros(
            len(planes), np.float32
        )
