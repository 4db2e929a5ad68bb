"""The evaluator that runs the network with torch, on a CPU or a GPU.

In: planes as numpy arrays. Out: prior logits and values as numpy arrays. It keeps a copy of the network that is made for inference: batch
normalisation folded, channels last, and bfloat16 where a short measurement says that the processor gains from it.
"""

import dataclasses
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from alphazero.config import ConfigError, option
from alphazero.network import expected_value, folded

_SMALLEST_PART = 16  # rows for which a thread of its own pays


@dataclasses.dataclass
class EvaluatorSettings:
    """How the network is run in search."""

    precision: str = option(
        "auto", "number format of the network in search; auto measures at the start and takes the faster", choices=("auto", "float32", "bfloat16")
    )


class TorchEvaluator:
    """Answers leaves with a network; see `alphazero.evaluator.Evaluator`.

    On a CPU a batch is cut into one part for each thread, and every part runs through the network on its own. torch's own way, all threads on
    each layer and a barrier after it, is slower (two threads, 4 x 48 network: 1.2 times) and falls to a tenth of its speed when another
    program takes a core for a moment.

    Args:
        network: its weights are copied; `update` copies them again.
        precision: "float32" or "bfloat16".
        device: where the copy lives.
    """

    def __init__(self, network: torch.nn.Module, precision: str = "float32", device: str | torch.device = "cpu"):
        self.precision = precision
        self.device = torch.device(device)
        self._dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
        self._num_threads = torch.get_num_threads() if self.device.type == "cpu" else 1
        self._pool = ThreadPoolExecutor(self._num_threads, initializer=torch.set_num_threads, initargs=(1,)) if self._num_threads > 1 else None
        self.update(network)

    def update(self, network: torch.nn.Module) -> None:
        """Take over the weights of ``network``."""
        self._network = folded(network).to(self.device, self._dtype).to(memory_format=torch.channels_last).requires_grad_(False)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.evaluator.Evaluator.evaluate`."""
        part_size = _padded_size(-(-len(planes) // self._num_threads))
        if self._pool is None or part_size < _SMALLEST_PART:
            return self._run(planes)
        parts = [planes[start : start + part_size] for start in range(0, len(planes), part_size)]
        answers = list(self._pool.map(self._run, parts))
        return np.concatenate([logits for logits, _ in answers]), np.concatenate([values for _, values in answers])

    def _run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        num_rows = len(planes)
        with torch.inference_mode():
            batch = torch.zeros((_padded_size(num_rows), *planes.shape[1:]), dtype=self._dtype, device=self.device)
            batch[:num_rows] = torch.from_numpy(planes)
            output = self._network(batch.contiguous(memory_format=torch.channels_last))
            logits = output.prior_logits[:num_rows].float()
            values = expected_value(output.value_logits[:num_rows].float())
            return logits.cpu().numpy(), values.cpu().numpy()


def _padded_size(num_rows: int) -> int:
    """Return the batch size that is really run: few different ones, because each costs the library a set of kernels of its own."""
    if num_rows <= 32:
        return 1 << (num_rows - 1).bit_length()
    return -(-num_rows // 32) * 32


def choose_device(name: str) -> torch.device:
    """Return the torch device called ``name``; "auto" is the GPU when there is one.

    Raises:
        ConfigError: if there is no such device on this machine.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"device={name} is not a device; use auto, cpu, cuda or cuda:1.") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(f"device={name} is not on this machine: torch sees {torch.cuda.device_count()} GPUs here; use device=cpu or device=auto.")
    if device.type not in ("cpu", "cuda"):
        raise ConfigError(f"device={name} is not supported; use auto, cpu, cuda or cuda:1.")
    return device


def choose_precision(network: torch.nn.Module, planes_shape, device, batch_size: int) -> str:
    """Return the faster of float32 and bfloat16 for this network on this device, by a measurement of well under a second."""
    planes = np.zeros((max(batch_size, 16), *planes_shape), np.float32)
    evaluators = {precision: TorchEvaluator(network, precision, device) for precision in ("float32", "bfloat16")}
    for evaluator in evaluators.values():
        evaluator.evaluate(planes)
    seconds = {precision: [] for precision in evaluators}
    for _ in range(15):  # in turn, so that a moment in which the machine is busy does not decide
        for precision, evaluator in evaluators.items():
            seconds[precision].append(_seconds(evaluator, planes))
    return "bfloat16" if np.median(seconds["bfloat16"]) < 0.9 * np.median(seconds["float32"]) else "float32"


def set_num_threads(num_threads: int) -> None:
    """Let torch use this many threads, 0 for all the cores that this process may use."""
    torch.set_num_threads(num_threads or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)))


def _seconds(evaluator, planes) -> float:
    start = time.perf_counter()
    evaluator.evaluate(planes)
    return time.perf_counter() - start
