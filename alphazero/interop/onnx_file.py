"""Export a stored network as one ONNX file, for programs without this package.

The inputs, outputs and metadata of the file contain everything needed to use it:

    planes        float32[batch, C, H, W], the position as the player to move sees it
    prior_logits  float32[batch, A], the policy's logits; illegal actions are not masked
    value         float32[batch], expected result for the player to move, in [-1, 1]

The export needs the packages of the extra ``onnx``, which are imported only when used. Its caller
checks that they are there.
"""

import contextlib
import io
import json
import warnings
from collections.abc import Callable
from importlib import metadata as packages
from typing import Any

import numpy as np
import torch
from torch import nn

from alphazero.games.batched_game import Game
from alphazero.network.interface import expected_value
from alphazero.network.residual import folded
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import reason_of

ONNX_FORMAT = "alphazero-onnx-1"
MARK = ONNX_FORMAT.encode()  #: bytes in every file that this package writes
#: Version of ONNX's operator set, which all recent runtimes support.
_OPSET = 18
_DOCS = {
    "planes": "The position as the player to move sees it, rows from the top: 1 = yes, 0 = no.",
    "prior_logits": "Logits of the policy. Mask illegal actions before the softmax.",
    "value": "Expected result for the player to move: 1 a win, 0 a draw, -1 a loss.",
}


class _PolicyAndValue(nn.Module):
    """Wraps a network so that it outputs one expected value per position, not value logits."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        output = self.network(planes)
        return output.prior_logits, expected_value(output.value_logits)


def to_bytes(game: Game, network: nn.Module, info: dict[str, Any]) -> bytes:
    """Convert a network to the bytes of a self-contained ONNX file in float32.

    Args:
        network: the network, a torch module.
        info: the network's metadata (see `alphazero.network.weights.NetworkFile`); its run,
            iteration and rules digest are stored in the file.

    Raises:
        ConfigError: if torch cannot export the network.
    """
    import onnx

    model = _traced(game, network)
    for node in model.graph.node:
        del node.metadata_props[:]  # locations in torch's source code
    for value in (*model.graph.input, *model.graph.output):
        del value.metadata_props[:]
        value.doc_string = _DOCS[value.name]
    model.producer_name = "alphazero-selfplay"
    model.producer_version = packages.version("alphazero-selfplay")
    model.doc_string = f"Policy and value of {game.name}, from the player to move."
    onnx.helper.set_model_props(model, _properties(game, info))
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


def evaluation_of(data: bytes) -> Callable:
    """Make a function that evaluates positions with an ONNX file, run on the CPU by onnxruntime.

    Args:
        data: the contents of the file.

    Returns:
        A function that maps planes to prior logits and values.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, values = session.run(["prior_logits", "value"], {"planes": planes})
        return logits, values

    return evaluate


def _traced(game: Game, network: nn.Module) -> Any:
    """Convert a network to an ONNX model with torch's exporter.

    Raises:
        ConfigError: if torch cannot export the network.
    """
    example = torch.zeros(2, *game.planes_shape)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                _PolicyAndValue(folded(network)).eval(),
                (example,),
                dynamo=True,
                input_names=["planes"],
                output_names=["prior_logits", "value"],
                dynamic_shapes=({0: torch.export.Dim("batch")},),
                opset_version=_OPSET,
                verbose=False,
            )
    except Exception as error:  # the exporter raises many types; a user's network may be unknown
        reason = f"torch cannot export this network ({reason_of(error)[:300]})"
        raise ConfigError.of("format", "onnx", reason=reason) from error
    return program.model_proto


def _properties(game: Game, info: dict[str, Any]) -> dict[str, str]:
    """Return the metadata to store in the ONNX file, as strings; the list of actions is in JSON.

    Args:
        info: the network's metadata (see `alphazero.network.weights.NetworkFile`); only its run,
            iteration and rules digest are used.
    """
    actions = [game.action_to_text(action) for action in range(game.num_actions)]
    properties = {
        "format": ONNX_FORMAT,
        "version": packages.version("alphazero-selfplay"),
        "game": game.name,
        "actions": json.dumps(actions),
    }
    for key in ("run", "iteration", "rules_digest"):
        if key in info:
            properties[key] = str(info[key])
    return properties
