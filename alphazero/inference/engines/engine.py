"""The protocol of engines, which run the network's forward pass; each engine is an `Evaluator`.

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
    """Runs the forward pass of one network.

    An engine fulfils the contract of `alphazero.inference.evaluator.Evaluator`. In addition,
    several threads may call `evaluate` at the same time. On a CPU, each call uses a single thread,
    so that one call per core keeps all cores busy.
    """

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Copy the weights of a network into the engine; no other call may be running.

        Args:
            network: a torch module, see `alphazero.network.registry.make_network`.
            planes: float32[M, C, H, W], positions of the game, for engines that need an example or
                calibration.
        """
        ...

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions with the weights loaded last; see `Evaluator.evaluate`."""
        ...


class EngineChoice(NamedTuple):
    """An engine and its number format, such as OpenVINO in int8."""

    engine: str  #: one of `engines.registry.ENGINES`
    precision: str  #: one of `engines.registry.PRECISIONS`

    def __str__(self) -> str:
        return f"{self.engine} {self.precision}"


REFERENCE = EngineChoice("torch", "float32")
