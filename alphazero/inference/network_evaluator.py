"""The network as an evaluator: an engine that is held to the reference, several threads, and a cache.

In: the network whenever its weights change. Out: prior logits and values. Each time the weights change, the engine's answers on a sample of positions
are compared with those of torch in float32; an engine that is too far off is refused, and a more precise one takes its place for these weights.
"""

import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch

from alphazero.inference.cache import CachedEvaluator
from alphazero.inference.engines.agreement import Agreement, PositionSample, agreement
from alphazero.inference.engines.engine import REFERENCE, Engine, EngineChoice, make_engine
from alphazero.inference.engines.selection import fallbacks
from alphazero.runtime.settings import option

STREAMS_PER_GPU = 2  # half of the games walk their trees while the other half is computed
_SMALLEST_PART = 16  # rows for which a thread of its own pays


@dataclasses.dataclass
class EvaluatorSettings:
    """How the network is run in search."""

    engine: str = option(
        "auto",
        "what runs the network; auto measures at the start and takes the fastest",
        choices=("auto", "torch", "torch_compile", "openvino"),
    )
    precision: str = option(
        "auto",
        "number format of the network in search; auto measures at the start",
        choices=("auto", "float32", "bfloat16", "int8"),
    )
    max_policy_divergence: float = option(
        0.01,
        "mean divergence from float32's policy, in nats, above which an engine is refused",
        low=0.0,
    )
    max_value_error: float = option(
        0.03, "mean difference from float32's value above which an engine is refused", low=0.0
    )
    cache_mb: int = option(
        128,
        "megabytes for answers to positions that come again while the weights stay; 0 is no cache",
        low=0,
        high=1_000_000,
    )
    cache_symmetries: bool = option(
        True, "positions that are symmetric to each other share an answer in the cache"
    )


@dataclasses.dataclass
class EngineReport:
    """What taking over weights came to."""

    name: str = ""  #: the engine in use, such as "openvino int8"
    policy_divergence: float = 0.0  #: from float32, mean over the sample, nats
    value_error: float = 0.0  #: from float32, mean over the sample
    refused: str = ""  #: engines that were too far off, with their figures; '' if none
    seconds: float = 0.0  #: that it took, the comparison included


class NetworkEvaluator:
    """Answers leaves with a network; see `alphazero.inference.evaluator.Evaluator`.

    Args:
        network: its weights are copied; `update` copies them again.
        sample: positions that engines are calibrated with and compared on.
        choice: the wanted engine; see `alphazero.inference.engines.selection.fallbacks` for what takes its place.
        game: for its sizes and symmetries.
        num_threads: calls of the engine at once on a CPU.
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
    ):
        self.settings = settings or EvaluatorSettings()
        self.device = torch.device(device)
        self.choice = choice
        self.report = EngineReport()  #: of the last change of weights
        self._num_threads = num_streams(self.device, num_threads)
        self._engines: dict[EngineChoice, Engine] = {}
        self._pool = ThreadPoolExecutor(self._num_threads) if self._num_threads > 1 else None
        self.streams = [self._stream(game) for _ in range(self._num_threads)]
        self.update(network, sample)

    def update(self, network: torch.nn.Module, sample: PositionSample | None = None) -> None:
        """Take over the weights of ``network``.

        Args:
            sample: newer positions; without it the last ones serve again.
        """
        start = time.perf_counter()
        self._sample = sample or self._sample
        refused = []
        for choice in fallbacks(self.choice):
            self._engine = self._loaded(choice, network)
            found = (
                Agreement(0.0, 0.0)
                if choice == REFERENCE
                else agreement(self._loaded(REFERENCE, network), self._engine, self._sample)
            )
            if self._is_close(found):
                break
            refused.append(
                f"{choice} (policy {found.policy_divergence:.4f} nats, value {found.value_error:.4f})"
            )
        for stream in self.streams:
            stream.forget()
        self.report = EngineReport(
            str(choice), *found, ", ".join(refused), time.perf_counter() - start
        )

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.inference.evaluator.Evaluator.evaluate`; the batch is cut into one part for each thread."""
        part_size = -(-len(planes) // self._num_threads)
        if self._pool is None or part_size < _SMALLEST_PART:
            return self._engine.evaluate(planes)
        parts = [planes[start : start + part_size] for start in range(0, len(planes), part_size)]
        answers = list(self._pool.map(self._engine.evaluate, parts))
        return np.concatenate([logits for logits, _ in answers]), np.concatenate(
            [values for _, values in answers]
        )

    @property
    def precision(self) -> str:
        """The number format in use."""
        return self.report.name.rpartition(" ")[2]

    def _loaded(self, choice: EngineChoice, network) -> Engine:
        if choice not in self._engines:
            self._engines[choice] = make_engine(choice, self.device, self._num_threads)
        self._engines[choice].load(network, self._sample.planes)
        return self._engines[choice]

    def _is_close(self, found: Agreement) -> bool:
        return (
            found.policy_divergence <= self.settings.max_policy_divergence
            and found.value_error <= self.settings.max_value_error
        )

    def _stream(self, game) -> "EvaluatorStream":
        symmetries = slice(None) if self.settings.cache_symmetries else slice(1)
        share = self.settings.cache_mb * 1_000_000 // self._num_threads
        tables = (game.cell_symmetries[symmetries], game.action_symmetries[symmetries])
        direct = _Direct(self)
        return EvaluatorStream(
            direct, CachedEvaluator(direct, game.planes_shape, *tables, share) if share else None
        )


class StreamCounts(NamedTuple):
    """The work of a stream so far."""

    num_asked: int  #: positions
    num_evaluated: int  #: of these, the ones that the network answered
    network_s: float  #: wall seconds inside the engine


class EvaluatorStream:
    """The evaluator for one of several threads that play games side by side: each call computes on its own thread, behind a cache of its own.

    One cache for all would be hit a little more often, but which thread fills it first would then decide about the last bits of an answer, and
    no run could be repeated.
    """

    def __init__(self, direct: "_Direct", cache: CachedEvaluator | None):
        self._direct = direct
        self._cache = cache

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.inference.evaluator.Evaluator.evaluate`."""
        return (self._cache or self._direct).evaluate(planes)

    def forget(self) -> None:
        """Empty the cache: the weights have changed."""
        if self._cache is not None:
            self._cache.clear()

    @property
    def counts(self) -> StreamCounts:
        """The work so far."""
        direct = self._direct
        return StreamCounts(
            direct.num_rows if self._cache is None else self._cache.num_rows,
            direct.num_rows,
            direct.seconds,
        )


class _Direct:
    """The engine of the moment, on the calling thread."""

    def __init__(self, evaluator: NetworkEvaluator):
        self._evaluator = evaluator
        self.num_rows = 0
        self.seconds = 0.0

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        start = time.perf_counter()
        answer = self._evaluator._engine.evaluate(planes)
        self.seconds += time.perf_counter() - start
        self.num_rows += len(planes)
        return answer


def num_streams(device: torch.device, num_threads: int) -> int:
    """Return how many calls of an engine are under way at once: ``num_threads`` on a CPU, a few for each GPU."""
    if device.type == "cpu":
        return num_threads
    return STREAMS_PER_GPU * (torch.cuda.device_count() if device.index is None else 1)
