"""The protocol of engines, which run the network's forward pass; each of them is an `Evaluator`.

In: a torch module, which defines the answers, and planes as numpy arrays. Out: prior logits and
values as numpy arrays. `engines.registry` makes engines, `engines.selection` measures their speed,
`engines.agreement` their accuracy, and `alphazero.inference.verified_engine` chooses one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:  # importing torch takes seconds; naming an engine does not need it
    import torch


class Engine(Protocol):
    """Runs one network.

    Laws: those of `alphazero.inference.evaluator.Evaluator`. In addition, several threads may call
    `evaluate` at the same time. On a CPU, each call uses a single thread, so that one call for each
    core keeps all cores busy.
    """

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Copy the weights of a torch module. No other call may be under way.

        Args:
            network: see `alphazero.network.registry.make_network`.
            planes: float32[M, C, H, W], positions of the game, for engines that calibrate.
        """
        ...

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.inference.evaluator.Evaluator.evaluate`."""
        ...


class EngineChoice(NamedTuple):
    """An engine and its number format."""

    engine: str  #: one of `engines.registry.ENGINES`
    precision: str  #: one of `engines.registry.PRECISIONS`

    def __str__(self) -> str:
        return f"{self.engine} {self.precision}"


REFERENCE = EngineChoice("torch", "float32")
