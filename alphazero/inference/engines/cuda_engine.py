"""The engine for NVIDIA GPUs: static batch sizes, each captured once as a CUDA graph; pinned memory; a stream for each calling thread.

Two threads that each hold half of the games keep the GPU busy: while one walks its trees, the other's batch is computed. With several GPUs
the threads take turns in choosing one. Where a graph cannot be captured the same operations are launched one by one.
"""

import functools
import itertools
import logging
import threading

import numpy as np
import torch

from alphazero.inference.engines.engine import check_compiled, padded_size
from alphazero.network.interface import expected_value
from alphazero.network.residual import folded
from alphazero.runtime.errors import ConfigError

_log = logging.getLogger(__name__)
_WARM_UPS = 3  # runs before a capture, as torch's documentation of CUDA graphs asks for


class CudaEngine:
    """See `alphazero.inference.engines.engine.Engine`.

    Args:
        precision: "float32" or "bfloat16".
        device: a GPU; without an index, all of them.
        compiled: run what torch.compile makes of the network inside the graphs.
    """

    def __init__(self, precision: str, device: torch.device, compiled: bool = False):
        self._dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
        indices = range(torch.cuda.device_count()) if device.index is None else [device.index]
        self.devices = [torch.device("cuda", index) for index in indices]
        self._compiled = compiled
        self._networks: list[torch.nn.Module] = []
        self._forwards: list = []
        self._streams = itertools.count()
        self._thread = threading.local()
        self._capturing = threading.Lock()

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """See `alphazero.inference.engines.engine.Engine.load`; weights are copied in place, so that captured graphs stay valid."""
        fresh = (
            folded(network)
            .to(self._dtype)
            .to(memory_format=torch.channels_last)
            .requires_grad_(False)
        )
        first = not self._networks
        if not first:
            for copy in self._networks:
                for old, new in zip(copy.parameters(), fresh.parameters()):
                    old.copy_(new)
        else:
            self._networks = [_on(fresh, device) for device in self.devices]
            self._forwards = [
                torch.compile(copy) if self._compiled else copy for copy in self._networks
            ]
        for device in self.devices:
            torch.cuda.synchronize(device)  # the threads' streams do not wait for this one
        if first and self._compiled:
            check_compiled(self, planes)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.inference.evaluator.Evaluator.evaluate`."""
        if not hasattr(self._thread, "stream"):
            index = next(self._streams) % len(self.devices)
            self._thread.stream = _ThreadStream(
                self._forwards[index], self.devices[index], self._dtype, self._capturing
            )
        return self._thread.stream.run(planes)


class _ThreadStream:
    """One thread's stream and its captured batches."""

    def __init__(
        self, forward, device: torch.device, dtype: torch.dtype, capturing: threading.Lock
    ):
        self._forward = forward
        self._device = device
        self._dtype = dtype
        self._capturing = capturing
        self._stream = torch.cuda.Stream(device)
        self._batches: dict[int, _Batch] = {}

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        num_rows = len(planes)
        size = max(padded_size(num_rows), 32)
        with (
            torch.inference_mode(),
            torch.cuda.device(self._device),
            torch.cuda.stream(self._stream),
        ):
            if size not in self._batches:
                with self._capturing:
                    self._batches[size] = _Batch(
                        self._forward,
                        (size, *planes.shape[1:]),
                        self._device,
                        self._dtype,
                        self._stream,
                    )
            batch = self._batches[size]
            batch.host_planes[:num_rows] = torch.from_numpy(planes)
            batch.launch()
            self._stream.synchronize()
            return batch.host_logits[:num_rows].numpy().copy(), batch.host_values[
                :num_rows
            ].numpy().copy()


class _Batch:
    """The buffers of one batch size, and the graph that leads from the one in pinned memory to the other."""

    def __init__(
        self, forward, shape: tuple[int, ...], device: torch.device, dtype: torch.dtype, stream
    ):
        self._forward = forward
        self._dtype = dtype
        self.host_planes = torch.zeros(shape, pin_memory=True)
        self._planes = torch.zeros(shape, device=device)
        logits, values = self._compute()
        self.host_logits = torch.zeros(logits.shape, pin_memory=True)
        self.host_values = torch.zeros(values.shape, pin_memory=True)
        for _ in range(_WARM_UPS):
            self._steps()
        stream.synchronize()
        self._graph = self._captured(stream)

    def launch(self) -> None:
        """Queue the whole way on the current stream; the caller waits for it."""
        if self._graph is None:
            self._steps()
        else:
            self._graph.replay()

    def _captured(self, stream):
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                self._steps()
        except RuntimeError as error:
            _warn_of_no_graphs(str(error).partition("\n")[0])
            return None
        return graph

    def _steps(self) -> None:
        self._planes.copy_(self.host_planes, non_blocking=True)
        logits, values = self._compute()
        self.host_logits.copy_(logits, non_blocking=True)
        self.host_values.copy_(values, non_blocking=True)

    def _compute(self):
        try:
            output = self._forward(
                self._planes.to(self._dtype).contiguous(memory_format=torch.channels_last)
            )
        except torch.cuda.OutOfMemoryError:
            raise ConfigError(
                f"a batch of {len(self._planes)} positions does not fit the GPU: lower selfplay.num_parallel_games."
            ) from None
        return output.prior_logits.float(), expected_value(output.value_logits.float())


@functools.cache  # once for each reason, not for each batch size
def _warn_of_no_graphs(reason: str) -> None:
    _log.warning(
        "CUDA graphs do not work here (%s); the network runs without them, more slowly.", reason
    )


def _on(network: torch.nn.Module, device: torch.device) -> torch.nn.Module:
    import copy

    return copy.deepcopy(network).to(device)
