"""The interface between search and network: input planes in, policy logits and values out.

Search depends only on `Evaluator`. `alphazero.inference.network_evaluator` implements it with a
network, which an `Engine` runs; `UniformEvaluator` is for tests and benchmarks of search.

`checked` rejects outputs that are not finite or out of range before they reach a search, whose
kernels could index outside the tree because of a NaN. Finite weights do not guarantee finite
outputs: a damaged or forged file, or a diverged run, may contain weights such as 1e30.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from alphazero.inference.line_tables import LineTables
from alphazero.inference.window_tables import WindowTables
from alphazero.runtime.errors import InputError

if TYPE_CHECKING:  # importing torch takes seconds; a search without a network does not need it
    import torch


class Evaluator(abc.ABC):
    """Evaluates batches of positions, such as the leaf nodes of search trees.

    Every implementation obeys these rules:

    - a row's result does not depend on the other rows of the batch, except for rounding;
    - values are from the viewpoint of the player to move;
    - illegal actions may have any finite logit, because search masks them.
    """

    @property
    def engine(self) -> Engine | None:
        """The engine that runs the network now; None if there is no network.

        `alphazero.inference.backends` chooses a search that suits it.
        """
        return None

    @abc.abstractmethod
    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate a batch of B positions.

        Args:
            planes: float32[B, C, H, W], the network's input, from the viewpoint of the player to
                move; B >= 1.

        Returns:
            prior_logits: float32[B, A], the policy as logits.
            values: float32[B], in [-1, 1], for the player to move.
        """


class Engine(Evaluator):
    """Runs the forward pass of one network, with a particular library and number format.

    Networks are torch modules; planes and outputs are numpy arrays. Several threads may call
    `evaluate` at the same time. On a CPU, each call uses a single thread, so that one call per core
    keeps all cores busy.
    """

    #: The network as tables, which kernels of a search can look up; None if it has another form.
    tables: LineTables | WindowTables | None = None
    #: The GPUs that hold the network and can hold searches, too; empty for any other engine.
    gpus: Sequence[torch.device] = ()

    @property
    def engine(self) -> Engine:
        """This engine."""
        return self

    @abc.abstractmethod
    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Copy a network's weights into the engine; no other call of the engine may be running.

        Args:
            network: a torch module (see `alphazero.network.registry.make_network`).
            planes: float32[M, C, H, W], positions of the game, for engines that need example input
                to convert or to quantize a network.
        """


class UniformEvaluator(Evaluator):
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
