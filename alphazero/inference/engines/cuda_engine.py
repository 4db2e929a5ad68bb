"""The engine for NVIDIA GPUs, which captures a CUDA graph for each of a few batch sizes.

Each calling thread has its own CUDA stream and its own buffers in pinned memory. Two threads with
half of the games each keep a GPU busy: while one walks its trees, the GPU computes the other's
batch. Threads are assigned to several GPUs in turn. If a graph cannot be captured, the same
operations are launched one by one.
"""

import copy
import functools
import itertools
import logging
import threading

import numpy as np
import torch

from alphazero.inference.evaluator import Engine
from alphazero.network.interface import expected_value
from alphazero.network.residual import folded
from alphazero.network.weights import copy_weights
from alphazero.runtime.errors import ConfigError

_log = logging.getLogger(__name__)
_NUM_WARM_UPS = 3  # runs before a capture; torch's documentation of CUDA graphs recommends some
_SMALLEST_BATCH = 32


class CudaEngine(Engine):
    """Runs a network on one or all NVIDIA GPUs; see `alphazero.inference.evaluator.Engine`.

    Args:
        precision: "float32" or "bfloat16".
        device: one GPU such as "cuda:0", or "cuda", without an index, for all GPUs.

    Attributes:
        capturing: held during a capture of a graph, because a capture within another one fails.
    """

    def __init__(self, precision: str, device: torch.device):
        self._dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
        indices = range(torch.cuda.device_count()) if device.index is None else [device.index]
        self.gpus = [torch.device("cuda", index) for index in indices]
        self._networks: list[torch.nn.Module] = []  # one per device
        self._thread_index = itertools.count()
        self._thread = threading.local()
        self.capturing = threading.Lock()

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Copy a network's weights to every GPU; see `Engine.load`.

        Args:
            network: the network, a torch module.
            planes: not used, because torch needs no example input.
        """
        fresh = folded(network).to(self._dtype).to(memory_format=torch.channels_last)
        fresh.requires_grad_(False)
        if not self._networks:
            self._networks = [copy.deepcopy(fresh).to(device) for device in self.gpus]
        else:
            for own in self._networks:
                copy_weights(fresh, own)
        for device in self.gpus:
            torch.cuda.synchronize(device)  # the threads' streams do not wait for this one

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions on the calling thread's own CUDA stream; see `Evaluator.evaluate`.

        Raises:
            ConfigError: if the batch does not fit into the GPU's memory.
        """
        if not hasattr(self._thread, "stream"):
            index = next(self._thread_index) % len(self.gpus)
            self._thread.stream = _ThreadStream(
                self._networks[index], self.gpus[index], self._dtype, self.capturing
            )
        return self._thread.stream.run(planes)

    def evaluate_on_gpu(self, planes: torch.Tensor, gpu_index: int):
        """Evaluate positions that are on a GPU already, on the current stream.

        Args:
            planes: float32[B, C, H, W], on the GPU.
            gpu_index: the index of that GPU in ``gpus``.

        Returns:
            The policy logits, float32[B, A], and the values, float32[B], on the GPU.
        """
        return _answers(self._networks[gpu_index], planes, self._dtype)


class _ThreadStream:
    """One thread's CUDA stream, with buffers and a captured graph for each batch size.

    Args:
        network: the network on ``device``, shared by all threads that use this GPU.
        device: the GPU, as a torch device with an index.
        dtype: number format of the forward pass.
        capturing: lock to hold during a capture.
    """

    def __init__(
        self, network, device: torch.device, dtype: torch.dtype, capturing: threading.Lock
    ):
        self._network = network
        self._device = device
        self._dtype = dtype
        self._capturing = capturing
        self._stream = torch.cuda.Stream(device)
        self._batches: dict[int, _Batch] = {}

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        num_rows = len(planes)
        with (
            torch.inference_mode(),
            torch.cuda.device(self._device),
            torch.cuda.stream(self._stream),
        ):
            size = max(padded_size(num_rows), _SMALLEST_BATCH)
            batch = self._batch((size, *planes.shape[1:]))
            batch.host_planes[:num_rows] = torch.from_numpy(planes)
            batch.launch()
            self._stream.synchronize()
            logits = batch.host_logits[:num_rows]
            values = batch.host_values[:num_rows]
            return logits.numpy().copy(), values.numpy().copy()

    def _batch(self, shape: tuple[int, ...]) -> "_Batch":
        size = shape[0]
        if size not in self._batches:
            with self._capturing:  # one capture at a time
                self._batches[size] = _Batch(
                    self._network, shape, self._device, self._dtype, self._stream
                )
        return self._batches[size]


class _Batch:
    """The buffers for one batch size, and the CUDA graph from its input to its outputs.

    Args:
        network: the network on ``device``.
        shape: (B, C, H, W), the shape of the padded batch.
        device: the GPU, as a torch device with an index.
        dtype: number format of the forward pass.
        stream: the current CUDA stream, on which the graph is captured.
    """

    def __init__(
        self, network, shape: tuple[int, ...], device: torch.device, dtype: torch.dtype, stream
    ):
        self._network = network
        self._dtype = dtype
        self.host_planes = torch.zeros(shape, pin_memory=True)
        self._planes = torch.zeros(shape, device=device)
        logits, values = self._compute()
        self.host_logits = torch.zeros(logits.shape, pin_memory=True)
        self.host_values = torch.zeros(values.shape, pin_memory=True)
        for _ in range(_NUM_WARM_UPS):
            self._enqueue()
        stream.synchronize()
        self._graph = self._captured(stream)

    def launch(self) -> None:
        """Enqueue the input's copy, the forward pass and the outputs' copies, without waiting."""
        if self._graph is None:
            self._enqueue()
        else:
            self._graph.replay()

    def _captured(self, stream):
        """Capture `_enqueue` as a CUDA graph, or log a warning and return None if that fails."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                self._enqueue()
        except Exception as error:  # of torch or the driver
            _warn_of_no_graphs(str(error).partition("\n")[0])
            return None
        return graph

    def _enqueue(self) -> None:
        self._planes.copy_(self.host_planes, non_blocking=True)
        logits, values = self._compute()
        self.host_logits.copy_(logits, non_blocking=True)
        self.host_values.copy_(values, non_blocking=True)

    def _compute(self):
        try:
            return _answers(self._network, self._planes, self._dtype)
        except torch.cuda.OutOfMemoryError:
            message = f"a batch of {len(self._planes)} positions does not fit into the GPU's "
            message += "memory; lower selfplay.num_parallel_games."
            raise ConfigError(message, key="selfplay.num_parallel_games") from None


def _answers(network, planes: torch.Tensor, dtype: torch.dtype):
    output = network(planes.to(dtype).contiguous(memory_format=torch.channels_last))
    return output.prior_logits.float(), expected_value(output.value_logits.float())


@functools.cache  # once per reason, not per batch size
def _warn_of_no_graphs(reason: str) -> None:
    _log.warning("CUDA graphs do not work here (%s); evaluation continues more slowly.", reason)


def padded_size(num_rows: int) -> int:
    """Return the number of rows to which a batch of ``num_rows`` positions is padded.

    Up to 16 rows, this is the next power of two; above, the next multiple of an eighth of that
    power, or of 8 if that eighth is smaller. Few sizes are best because torch needs separate
    kernels, or a CUDA graph, for each size. (OpenVINO needs no padding: a change of size costs 0.1
    ms.)
    """
    next_power = 1 << (num_rows - 1).bit_length()
    if num_rows <= 16:
        return next_power
    step = max(next_power // 8, 8)
    return -(-num_rows // step) * step
