"""Export a stored network as one Python file that plays Kaggle's ConnectX.

The file consists of the source of `alphazero.interop.kaggle_agent`, followed by the network's
weights as text. The game must be Connect-X.
"""

import base64
import io
import textwrap
from collections.abc import Callable
from importlib import metadata as packages
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from alphazero.games.batched_game import Game
from alphazero.interop import kaggle_agent
from alphazero.network.line_mapping import scale_and_offset
from alphazero.network.patterns import PatternNetwork
from alphazero.network.weights import network_arrays
from alphazero.network.window_states import RADIUS, regions
from alphazero.network.windows import WindowNetwork
from alphazero.runtime.errors import ConfigError

MARK = b'# Written by "alphazero export format=kaggle"'  #: the beginning of every submission
_LINE_LENGTH = 100


def to_bytes(game: Game, network: nn.Module, info: dict[str, Any]) -> bytes:
    """Return the Python source, in UTF-8, of a submission that plays with a network.

    Args:
        network: the network, a torch module.
        info: the network's metadata (see `alphazero.network.weights.NetworkFile`); its run and
            iteration are written into a comment.

    Raises:
        ConfigError: if the game is not Connect-X, or the network is neither a `WindowNetwork` nor
            a `PatternNetwork`.
    """
    board = _board(game)
    if isinstance(network, WindowNetwork):
        arrays = _window_arrays(network, *board[:2])
    elif isinstance(network, PatternNetwork):
        arrays = _pattern_arrays(network, *board[:2])
    else:
        takes = "networks trained with network=windows or network=patterns"
        message = f"format=kaggle takes {takes}, not a {type(network).__name__}."
        raise ConfigError(message, key="format", value="kaggle")
    stored = io.BytesIO()
    np.savez_compressed(stored, **arrays)
    encoded = base64.b85encode(stored.getvalue()).decode()
    weights = textwrap.wrap(encoded, _LINE_LENGTH)
    facts = [f"{key} {info[key]}" for key in ("run", "iteration") if key in info]
    version = packages.version("alphazero-selfplay")
    lines = [
        f"{MARK.decode()}, version {version}.",
        f"# The network: {', '.join([game.name, *facts])}.",
        Path(kaggle_agent.__file__).read_text(encoding="utf-8").rstrip(),
        "",
        "",
        "# The network's game, and its weights: an .npz file in base 85.",
        f"BOARD = {board}",
        'WEIGHTS = """',
        *weights,
        '"""',
        "",
    ]
    return "\n".join(lines).encode()


def evaluation_of(data: bytes) -> Callable:
    """Return the function with which a submission maps planes to prior logits and values.

    Args:
        data: the contents of the submission file, which are executed as Python code.
    """
    return submission_module(data)["load_network"]().evaluate


def submission_module(data: bytes) -> dict[str, Any]:
    """Execute a submission as Kaggle does, and return its global variables by name.

    Args:
        data: the contents of the submission file.
    """
    names: dict[str, Any] = {}
    exec(compile(data.decode(), "submission.py", "exec"), names)
    return names


def _board(game: Game) -> tuple[int, int, int]:
    """Return the rows, the columns and the line length of a Connect-X game.

    Raises:
        ConfigError: if the game is not Connect-X.
    """
    sizes: Any = getattr(game, "rules", None)
    if type(sizes).__name__ not in ("ConnectX", "LargeConnectX"):
        takes = "networks of connect_four and connect_x:ROWSxCOLUMNSxLENGTH"
        message = f"format=kaggle takes {takes}, not of {game.name}."
        raise ConfigError(message, key="format", value="kaggle")
    return sizes.rows, sizes.columns, sizes.length


@torch.inference_mode()
def _window_arrays(network: WindowNetwork, height: int, width: int) -> dict[str, Any]:
    """Return a network's weights for a board as `kaggle_agent.WindowNetwork` takes them."""
    arrays = _common_arrays(network)
    scale, offset = scale_and_offset(network.norm)
    arrays[f"lines.{RADIUS - 1}.weight"] *= np.tile(scale, 3)
    start = network.place(height, width) * scale + offset
    arrays["start"] = start.numpy().reshape(height, width, -1)
    scale, offset = scale_and_offset(network.middle_norm)
    arrays["middle.bias"] = offset.numpy()
    pointwise = (network.pointwise.weight[:, :, 0, 0] * scale[:, None]).numpy()  # [output, input]
    depthwise = network.depthwise.weight.numpy().reshape(-1, 9)
    middle = np.einsum("oi,ip->pio", pointwise, depthwise)  # [place, input, output]
    middle[4] += np.eye(len(scale), dtype=np.float32)  # the input, which is added to the result
    arrays["middle.weight"] = middle.reshape(-1, len(scale))
    means = np.zeros((10, height, width), np.float32)
    for mean, (top, bottom, left, right) in zip(
        means, [(0, height, 0, width), *regions(height, width)]
    ):
        mean[top:bottom, left:right] = 1 / max((bottom - top) * (right - left), 1)
    arrays["means"] = means.reshape(len(means), -1)
    return arrays


@torch.inference_mode()
def _pattern_arrays(network: PatternNetwork, height: int, width: int) -> dict[str, Any]:
    """Return a network's weights as `kaggle_agent.PatternNetwork` takes them."""
    arrays = _common_arrays(network)
    weights, bias = (tensor.numpy() for tensor in network.folded_shared())
    arrays["shared.weight"] = weights.reshape(len(bias), height, width, -1)
    arrays["shared.bias"] = bias
    return arrays


def _common_arrays(network: WindowNetwork | PatternNetwork) -> dict[str, Any]:
    """Return the weights of the heads and of the convolutions along lines."""
    stored = network_arrays(network)
    heads = ("policy", "value")
    arrays = {name: array for name, array in stored.items() if name.startswith(heads)}
    arrays["directions"] = np.array(network.lines.groups)
    for index, layer in enumerate(network.lines.layers):
        kernels = np.stack([convolution.weight.numpy()[:, :, 0] for convolution in layer])
        matrices = kernels.transpose(0, 2, 3, 1)  # [G, inputs, 3, outputs]
        arrays[f"lines.{index}.weight"] = matrices.reshape(*matrices.shape[:2], -1)
        if layer[0].bias is not None:
            arrays[f"lines.{index}.bias"] = np.stack([one.bias.numpy() for one in layer])
    return arrays
