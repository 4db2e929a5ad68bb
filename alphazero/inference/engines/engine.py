"""The engine protocol: ways to run the network's forward pass, each of them an `Evaluator`.

In: a torch module, which defines the answers, and planes as numpy arrays. Out: prior logits and
values as numpy arrays. An engine knows neither whether it is the fastest (`engines.selection`) nor
whether it is accurate enough (`engines.agreement`); `alphazero.inference.verified_engine` decides.
To add an engine, implement `Engine`, make it in `make_engine`, name it in `engines.selection` and
in the choices of `alphazero.inference.network_evaluator.EvaluatorSettings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from alphazero.runtime.errors import ConfigError

if TYPE_CHECKING:  # importing torch takes seconds; naming an engine does not need it
    import torch


class Engine(Protocol):
    """Runs one network.

    Laws: those of `alphazero.inference.evaluator.Evaluator`. In addition, several threads may call
    `evaluate` at the same time. On a CPU, a call computes on the calling thread or on one other
    thread, so that as many calls as there are cores keep all cores busy.
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

    engine: str  #: "torch", "torch_compile" or "openvino"
    precision: str  #: "float32", "bfloat16" or "int8"

    def __str__(self) -> str:
        return f"{self.engine} {self.precision}"


_ENGINES = ("torch", "torch_compile", "openvino")
REFERENCE = EngineChoice("torch", "float32")


def make_engine(choice: EngineChoice, device: torch.device, num_threads: int) -> Engine:
    """Return an engine without a network; call its `load` next.

    Args:
        device: torch device; only torch's engines run on a GPU.
        num_threads: number of concurrent calls of `evaluate` on a CPU.

    Raises:
        ConfigError: if the engine does not run on this machine.
    """
    if choice.engine not in _ENGINES:
        raise ConfigError.of("engine", choice.engine, _ENGINES)
    if choice.engine == "openvino":
        if device.type != "cpu":
            reason = f"it runs on a CPU only (device=cpu), not with device={device}"
            raise ConfigError.of("engine", "openvino", ["torch", "torch_compile"], reason)
        from alphazero.inference.engines.openvino_engine import OpenVinoEngine

        return OpenVinoEngine(choice.precision, num_threads)
    if choice.precision == "int8":
        reason = f"{choice.engine} does not have it, but engine=openvino does"
        raise ConfigError.of("precision", "int8", ["float32", "bfloat16"], reason)
    compiled = choice.engine == "torch_compile"
    if device.type == "cuda":
        from alphazero.inference.engines.cuda_engine import CudaEngine

        return CudaEngine(choice.precision, device, compiled)
    from alphazero.inference.engines.torch_engine import TorchEngine

    return TorchEngine(choice.precision, compiled, device)
