"""The engine that runs the network with OpenVINO, on the CPU, in float32, bfloat16 or int8. It needs the extra `[openvino]`.

OpenVINO's own `convert_model` is not used: it sends usage figures to its maker from a forked copy of the process, which may hang when the program ends.
The network is converted once, with its weights as inputs of the graph; taking over new weights puts constants in their place and compiles, about
0.05 s in float32 and 0.2 s in int8, where the converter itself takes half a second or more.
"""

import copy
import functools
import threading
import warnings

import numpy as np
import torch

from alphazero.network.interface import expected_value
from alphazero.network.residual import folded
from alphazero.runtime.errors import ConfigError

try:
    import openvino
    from openvino import opset13 as operations
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder
except ImportError:
    openvino = None


class OpenVinoEngine:
    """See `alphazero.inference.engines.engine.Engine`.

    Args:
        precision: "float32", "bfloat16" or "int8" (the convolutions of the tower in int8, everything else in float32).
        num_threads: calls that run side by side, each on a core of its own.

    Raises:
        ConfigError: if OpenVINO is not installed or the processor lacks the precision.
    """

    def __init__(self, precision: str, num_threads: int):
        if openvino is None:
            raise ConfigError(
                "evaluator.engine=openvino needs OpenVINO: pip install openvino, "
                "or let evaluator.engine=auto and evaluator.precision=auto choose from what is here."
            )
        self._precision = precision
        self._num_threads = num_threads
        if precision not in precisions():
            raise ConfigError(
                f"evaluator.precision={precision} is not something that this processor has: use {' or '.join(precisions())}."
            )
        self._template = None
        self._thread = threading.local()
        self._generation = 0

    def load(self, network: torch.nn.Module, planes: np.ndarray) -> None:
        """See `alphazero.inference.engines.engine.Engine.load`."""
        network = folded(network).float().cpu().requires_grad_(False)
        if self._template is None:
            self._template = _convert(network, planes)
        model = _with_weights(self._template, network)
        if self._precision == "int8":
            model = quantized(model, planes)
        self._compiled = _core().compile_model(model, "CPU", self._options())
        self._generation += 1

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `alphazero.inference.evaluator.Evaluator.evaluate`."""
        request = self._request()
        request.infer([planes], share_inputs=True)
        return request.get_output_tensor(0).data.copy(), request.get_output_tensor(1).data.copy()

    def _request(self):
        """Return this thread's own request on the newest weights."""
        thread = self._thread
        if getattr(thread, "generation", None) != self._generation:
            thread.request, thread.generation = (
                self._compiled.create_infer_request(),
                self._generation,
            )
        return thread.request

    def _options(self) -> dict:
        return {
            "INFERENCE_PRECISION_HINT": "bf16" if self._precision == "bfloat16" else "f32",
            "NUM_STREAMS": self._num_threads,
            "INFERENCE_NUM_THREADS": self._num_threads,
            "ENABLE_CPU_PINNING": False,
        }


def precisions() -> list[str]:
    """Return the number formats that OpenVINO has on this processor, none where it is not installed."""
    if openvino is None:
        return []
    able = _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    return ["float32"] + [
        ours for ours, theirs in (("bfloat16", "BF16"), ("int8", "INT8")) if theirs in able
    ]


@functools.cache
def _core():
    """Return the process's one core of OpenVINO.

    Each core's processor plugin gives the thread a stack of its own for signals (for AMX), and its end puts back the one that was there before, though
    that may belong to a core that has ended by then: with several of them, the next Ctrl-C may find no stack and the program dies.
    """
    return openvino.Core()


