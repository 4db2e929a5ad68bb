"""Defines the protocol of engines, evaluators that run the forward pass of a network.

Networks are torch modules; planes and outputs are numpy arrays. `engines.registry` chooses and
makes engines, `engines.agreement` measures their accuracy, and
`alphazero.inference.verified_engine` replaces an engine that is not accurate enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:  # importing torch takes seconds; naming an engine does not need it
    import torch


class Engine(Protocol):
    """Runs the forward pass of one network, with a particular library and number format.

    An engine follows the rules of `alphazero.inference.evaluator.Evaluator`. In addition, several
    threads may call `evaluate` at the same time. On a CPU, each call uses a single thread,
    so that one call per core keeps all cores busy.
    """

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Copy a network's weights into the engine; no other call of the engine may be running.

        Args:
            network: a torch module (see `alphazero.network.registry.make_network`).
            planes: float32[M, C, H, W], positions of the game, for engines that need example input
                to convert or to quantize a network.
        """
        ...

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions with the weights loaded last; see `Evaluator.evaluate`.

        The results are policy logits, float32[B, A], and values, float32[B].
        """
        ...


class EngineChoice(NamedTuple):
    """The name of an engine and the number format it uses, such as OpenVINO in int8."""

    engine: str  #: one of `engines.registry.ENGINES`
    precision: str  #: one of `engines.registry.PRECISIONS`

    def __str__(self) -> str:
        return f"{self.engine} {self.precision}"


REFERENCE = EngineChoice("torch", "float32")
