"""The engine in use: the preferred one, or a more precise one if its outputs are not accurate.

Each time the weights change, the engine's outputs for the sample are compared with those of the
reference, torch in float32. An engine that measured too much is refused for these weights, and a
more precise one takes its place. The reference is loaded first, because weights with impossible
outputs crash some other libraries. All later outputs are also checked
(`alphazero.inference.evaluator`).
"""

import dataclasses
import time

import numpy as np
import torch

from alphazero.inference.engines.agreement import Deviation, PositionSample, deviation
from alphazero.inference.engines.engine import REFERENCE, Engine, EngineChoice
from alphazero.inference.engines.registry import fallbacks, make_engine
from alphazero.inference.evaluator import checked
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import reason_of

_LIMITS = Deviation(policy_kl=0.01, value_error=0.03)  # larger deviations are refused


@dataclasses.dataclass
class EngineReport:
    """The engine chosen for the newest weights, and its deviation from the reference."""

    name: str = ""  #: engine and precision, such as "openvino int8"
    policy_kl: float = 0.0
    value_error: float = 0.0
    refused: str = ""  #: the engines that failed or deviated too much, with reasons; "" if none
    seconds: float = 0.0


class VerifiedEngine:
    """Holds the engine in use, `current`, which is accurate for the weights loaded last.

    Args:
        choice: the preferred engine; `fallbacks` returns the ones that may replace it.
        device: torch device.
        num_threads: number of concurrent calls of the engine on a CPU.
    """

    current: Engine

    def __init__(self, choice: EngineChoice, device: torch.device, num_threads: int):
        self._choice = choice
        self._device = device
        self._num_threads = num_threads
        self._engines: dict[EngineChoice, Engine] = {}

    def load(self, network, sample: PositionSample) -> EngineReport:
        """Load a network into the first engine that is accurate enough; return its report.

        Raises:
            ConfigError: if this machine lacks the preferred engine.
            ImpossibleAnswersError: if the network's outputs are impossible.
        """
        start = time.perf_counter()
        refused = []
        self._num_actions = sample.legal_action_mask.shape[1]
        reference = self._loaded(REFERENCE, network, sample)
        self.current = reference
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
        self.current = engine
        seconds = time.perf_counter() - start
        return EngineReport(str(choice), *measured, ", ".join(refused), seconds)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions with the engine in use, and check its outputs.

        Raises:
            ImpossibleAnswersError: if the outputs are impossible.
        """
        return checked(self.current.evaluate(planes), len(planes), self._num_actions)

    def _loaded(self, choice: EngineChoice, network, sample: PositionSample) -> Engine:
        if choice not in self._engines:
            self._engines[choice] = make_engine(choice, self._device, self._num_threads)
        engine = self._engines[choice]
        engine.load(network, sample.planes)
        return engine