class _WeightsAsInputs(torch.nn.Module):
    """The network as a function of planes and weights; answers logits and values."""

    def __init__(self, network: torch.nn.Module):
        super().__init__()
        network = copy.deepcopy(network)
        self._hidden = [
            network
        ]  # in a list, so that it is no part of this module whose own weights would be traced
        self._slots = [
            (module, name)
            for module in network.modules()
            for name, weight in module._parameters.items()
            if weight is not None
        ]
        self.weights = [module._parameters.pop(name).data for module, name in self._slots]

    def forward(self, planes, *weights):
        for (module, name), weight in zip(self._slots, weights):
            object.__setattr__(module, name, weight)
        output = self._hidden[0](planes)
        return output.prior_logits, expected_value(output.value_logits)


def _convert(network: torch.nn.Module, planes: np.ndarray):
    """Return the network as an OpenVINO graph whose inputs are planes of any number of positions, and every weight."""
    function = _WeightsAsInputs(network)
    example = torch.from_numpy(planes[:2])
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # the tracer wonders about a branch on the kind of value head, which never changes
        decoder = TorchScriptPythonDecoder(function, example_input=(example, *function.weights))
    frontend = FrontEndManager().load_by_framework("pytorch")
    model = frontend.convert(frontend.load(decoder))
    model.reshape(
        {model.inputs[0]: [-1, *planes.shape[1:]]}
        | {port: list(w.shape) for port, w in zip(model.inputs[1:], function.weights)}
    )
    return model


def _with_weights(template, network: torch.nn.Module):
    """Return the graph with the network's weights as constants."""
    model = template.clone()
    for parameter, weight in zip(model.get_parameters()[1:], network.parameters()):
        constant = operations.constant(weight.numpy())
        parameter.output(0).replace(constant.output(0))
        model.remove_parameter(parameter)
    model.validate_nodes_and_infer_types()
    return model


def quantized(model, planes: np.ndarray):
    """Mark the tower's convolutions for int8: 8-bit weights with a scale for each output channel, 8-bit inputs with one scale for a layer.

    The inputs' scales come from the largest value seen on ``planes``; smaller ones, as NNCF's default takes them, cut off what a trained value
    head lives on (mean policy divergence of a trained Connect Four network: 0.0004 nats against NNCF's 0.016). The stem sees zeros and ones and
    the heads are small: both stay in float32 and cost nothing.
    """
    largest = _largest_inputs(model, planes)
    for convolution, bound in zip(_tower(model), largest):
        source = convolution.input_value(0)
        low, high = (
            operations.constant(np.full((1, 1, 1, 1), limit, np.float32)) for limit in (0.0, bound)
        )
        users = (
            source.get_target_inputs()
        )  # the skip connection too: one pass over the values less, 6 % of a 5 x 64 network's time
        rounded = operations.fake_quantize(source, low, high, low, high, 256)
        for user in users:
            user.replace_source_output(rounded.output(0))
        weights = convolution.input_value(1)
        scale = np.abs(weights.get_node().get_data()).max(
            axis=(1, 2, 3), keepdims=True
        ) + np.float32(1e-12)
        low, high = operations.constant(-scale), operations.constant(scale)
        convolution.input(1).replace_source_output(
            operations.fake_quantize(weights, low, high, low, high, 255).output(0)
        )
    model.validate_nodes_and_infer_types()
    return model


def _tower(model) -> list:
    """Return the convolutions that are fed by a ReLU and look at more than one cell: those of the residual blocks."""
    return [
        node
        for node in model.get_ordered_ops()
        if node.get_type_name() == "Convolution"
        and node.input_value(0).get_node().get_type_name() == "Relu"
        and max(node.input_value(1).get_shape()[2:]) > 1
    ]


def _largest_inputs(model, planes: np.ndarray) -> list[float]:
    """Return the largest input of each convolution of the tower on ``planes``, in the order of `_tower`."""
    probe = model.clone()
    inputs = [
        operations.reduce_max(
            node.input_value(0), operations.constant(np.arange(4)), keep_dims=False
        )
        for node in _tower(probe)
    ]
    if not inputs:
        return []
    answers = _core().compile_model(
        openvino.Model(inputs, probe.get_parameters()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )([planes])
    return [max(float(answers[index]), 1e-6) for index in range(len(inputs))]
