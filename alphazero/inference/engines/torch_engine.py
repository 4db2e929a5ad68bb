"""The engine that comes with torch, on the CPU: batch normalisation folded, channels last, float32 or bfloat16, and, if asked for, compiled."""

import threading

import numpy as np
import torch

from alphazero.inference.engines.engine import check_compiled, padded, padded_size
from alphazero.network.interface import expected_value
from alphazero.network.residual import folded

_SMALLEST_COMPILED = 32  # rows


class TorchEngine:
    """See `alphazero.inference.engines.engine.Engine`.

    A call made outside the main thread computes on that thread alone. torch's own way, all threads on each layer and a barrier after it, is
    slower (two threads, 4 x 48 network: 1.2 times) and falls to a tenth of its speed when another program takes a core for a moment.

    Args:
        precision: "float32" or "bfloat16".
        compiled: run what torch.compile makes of the network; it needs a C++ compiler and up to half a minute at the first call.
    """

    def __init__(self, precision: str, compiled: bool = False):
        self._dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
        self._compiled = compiled
        self._thread = threading.local()
        self._network = None

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """See `alphazero.inference.engines.engine.Engine.load`."""
        fresh = (
            folded(network)
            .to("cpu", self._dtype)
            .to(memory_format=torch.channels_last)
            .requires_grad_(False)
        )
        if self._network is not None:
            for old, new in zip(self._network.parameters(), fresh.parameters()):
                old.copy_(new)  # in place: what torch.compile made stays valid
            return
        self._network = fresh
        self._forward = torch.compile(fresh, dynamic=False) if self._compiled else fresh
        if self._compiled:
            check_compiled(self, planes)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.inference.evaluator.Evaluator.evaluate`."""
        if threading.current_thread() is not threading.main_thread() and not hasattr(
            self._thread, "alone"
        ):
            torch.set_num_threads(1)  # for this thread
            self._thread.alone = True
        num_rows = len(planes)
        with torch.inference_mode():
            batch = (
                torch.from_numpy(padded(planes, self._padded_size(num_rows)))
                .to(self._dtype)
                .contiguous(memory_format=torch.channels_last)
            )
            output = self._forward(batch)
            values = expected_value(output.value_logits[:num_rows].float())
            return output.prior_logits[:num_rows].float().numpy(), values.numpy()

    def _padded_size(self, num_rows: int) -> int:
        if self._compiled:  # powers of two: each size is compiled for seconds, and after eight of them torch compiles no more
            return max(1 << (num_rows - 1).bit_length(), _SMALLEST_COMPILED)
        return padded_size(num_rows)
