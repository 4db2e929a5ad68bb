"""The fastest engine of this machine for a player, measured once for each network shape.

In: a network, sample positions, and an engine and a precision that may be "auto". Out: an
`EngineChoice`. A player asks about single positions (a game at the terminal) and about batches
(a match), so both speeds count. Whether the engine is accurate enough for the network's weights is
decided whenever they are loaded (`alphazero.inference.verified_engine`).
"""

import dataclasses
import importlib.util
import math
import sys
from pathlib import Path
from typing import NamedTuple

import torch

from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.engines.engine import REFERENCE, EngineChoice
from alphazero.inference.engines.selection import candidates, measure_batch_sizes
from alphazero.inference.measurements import measured_once, measurement_path, read_measurement
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import identity_of

_BATCH_SIZES = (1, 64)


class PlayerNetwork(NamedTuple):
    """A network and what its speed on this machine depends on."""

    game: Game
    module: torch.nn.Module
    settings: NetworkSettings  #: the architecture of ``module``
    sample: PositionSample  #: positions to measure on
    device: torch.device
    num_threads: int  #: number of concurrent calls of the engine on a CPU


@dataclasses.dataclass
class _Measured:
    fastest: list[str]  #: an `EngineChoice`
    evaluations_per_s: dict[str, list[int]]  #: of each engine, with each of `_BATCH_SIZES`


def fastest_engine(
    network: PlayerNetwork, wanted: EngineChoice, is_announced: bool = True
) -> EngineChoice:
    """Return the engine and the number format that a player uses.

    The engines are measured once on this machine, for each architecture and number of threads; the
    result is stored. Nothing is measured if an engine is named, or if only one is available.

    Args:
        wanted: the player's settings. With a named engine, the precision "auto" is float32. With
            the engine "auto", the fastest engine that has the precision is chosen.
        is_announced: print a line before measuring.
    """
    if wanted.engine != "auto":
        precision = "float32" if wanted.precision == "auto" else wanted.precision
        return EngineChoice(wanted.engine, precision)
    _, module, _, sample, device, num_threads = network
    choices = candidates(wanted.engine, wanted.precision, device)
    if {choice.engine for choice in choices} == {"torch"}:
        precision = REFERENCE.precision if wanted.precision == "auto" else wanted.precision
        return EngineChoice("torch", precision)  # not worth measuring
    if len(choices) <= 1:
        return choices[0] if choices else EngineChoice("openvino", wanted.precision)

    def measure() -> _Measured:
        if is_announced:
            print(
                "Measuring which engine runs this network fastest: once on this machine, some "
                "seconds ...",
                file=sys.stderr,
                flush=True,
            )
        planes = sample.planes
        speeds = measure_batch_sizes(choices, module, planes, _BATCH_SIZES, device, num_threads)
        best = max(speeds, key=lambda choice: math.prod(speeds[choice]))
        figures = {str(choice): list(map(round, speed)) for choice, speed in speeds.items()}
        return _Measured(list(best), figures)

    return EngineChoice(*measured_once(_path(network, wanted), _Measured, measure).fastest)


def is_known(network: PlayerNetwork, wanted: EngineChoice) -> bool:
    """Return whether `fastest_engine` need not measure. No engine is imported to find out."""
    if wanted.engine != "auto" or not has_other_engines(network.device):
        return True
    return read_measurement(_path(network, wanted), _Measured) is not None


def has_other_engines(device: torch.device) -> bool:
    """Return whether there is an engine besides torch, without importing it."""
    return device.type == "cpu" and importlib.util.find_spec("openvino") is not None


def _path(network: PlayerNetwork, wanted: EngineChoice) -> Path:
    shape = [network.game.planes_shape, network.game.num_actions, *identity_of(network.settings)]
    shape.append(wanted.precision)
    return measurement_path("engine", network.device, network.num_threads, shape)
