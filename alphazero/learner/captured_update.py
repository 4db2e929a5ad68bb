"""Captures a weight update as a CUDA graph: a single call launches all of its kernels.

Without a graph, an update of a small network takes several times as long, because launching a
kernel takes longer than its arithmetic (docs/performance.md has the measurement).
"""

import logging
from collections.abc import Callable
from typing import Any

import torch

from alphazero.replay.buffer import Batch

_NUM_WARM_UPS = 3  # calls before the capture, as torch's documentation recommends

_log = logging.getLogger(__name__)


class CapturedUpdate:
    """Calls a function of a batch, and from the fourth call on replays it as a CUDA graph.

    A batch whose shape differs from the captured one's is passed to the function itself. If the
    capture fails, for example for lack of memory, all later batches are passed to it as well.

    Args:
        update: computes on the device of its argument, a `Batch` of tensors, and returns tensors.
            It must not read a number from the device. Python numbers that it uses, such as
            learning rates, keep the values that they have during the capture.
        device: the device. On a CPU, which has no graphs, "replaying" means calling the function
            with the same buffers.
    """

    def __init__(self, update: Callable[[Batch], Any], device: torch.device):
        self._update = update
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._num_calls = 0
        self._is_possible = True
        self._buffers: list[torch.Tensor] = []  # the input of the graph
        self._replay: Callable[[], None] | None = None
        self._output: Any = None

    def reset(self) -> None:
        """Discard the graph; the next call captures the current learning rates."""
        self._buffers, self._replay, self._output = [], None, None

    def __call__(self, samples: Batch):
        """Return what the function returns; the next call may overwrite the tensors."""
        if self._num_calls < _NUM_WARM_UPS:
            self._num_calls += 1
            return self._on_stream(self._update, samples)
        if self._replay is None and self._is_possible:
            self._capture(samples)
        if self._replay is None or samples.planes.shape != self._buffers[0].shape:
            return self._update(samples)
        for buffer, column in zip(self._buffers, map(torch.as_tensor, samples)):
            buffer.copy_(column)
        self._replay()
        return self._output

    def _capture(self, samples: Batch) -> None:
        self._buffers = [torch.empty_like(torch.as_tensor(column)) for column in samples]

        def run() -> None:
            self._output = self._update(Batch(*self._buffers))

        if self._stream is None:
            self._replay = run
            return
        graph = torch.cuda.CUDAGraph()
        current = torch.cuda.current_stream(self._stream.device)
        try:
            with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="relaxed"):
                run()
        except Exception as error:  # of torch, the driver or the update
            torch.cuda.set_stream(current)  # `torch.cuda.graph` does not leave its stream
            self.reset()
            self._is_possible = False
            reason = str(error).partition("\n")[0]
            _log.warning("The learner starts each kernel by itself (no CUDA graph: %s).", reason)
            return
        self._replay = graph.replay

    def _on_stream(self, update: Callable[[Batch], Any], samples: Batch):
        """Call a function on the stream of the capture, as torch's documentation recommends."""
        if self._stream is None:
            return update(samples)
        self._stream.wait_stream(torch.cuda.current_stream(self._stream.device))
        with torch.cuda.stream(self._stream):
            result = update(samples)
        torch.cuda.current_stream(self._stream.device).wait_stream(self._stream)
        return result
