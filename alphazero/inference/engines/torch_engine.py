"""The engine that runs on every machine: torch on a CPU or an Apple GPU, in float32 or bfloat16.

Batch normalization is folded into the convolutions, and arrays have their channels last in memory.
"""

import threading

import numpy as np
import torch

from alphazero.inference.engines.cuda_engine import CudaEngine, padded_size
from alphazero.inference.engines.registry import EngineChoice
from alphazero.inference.evaluator import Engine
from alphazero.network.interface import expected_value
from alphazero.network.residual import folded
from alphazero.network.weights import copy_weights
from alphazero.runtime.device import has_bfloat16
from alphazero.runtime.errors import ConfigError


def make(choice: EngineChoice, device: torch.device, num_threads: int) -> Engine:
    """Make a `TorchEngine`, or a `CudaEngine` for an NVIDIA GPU.

    See `engines.registry.make_engine` for the arguments.

    Raises:
        ConfigError: if the precision is neither float32 nor bfloat16.
    """
    if choice.precision not in ("float32", "bfloat16"):
        reason = f"{choice.engine} does not have it, but engine=openvino does"
        raise ConfigError.of("precision", choice.precision, ["float32", "bfloat16"], reason)
    if device.type == "cuda":
        return CudaEngine(choice.precision, device)
    return TorchEngine(choice.precision, device)


def precisions(device: torch.device) -> list[str]:
    """Return the number formats in which torch is fast on a device.

    These are float32 and, if the hardware supports it, bfloat16.
    """
    return ["float32", "bfloat16"] if has_bfloat16(device) else ["float32"]


class TorchEngine(Engine):
    """Runs a network with torch; see `alphazero.inference.evaluator.Engine`.

    A call outside the main thread uses only its own thread. By default, torch would split each
    layer among all threads and then wait for the slowest. That is slower (1.2 times with two
    threads and a 4 x 48 network) and drops to a tenth of its speed whenever another program uses a
    core.

    Args:
        precision: "float32" or "bfloat16".
        device: "cpu" or "mps".
    """

    def __init__(self, precision: str, device: torch.device | str = "cpu"):
        self._device = torch.device(device)
        self._dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
        self._thread = threading.local()
        self._network: torch.nn.Module | None = None

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Copy a network's weights to the device; see `Engine.load`.

        Args:
            network: the network, a torch module.
            planes: not used, because torch needs no example input.
        """
        fresh = folded(network).to(self._device, self._dtype)
        fresh = fresh.to(memory_format=torch.channels_last).requires_grad_(False)
        if self._network is None:
            self._network = fresh
        else:
            copy_weights(fresh, self._network)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions; see `Evaluator.evaluate`.

        The results are policy logits, float32[B, A], and values, float32[B]. On a CPU, the calling
        thread evaluates alone, unless it is the main thread.
        """
        assert self._network is not None
        self._limit_thread()
        num_rows = len(planes)
        with torch.inference_mode():
            batch = torch.from_numpy(padded(planes, padded_size(num_rows)))
            batch = batch.to(self._device, self._dtype)
            output = self._network(batch.contiguous(memory_format=torch.channels_last))
            logits = output.prior_logits[:num_rows].float()
            values = expected_value(output.value_logits[:num_rows].float())
            return logits.cpu().numpy(), values.cpu().numpy()

    def _limit_thread(self) -> None:
        """Make torch use only the calling thread, unless that is the main thread."""
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main and not hasattr(self._thread, "limited"):
            torch.set_num_threads(1)  # for this thread
            self._thread.limited = True


def padded(planes: np.ndarray, num_rows: int) -> np.ndarray:
    """Append positions of all zeros to ``planes``, float32[B, C, H, W], up to ``num_rows`` rows."""
    if num_rows == len(planes):
        return planes
    num_added = num_rows - len(planes)
    zeros = np.zeros((num_added, *planes.shape[1:]), np.float32)
    return np.concatenate([planes, zeros])
