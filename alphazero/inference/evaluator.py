"""The interface between search and network: input planes in, prior logits and values out.

The search depends only on this protocol. `alphazero.inference.network_evaluator` implements it with
a network; the uniform evaluator in this module serves tests and benchmarks of the search.

`checked` keeps outputs that are not finite, or out of range, from reaching a search, which would
follow a NaN out of its tree. Finite weights do not imply finite outputs: a damaged or forged file,
or a diverged run, may contain weights of 1e30.
"""

from typing import Protocol

import numpy as np

from alphazero.runtime.errors import InputError


class Evaluator(Protocol):
    """Evaluates batches of positions, such as the leaf nodes of search trees.

    Contract: batch rows are independent, up to rounding; values are from the viewpoint of the
    player to move; illegal actions may have any finite logit, because the search masks them.
    """

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate B positions.

        Args:
            planes: float32[B, C, H, W], B >= 1.

        Returns:
            prior_logits: float32[B, A], logits of the policy.
            values: float32[B], in [-1, 1], for the player to move.
        """
        ...


class UniformEvaluator:
    """Gives every action the same prior, and every position the value 0, at almost no cost."""

    def __init__(self, num_actions: int):
        self._num_actions = num_actions

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return logits and values of 0; see `Evaluator.evaluate`."""
        logits = np.zeros((len(planes), self._num_actions), np.float32)
        return logits, np.zeros(len(planes), np.float32)


_LARGEST_VALUE = 1.001  # half precision may round to slightly above 1


class ImpossibleAnswersError(InputError):
    """A network cannot play, because its outputs have the wrong shape, or impossible values."""


def checked(
    answers: tuple[np.ndarray, np.ndarray], num_rows: int, num_actions: int
) -> tuple[np.ndarray, np.ndarray]:
    """Check the outputs of an engine, and return them unchanged.

    Args:
        answers: prior logits and values, see `alphazero.inference.evaluator.Evaluator.evaluate`.
        num_rows: B, the number of evaluated positions.
        num_actions: A, the number of actions.

    Raises:
        ImpossibleAnswersError: if they are not finite float32[B, A], and float32[B] in [-1, 1].
    """
    logits, values = answers
    if logits.shape != (num_rows, num_actions) or values.shape != (num_rows,):
        shapes = (logits.shape, values.shape)
        wanted = ((num_rows, num_actions), (num_rows,))
        raise _error(f"its prior logits and values have the shapes {shapes}, not {wanted}")
    if not np.isfinite(logits).all():
        raise _error("its prior logits are not all finite numbers")
    if not (np.abs(values) <= _LARGEST_VALUE).all():  # false for NaN
        raise _error("its values are not all between -1 and 1")
    return answers


def _error(reason: str) -> ImpossibleAnswersError:
    return ImpossibleAnswersError(
        f"the network's answers are impossible: {reason}. Either its weights are damaged, or its "
        "training diverged; take another network."
    )
