"""Chooses the engine: the preferred one, or a more precise one if its outputs are inaccurate.

Each time the weights change, the outputs of the preferred engine on a sample of positions are
compared with those of the reference engine, torch in float32. An engine whose mean deviation is
above 0.01 nats in the policy or 0.03 in the value is not used for these weights, and the next more
precise one is tried. The reference is loaded first, because weights with impossible outputs crash
some other libraries. All later outputs are checked for shape and range
(`alphazero.inference.evaluator`).
"""

import dataclasses
import time

import numpy as np
import torch

from alphazero.inference.engines.agreement import Deviation, PositionSample, deviation
from alphazero.inference.engines.registry import REFERENCE, EngineChoice, fallbacks, make_engine
from alphazero.inference.evaluator import Engine, Evaluator, checked
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import reason_of

_LIMITS = Deviation(policy_kl=0.01, value_error=0.03)  # larger deviations are refused


@dataclasses.dataclass
class EngineReport:
    """The engine chosen for the newest weights, and its deviation from the reference engine."""

    name: str = ""  #: engine and precision, such as "openvino int8"
    policy_kl: float = 0.0  #: mean KL divergence from the reference's policy, in nats
    value_error: float = 0.0  #: mean absolute difference from the reference's values
    refused: str = ""  #: the engines that failed or deviated too much, with reasons; "" if none
    seconds: float = 0.0  #: time taken to load and compare the engines


class VerifiedEngine(Evaluator):
    """Runs a network on the preferred engine or, if that is inaccurate, on a more precise one.

    An engine is inaccurate if, on a sample of positions, its policy has a mean KL divergence above
    0.01 nats from that of torch in float32, or its values have a mean absolute error above 0.03.

    Args:
        choice: the preferred engine; `alphazero.inference.engines.registry.fallbacks` lists the
            engines that may replace it.
        device: the torch device that evaluates.
        num_threads: maximum number of concurrent calls of the engine on a CPU.
    """

    def __init__(self, choice: EngineChoice, device: torch.device, num_threads: int):
        self._choice = choice
        self._device = device
        self._num_threads = num_threads
        self._engines: dict[EngineChoice, Engine] = {}

    def load(self, network, sample: PositionSample) -> EngineReport:
        """Load a network into the first sufficiently accurate engine, and report on that engine.

        Args:
            network: the torch module whose weights are copied.
            sample: positions on which engines are calibrated and compared with the reference.

        Raises:
            ConfigError: if this machine lacks the preferred engine.
            ImpossibleAnswersError: if the reference engine's outputs have wrong shapes, are not
                finite, or contain values outside [-1, 1].
        """
        start = time.perf_counter()
        refused = []
        self._num_actions = sample.legal_action_mask.shape[1]
        reference = self._loaded(REFERENCE, network, sample)
        self._current = reference
        expected = self.evaluate(sample.planes)
        for choice in fallbacks(self._choice, self._device):
            engine = reference
            measured = Deviation(0.0, 0.0)
            if choice == REFERENCE:
                break
            try:
                engine = self._loaded(choice, network, sample)
                measured = deviation(expected, engine.evaluate(sample.planes), sample)
            except ConfigError:
                raise
            except Exception as error:  # engines raise many types, few of them public
                refused.append(f"{choice} (cannot run this network: {reason_of(error)[:300]})")
                continue
            if measured.within(_LIMITS):
                break
            figures = f"policy {measured.policy_kl:.4f} nats, value {measured.value_error:.4f}"
            refused.append(f"{choice} (too far from float32: {figures})")
        self._current = engine
        seconds = time.perf_counter() - start
        return EngineReport(str(choice), *measured, ", ".join(refused), seconds)

    @property
    def engine(self) -> Engine:
        """The engine in use, chosen for the weights loaded last."""
        return self._current

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions with the current engine and check the engine's outputs.

        See `Evaluator.evaluate` for the arguments and the outputs.

        Raises:
            ImpossibleAnswersError: if an output has the wrong shape, is not finite, or is a value
                outside [-1, 1].
        """
        return checked(self._current.evaluate(planes), len(planes), self._num_actions)

    def _loaded(self, choice: EngineChoice, network, sample: PositionSample) -> Engine:
        if choice not in self._engines:
            self._engines[choice] = make_engine(choice, self._device, self._num_threads)
        engine = self._engines[choice]
        engine.load(network, sample.planes)
        return engine
