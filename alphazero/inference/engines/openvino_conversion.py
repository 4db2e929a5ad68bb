"""Converts a torch network to an OpenVINO model.

The converted model takes the weights as inputs, so a network is converted only once; constants with
the newest weights then replace these inputs. `openvino.convert_model` would send usage statistics
to Intel (see `alphazero.inference.engines.openvino_engine`), so this module calls the undocumented
`TorchScriptPythonDecoder` beneath it; tried with OpenVINO 2025.0, 2025.4, 2026.1 and 2026.4.
``tests/inference/test_engines.py`` compares the converted network with torch.
"""

import copy
import warnings

import numpy as np
import openvino
import torch
from openvino import opset13 as operations
from openvino.frontend import FrontEndManager
from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

from alphazero.network.interface import expected_value

# The tracer warns of a branch on the type of value head, which is fixed for each network. This
# filter is permanent: `warnings.catch_warnings` in another thread would remove a temporary one.
warnings.filterwarnings("ignore", category=torch.jit.TracerWarning, module="alphazero")


def convert(network: torch.nn.Module, planes: np.ndarray) -> openvino.Model:
    """Convert a network to an OpenVINO model that maps planes and all weights to logits and values.

    Args:
        network: the network, in evaluation mode on the CPU.
        planes: float32[M, C, H, W], example input; the model accepts any number of positions.
    """
    function = _WeightsAsInputs(network)
    example = (torch.from_numpy(planes[:2]), *function.weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decoder = TorchScriptPythonDecoder(function, example_input=example)
    frontend = FrontEndManager().load_by_framework("pytorch")
    model = frontend.convert(frontend.load(decoder))
    shapes = [[-1, *planes.shape[1:]]]
    shapes += [list(weight.shape) for weight in function.weights]
    model.reshape(dict(zip(model.inputs, shapes)))
    return model


def with_weights(template: openvino.Model, network: torch.nn.Module) -> openvino.Model:
    """Return a copy of a converted model whose weight inputs are constants with given weights.

    Args:
        template: the result of `convert`, which stays unchanged.
        network: the network with these weights, of the same architecture as the converted one.
    """
    model = template.clone()
    for parameter, weight in zip(model.get_parameters()[1:], network.parameters()):
        constant = operations.constant(weight.numpy())
        parameter.output(0).replace(constant.output(0))
        model.remove_parameter(parameter)
    model.validate_nodes_and_infer_types()
    return model


class _WeightsAsInputs(torch.nn.Module):
    """A network as a function from planes and weights to policy logits and values.

    (`torch.func.functional_call` would be shorter but cannot be traced.)
    """

    def __init__(self, network: torch.nn.Module):
        super().__init__()
        network = copy.deepcopy(network)
        self._network = [network]  # in a list: a submodule's weights would be traced as constants
        self._places = [
            (module, name)
            for module in network.modules()
            for name, _ in module.named_parameters(recurse=False)
        ]
        self.weights = [getattr(module, name).data for module, name in self._places]
        for module, name in self._places:
            delattr(module, name)  # `forward` sets it to a tensor, which a parameter cannot be

    def forward(self, planes, *weights):
        for (module, name), weight in zip(self._places, weights):
            setattr(module, name, weight)
        output = self._network[0](planes)
        return output.prior_logits, expected_value(output.value_logits)
