"""The fastest engine of this machine for a player, measured once for each network shape.

In: a network, sample positions, and an engine and a precision that may be "auto". Out: an
`EngineChoice`. A player asks about single positions (a game at the terminal) and about batches
(a match), so both speeds count. Whether the engine is accurate enough for the network's weights is
decided whenever they are loaded (`alphazero.inference.verified_engine`).
"""

import math
import sys

import torch

from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import PositionSample
from alphazero.inference.engines.engine import REFERENCE, EngineChoice
from alphazero.inference.engines.selection import candidates, measure_batch_sizes
from alphazero.inference.measurements import (
    measurement_path,
    read_measurement,
    write_measurement,
)
from alphazero.network.interface import NetworkSettings
from alphazero.network.registry import identity_of

_BATCH_SIZES = (1, 64)


def fastest_engine(
    game: Game,
    network: torch.nn.Module,
    settings: NetworkSettings,
    sample: PositionSample,
    wanted: EngineChoice,
    device: torch.device,
    num_threads: int,
) -> EngineChoice:
    """Return the engine and the number format that a player uses.

    The engines are measured once on this machine, for each architecture and number of threads; the
    result is stored. Nothing is measured if an engine is named, or if only one is available.

    Args:
        settings: the architecture of ``network``.
        sample: positions to measure on.
        wanted: the player's settings. With a named engine, the precision "auto" is float32. With
            the engine "auto", the fastest engine that has the precision is chosen.
        num_threads: number of concurrent calls of the engine on a CPU.
    """
    if wanted.engine != "auto":
        precision = "float32" if wanted.precision == "auto" else wanted.precision
        return EngineChoice(wanted.engine, precision)
    choices = candidates(wanted.engine, wanted.precision, device)
    if {choice.engine for choice in choices} == {"torch"}:
        precision = REFERENCE.precision if wanted.precision == "auto" else wanted.precision
        return EngineChoice("torch", precision)  # not worth measuring
    if len(choices) <= 1:
        return choices[0] if choices else EngineChoice("openvino", wanted.precision)
    shape = [game.planes_shape, game.num_actions, *identity_of(settings), wanted.precision]
    path = measurement_path("engine", device, num_threads, shape)
    stored = read_measurement(path) or {}
    for choice in choices:
        if stored.get("fastest") == list(choice):
            return choice
    print(
        "Measuring which engine runs this network fastest: once on this machine, some seconds ...",
        file=sys.stderr,
        flush=True,
    )
    speeds = measure_batch_sizes(choices, network, sample.planes, _BATCH_SIZES, device, num_threads)
    best = max(speeds, key=lambda choice: math.prod(speeds[choice]))
    figures = {str(choice): list(map(round, speed)) for choice, speed in speeds.items()}
    write_measurement(path, {"fastest": list(best), "evaluations_per_s": figures})
    return best
