"""The engine that runs the network with OpenVINO, on the CPU, in float32, bfloat16 or int8.

It needs the optional dependency ``[openvino]``. The network is converted once; new weights are
loaded into the converted model as constants, and the model is compiled. Loading and compiling take
about 0.05 s in float32 and 0.2 s in int8; a new conversion would take at least half a second.
"""

import functools
import sys
import threading

import numpy as np
import torch

from alphazero.inference.engines.registry import EngineChoice
from alphazero.inference.evaluator import Engine
from alphazero.network.residual import folded
from alphazero.runtime.errors import ConfigError

# Importing OpenVINO would send usage statistics to Intel, from a forked copy of the process that
# hangs if another thread reads standard input. Without its telemetry package, OpenVINO uses a
# placeholder that does nothing.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
try:
    import openvino
except ImportError:
    openvino = None
else:
    from alphazero.inference.engines import openvino_conversion, openvino_int8


def make(choice: EngineChoice, device: torch.device, num_threads: int) -> Engine:
    """Make an `OpenVinoEngine`; see `engines.registry.make_engine`.

    Raises:
        ConfigError: if the device is not a CPU, OpenVINO is not installed, or the processor does
            not support the precision.
    """
    if device.type != "cpu":
        reason = f"it runs on a CPU only (device=cpu), not with device={device}"
        raise ConfigError.of("engine", "openvino", ["torch"], reason)
    return OpenVinoEngine(choice.precision, num_threads)


class OpenVinoEngine(Engine):
    """Runs a network with OpenVINO; see `alphazero.inference.evaluator.Engine`.

    Args:
        precision: "float32", "bfloat16" or "int8" (the tower's convolutions in int8, the rest in
            float32).
        num_threads: maximum number of concurrent calls of `evaluate`; each uses one core.

    Raises:
        ConfigError: if OpenVINO is not installed or the processor does not support the precision.
    """

    def __init__(self, precision: str, num_threads: int):
        _check(precision)
        self._precision = precision
        self._num_threads = num_threads
        self._template = None  # the converted network, with its weights as inputs
        self._thread = threading.local()
        self._generation = 0  # number of times that weights were loaded

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """Load a network's weights into the model and compile the result; see `Engine.load`.

        Args:
            network: the network, a torch module.
            planes: float32[M, C, H, W], example input; in int8, also for calibration.
        """
        network = folded(network).float().cpu().requires_grad_(False)
        # A user's network may have buffers, which are constants of the template.
        if self._template is None or any(True for _ in network.buffers()):
            self._template = openvino_conversion.convert(network, planes)
        model = openvino_conversion.with_weights(self._template, network)
        if self._precision == "int8":
            openvino_int8.quantize(model, planes, _core())
        self._compiled = _core().compile_model(model, "CPU", self._options())
        self._generation += 1

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions with the compiled model; see `Evaluator.evaluate`.

        The results are policy logits, float32[B, A], and values, float32[B].
        """
        request = self._request()
        request.infer([planes], share_inputs=True)
        logits = request.get_output_tensor(0).data.copy()
        values = request.get_output_tensor(1).data.copy()
        return logits, values

    def _request(self):
        """Return the calling thread's inference request for the newest weights."""
        thread = self._thread
        if getattr(thread, "generation", None) != self._generation:
            thread.request = self._compiled.create_infer_request()
            thread.generation = self._generation
        return thread.request

    def _options(self) -> dict:
        return {
            "INFERENCE_PRECISION_HINT": "bf16" if self._precision == "bfloat16" else "f32",
            "NUM_STREAMS": self._num_threads,
            "INFERENCE_NUM_THREADS": self._num_threads,
            "ENABLE_CPU_PINNING": False,
        }


def precisions(device: torch.device) -> list[str]:
    """Return the number formats that OpenVINO supports on a device; [] if that is not a CPU."""
    return cpu_precisions() if device.type == "cpu" else []


def cpu_precisions() -> list[str]:
    """Return the number formats OpenVINO supports on this processor; [] if it is not installed."""
    if openvino is None:
        return []
    capabilities = _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    optional = {"bfloat16": "BF16", "int8": "INT8"}
    return ["float32", *(name for name, theirs in optional.items() if theirs in capabilities)]


def _check(precision: str) -> None:
    if openvino is None:
        message = "engine=openvino needs OpenVINO, which is not installed: pip install openvino, "
        message += "or type engine=auto precision=auto, which in 'alphazero train' are "
        message += "evaluator.engine=auto evaluator.precision=auto."
        allowed = ["auto", "torch"]
        raise ConfigError(message, key="engine", value="openvino", allowed=allowed)
    available = cpu_precisions()
    if precision not in available:
        raise ConfigError.of("precision", precision, available, "this processor lacks it")


@functools.cache
def _core():
    """Return the process's only OpenVINO core.

    Each core's CPU plugin gives the thread a new signal stack (for AMX). When the core is freed,
    the plugin restores the previous stack, which may belong to a core that has been freed already.
    The next Ctrl-C would then find no stack and kill the process.
    """
    return openvino.Core()
