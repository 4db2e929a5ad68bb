"""Write a network as an ONNX file, for other programs and for browsers, or, if its kind is windows
or patterns, as a submission to Kaggle's ConnectX. The file's answers are compared with the
network's on 1,000 positions of random games; a file that does not agree is not written.

    alphazero export network=best game=othello output=othello.onnx
    alphazero export network=checkpoints/connect_four/RUN
    alphazero export network=best game=connect_four format=kaggle output=submission.py
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from alphazero.cli.players import DEFAULT_GAME
from alphazero.config.settings import option
from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import sample_positions
from alphazero.interop import kaggle_submission, onnx_file
from alphazero.network.interface import expected_value
from alphazero.own_games.registry import make_game
from alphazero.players.base import NETWORK_KIND_HELP
from alphazero.players.network import game_of_network, load_module
from alphazero.players.registry import network_path
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError, InputError, require
from alphazero.runtime.files import check_output, unwritable, write_output
from alphazero.runtime.random_generators import child_generator
from alphazero.storage.run_folder import RunFolder, find_network, folder_name

#: The modules that write and run each file format.
_FORMATS = {"onnx": onnx_file, "kaggle": kaggle_submission}
NETWORK_HELP = "best, latest, hf:OWNER/NAME, or the path of a network or a run"
NUM_POSITIONS = 1000
#: Largest difference allowed; rounding in float32 causes 1e-5. For logits, it is multiplied by the
#: largest absolute logit, if that is above 1.
TOLERANCE = 1e-3
#: Number of random games: few, so that the positions come from all parts of the games.
_NUM_GAMES = 16


@dataclasses.dataclass
class Settings:
    """Settings of the `export` command: the network, and the format and path of the file."""

    network: str = option("best", NETWORK_HELP)
    game: str | None = option(None, f"the game; by default the network's, for best {DEFAULT_GAME}")
    network_kind: str | None = option(None, NETWORK_KIND_HELP)
    format: str = option("onnx", "kaggle: a player of ConnectX", choices=("onnx", "kaggle"))
    output: str = option("", "the file to write; by default GAME.onnx or submission.py")
    root: str = option("checkpoints", "the folder of all runs, for latest without a game")


def run(settings: Settings, console: Console) -> None:
    """Export the network to a file.

    The file's path and the largest differences between its outputs and the network's are printed.

    Raises:
        ConfigError: if a setting cannot be used, or the file exists and is not an exported network.
        InputError: if the exported outputs deviate too much; nothing is written then.
    """
    file_format = _FORMATS[settings.format]
    if settings.format == "onnx":
        require("onnx", "onnx", "onnxscript", "onnxruntime")
    game, path = game_and_network(settings.network, settings.game, settings.root)
    default = "submission.py" if settings.format == "kaggle" else f"{folder_name(game.name)}.onnx"
    output = Path(settings.output or default)
    if output.is_file() and file_format.MARK not in output.read_bytes():
        reason = "it exists and was not written by this command; name another file"
        raise unwritable(output, "output", reason)
    check_output(output, "output")
    network, _, file = load_module(game, path, settings.network_kind)
    data = file_format.to_bytes(game, network, file.info)
    agreement = check_agreement(game, network, file_format.evaluation_of(data))
    write_output(output, data)
    text = (
        f"{path} is exported to {output} ({len(data):,} bytes).\n"
        f"Largest differences on {NUM_POSITIONS:,} positions of random games: "
        f"logits {agreement.logits:.1e}, values {agreement.value:.1e}."
    )
    console.print(text, markup=False)


class Agreement(NamedTuple):
    """The largest differences between the outputs of a network and those of its exported form."""

    logits: float  #: largest difference between prior logits
    value: float  #: largest difference between values, which are in [-1, 1]


def check_agreement(game: Game, network: nn.Module, evaluate: Callable) -> Agreement:
    """Compare a network with its exported form on `NUM_POSITIONS` positions from random games.

    Args:
        game: the network's game.
        network: the original; it is moved to the CPU and converted to float32 in place.
        evaluate: maps planes, float32[M, C, H, W], to the prior logits, [M, A], and the values,
            [M], of the exported network.

    Returns:
        The largest differences between their outputs.

    Raises:
        InputError: if the outputs differ by more than `TOLERANCE` allows, or one of them is NaN.
    """
    generator = child_generator(0, "export")
    planes = sample_positions(game, NUM_POSITIONS, generator, _NUM_GAMES).planes
    with torch.inference_mode():
        output = network.cpu().float().eval()(torch.from_numpy(planes))
    own_logits = output.prior_logits.numpy()
    own_values = expected_value(output.value_logits).numpy()
    logits, values = evaluate(planes)
    logits_difference = float(np.abs(logits - own_logits).max())
    value_difference = float(np.abs(values - own_values).max())
    scale = max(float(np.abs(own_logits).max()), 1.0)
    # NaN fails these comparisons, so it is refused too.
    if not (logits_difference <= TOLERANCE * scale and value_difference <= TOLERANCE):
        raise InputError(
            "the exported network differs from the original: "
            f"logits by up to {logits_difference:.2g}, values by up to {value_difference:.2g}; "
            f"{TOLERANCE:g} is allowed."
        )
    return Agreement(logits_difference, value_difference)


def game_and_network(spec: str, named: str | None, root: str) -> tuple[Game, Path]:
    """Return the game and the path of the network file that a command's settings select.

    Args:
        spec: the network, as in `NETWORK_HELP`.
        named: the game named by the user, or None.
        root: the folder of all runs.

    Raises:
        ValueError: if the network does not exist, or plays another game than the one named.
    """
    if spec == "latest" and named is None:
        folder = RunFolder.find("latest", root, None, key="network")
        spec = str(folder.path)
    game = make_game(named or DEFAULT_GAME)
    file_or_run = network_path(spec, game.name, game.rules_digest)
    if file_or_run is None:
        raise ConfigError.of("network", spec, NETWORK_HELP)
    path = find_network(file_or_run)
    if spec in ("best", "latest", "network"):
        return game, path
    return game_of_network(path, named), path
