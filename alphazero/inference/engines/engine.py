"""Engines: ways to run the network's forward pass, each of them an `Evaluator`.

In: the network's torch module, which is the reference, and planes as numpy arrays. Out: prior logits and values as numpy arrays. An engine knows
neither which one is the fastest (`engines.choice`) nor whether it is right (`engines.agreement`); `network_evaluator` brings these together.
"""

from typing import NamedTuple, Protocol

import numpy as np

from alphazero.runtime.errors import ConfigError


class Engine(Protocol):
    """Runs one network.

    Laws: those of `alphazero.inference.evaluator.Evaluator`; besides, `evaluate` may be called from several threads at once, and on a CPU a call computes
    on the thread that makes it or on one other, so that as many calls as there are cores keep all of them busy.
    """

    def load(self, network, planes: np.ndarray) -> None:
        """Take over the weights of a torch module; no other call may be under way.

        Args:
            network: see `alphazero.network.registry.make_network`; it is copied.
            planes: float32[M, C, H, W], positions of the game, for engines that adapt to what they will see.
        """
        ...

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.inference.evaluator.Evaluator.evaluate`."""
        ...


class EngineChoice(NamedTuple):
    """Which engine, in which number format."""

    engine: str  #: "torch", "torch_compile" or "openvino"
    precision: str  #: "float32", "bfloat16" or "int8"

    def __str__(self):
        return f"{self.engine} {self.precision}"


REFERENCE = EngineChoice("torch", "float32")


def make_engine(choice: EngineChoice, device, num_threads: int) -> Engine:
    """Return an engine that waits for its network.

    Args:
        device: torch device; engines other than torch's run on the CPU only.
        num_threads: calls of `evaluate` that will be under way at once on a CPU.

    Raises:
        ConfigError: in one plain sentence if this engine cannot do that here.
    """
    if choice.engine == "openvino":
        if device.type != "cpu":
            raise ConfigError(
                f"evaluator.engine=openvino runs on a CPU only: use device=cpu, or evaluator.engine=torch with device={device}."
            )
        from alphazero.inference.engines.openvino_engine import OpenVinoEngine

        return OpenVinoEngine(choice.precision, num_threads)
    if choice.precision == "int8":
        raise ConfigError(
            f"evaluator.precision=int8 is not something that {choice.engine} has here: use evaluator.engine=openvino, or bfloat16."
        )
    if device.type == "cuda":
        from alphazero.inference.engines.cuda_engine import CudaEngine

        return CudaEngine(choice.precision, device, compiled=choice.engine == "torch_compile")
    from alphazero.inference.engines.torch_engine import TorchEngine

    return TorchEngine(choice.precision, compiled=choice.engine == "torch_compile")


def check_compiled(engine: Engine, planes: np.ndarray) -> None:
    """Let torch.compile do its work now, so that a missing compiler is a sentence at the start.

    Raises:
        ConfigError: with the reason.
    """
    try:
        engine.evaluate(planes)
    except ConfigError:
        raise
    except Exception as error:  # torch._dynamo raises many kinds, none of which is public
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise ConfigError(
            f"evaluator.engine=torch_compile does not work here ({reason}): it needs a C++ compiler; use engine=torch."
        ) from None


def padded_size(num_rows: int) -> int:
    """Return the batch size that torch really runs: few different ones, because each costs it a set of kernels, or a CUDA graph, of its own.

    The next power of two up to 16, then steps of an eighth of the next power of two, but no less than 8. (OpenVINO runs every size as it is: a
    change of size costs it 0.1 ms.)
    """
    step = (
        1 << max((num_rows - 1).bit_length() - 3, 3)
        if num_rows > 16
        else 1 << (num_rows - 1).bit_length()
    )
    return -(-num_rows // step) * step


def padded(planes: np.ndarray, num_rows: int) -> np.ndarray:
    """Return ``planes`` with rows of zeros up to ``num_rows``."""
    missing = num_rows - len(planes)
    return (
        np.concatenate([planes, np.zeros((missing, *planes.shape[1:]), np.float32)])
        if missing
        else planes
    )
