"""Runs a network as an `Evaluator`, on one verified engine that several threads can call.

`NetworkEvaluator.evaluate` evaluates a single large batch on all threads. For self-play,
`NetworkEvaluator.streams` provides a separate evaluator with its own cache for each worker.
"""

import contextlib
import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from alphazero.config.settings import option
from alphazero.inference.cache import CachedEvaluator
from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.engines.registry import ENGINES, PRECISIONS, REFERENCE, EngineChoice
from alphazero.inference.engines.torch_engine import TorchEngine
from alphazero.inference.evaluator import Engine, Evaluator
from alphazero.inference.verified_engine import EngineReport, VerifiedEngine
from alphazero.runtime.device import torch_threads

STREAMS_PER_GPU = 4  # while some workers walk their trees, the GPU computes the others' batches
SMALLEST_PART = 16  # fewest rows for which another thread pays off, even if other threads are busy


@dataclasses.dataclass
class EvaluatorSettings:
    """The settings for evaluating the network in search: engine, number format and cache."""

    engine: str = option(
        "auto",
        "what evaluates the network; auto takes tables for network=windows and patterns; for "
        "others, on a CPU, OpenVINO if it is installed",
        choices=("auto", *ENGINES),
    )
    precision: str = option(
        "auto",
        "number format of the network in search; auto takes the fastest that the device has",
        choices=("auto", *PRECISIONS),
    )
    cache_mb: int = option(
        128,
        "megabytes for each board's answers, kept until the weights change; 0 keeps none",
        low=0,
        high=1_000_000,
    )
    cache_symmetries: bool = option(True, "symmetric positions share an answer in the cache")


class NetworkEvaluator(Evaluator):
    """An `Evaluator` that runs a network on one or more threads.

    Args:
        network: the network, whose weights are copied; call `update` when they have changed.
        sample: positions on which engines are calibrated and compared with the reference engine.
        game: an `alphazero.games.batched_game.Game`, of which only the planes' shape and the
            symmetries are used.
        choice: the preferred engine; a more precise one replaces it if its outputs deviate from
            float32 by more than the limits in `alphazero.inference.verified_engine`.
        settings: only the settings of the cache are used; None means the defaults.
        device: the device of the run; "cuda" without an index means all GPUs. Line tables are on
            the CPU anyway.
        num_threads: maximum number of concurrent engine calls on a CPU; ignored on GPUs, which have
            `STREAMS_PER_GPU` each.
        smallest_part: `evaluate` uses several threads only if each gets at least this many rows.

    Attributes:
        device: the torch device that evaluates.
        streams: one evaluator, with its own cache, for each worker that may run at the same time.
        report: the engine in use and its deviation from float32, as of the last `update`.

    Raises:
        ConfigError: if this machine lacks the preferred engine.
        ImpossibleAnswersError: if the network's outputs have wrong shapes, are not finite, or
            contain values outside [-1, 1].
    """

    def __init__(
        self,
        network: torch.nn.Module,
        sample: PositionSample,
        game,
        choice: EngineChoice = REFERENCE,
        settings: EvaluatorSettings | None = None,
        device: torch.device | str = "cpu",
        num_threads: int = 1,
        smallest_part: int = SMALLEST_PART,
    ):
        self.settings = settings or EvaluatorSettings()
        self.device = choice.device_for(torch.device(device))
        self._smallest_part = smallest_part
        if self.device.type == "cuda":
            num_gpus = torch.cuda.device_count() if self.device.index is None else 1
            num_threads = STREAMS_PER_GPU * num_gpus
        self._num_threads = num_threads
        self._engine = VerifiedEngine(choice, self.device, self._num_threads)
        self._pool = ThreadPoolExecutor(self._num_threads) if self._num_threads > 1 else None
        cache_bytes = self.settings.cache_mb * 1_000_000 // self._num_threads
        # Streams refer to the engine, not to this object: without a reference cycle, a dropped
        # evaluator is freed at once, with its caches.
        shared = slice(None) if self.settings.cache_symmetries else slice(1)  # the identity
        cells = game.cell_symmetries[shared]
        actions = game.action_symmetries[shared]
        self.streams = [
            CachedEvaluator(self._engine, game.planes_shape, cells, actions, cache_bytes)
            for _ in range(self._num_threads)
        ]
        self.report = EngineReport()
        self.update(network, sample)

    def update(self, network: torch.nn.Module, sample: PositionSample | None = None) -> None:
        """Copy the network's weights into the engine and clear all caches.

        No evaluation may be running during the call.

        Args:
            network: the network with the new weights.
            sample: newer positions for calibration and comparison; None means the previous ones.

        Raises:
            ConfigError: if this machine lacks the preferred engine.
            ImpossibleAnswersError: if the network's outputs have wrong shapes, are not finite, or
                contain values outside [-1, 1].
        """
        self._sample: PositionSample = sample or self._sample
        self.report = self._engine.load(network, self._sample)
        for stream in self.streams:
            stream.clear()

    @property
    def engine(self) -> Engine:
        """The engine in use since the last `update`."""
        return self._engine.engine

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions; all threads share a large batch. See `Evaluator.evaluate`.

        The cache is not used. The calling thread evaluates part of the batch itself, because waking
        another thread and waiting for it costs as much as evaluating a few rows.
        """
        engine = self._engine
        part_size = -(-len(planes) // self._num_threads)
        if self._pool is None or part_size < self._smallest_part:
            return engine.evaluate(planes)
        starts = range(0, len(planes), part_size)
        own, *parts = [planes[start : start + part_size] for start in starts]
        others = self._pool.map(engine.evaluate, parts)  # begins at once
        # On the main thread torch would use all threads. Changing that takes longer than a row.
        is_torch = isinstance(engine.engine, TorchEngine)
        with torch_threads(1) if is_torch else contextlib.nullcontext():
            first = engine.evaluate(own)
        logits, values = zip(first, *others)
        return np.concatenate(logits), np.concatenate(values)
