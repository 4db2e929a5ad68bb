"""The interface between search and network: input planes in, policy logits and values out.

Search depends only on the protocol `Evaluator`. `alphazero.inference.network_evaluator` implements
it with a network; `UniformEvaluator` is for tests and benchmarks of search.

`checked` rejects outputs that are not finite or out of range before they reach a search, whose
kernels could index outside the tree because of a NaN. Finite weights do not guarantee finite
outputs: a damaged or forged file, or a diverged run, may contain weights such as 1e30.
"""

from typing import Protocol

import numpy as np

from alphazero.runtime.errors import InputError


class Evaluator(Protocol):
    """Evaluates batches of positions, such as the leaf nodes of search trees.

    Every implementation obeys these rules:

    - a row's result does not depend on the other rows of the batch, except for rounding;
    - values are from the viewpoint of the player to move;
    - illegal actions may have any finite logit, because search masks them.
    """

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate a batch of B positions.

        Args:
            planes: float32[B, C, H, W], the network's input, from the viewpoint of the player to
                move; B >= 1.

        Returns:
            prior_logits: float32[B, A], the policy as logits.
            values: float32[B], in [-1, 1], for the player to move.
        """
        ...


class UniformEvaluator:
    """Gives all actions equal priors and every position the value 0, at almost no cost.

    Args:
        num_actions: A, the number of policy logits.
    """

    def __init__(self, num_actions: int):
        self._num_actions = num_actions

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return logits of 0 and values of 0 for all positions; see `Evaluator.evaluate`."""
        logits = np.zeros((len(planes), self._num_actions), np.float32)
        return logits, np.zeros(len(planes), np.float32)


LARGEST_VALUE = 1.001  #: half precision may round to slightly above 1


class ImpossibleAnswersError(InputError):
    """Raised if a network's outputs have the wrong shape or are not finite or out of range.

    The range of values is [-1, 1], except for rounding.
    """


def checked(
    answers: tuple[np.ndarray, np.ndarray], num_rows: int, num_actions: int
) -> tuple[np.ndarray, np.ndarray]:
    """Check the shapes and ranges of an engine's outputs, and return the outputs unchanged.

    Args:
        answers: the policy logits and values that `Evaluator.evaluate` returned.
        num_rows: B, the number of evaluated positions.
        num_actions: A, the number of actions of the game, legal or not.

    Raises:
        ImpossibleAnswersError: if the shapes are not [B, A] and [B], a logit is not finite, or a
            value is NaN or outside [-1, 1] by more than rounding.
    """
    logits, values = answers
    if logits.shape != (num_rows, num_actions) or values.shape != (num_rows,):
        shapes = (logits.shape, values.shape)
        wanted = ((num_rows, num_actions), (num_rows,))
        raise impossible(f"its prior logits and values have the shapes {shapes}, not {wanted}")
    if not np.isfinite(logits).all():
        raise impossible("its prior logits are not all finite numbers")
    if not (np.abs(values) <= LARGEST_VALUE).all():  # false for NaN
        raise impossible("its values are not all between -1 and 1")
    return answers


def impossible(reason: str) -> ImpossibleAnswersError:
    """Return the error for impossible answers of a network, given what is wrong with them."""
    return ImpossibleAnswersError(
        f"the network's answers are impossible: {reason}. Either its weights are damaged, or its "
        "training diverged; take another network."
    )
