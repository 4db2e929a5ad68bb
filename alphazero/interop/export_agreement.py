"""Compare the outputs of an exported network with those of the original.

Both are run on positions from random games, and an export fails if their outputs differ by more
than rounding explains.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from alphazero.games.batched_game import Game
from alphazero.inference.engines.agreement import sample_positions
from alphazero.network.interface import expected_value
from alphazero.runtime.errors import InputError
from alphazero.runtime.random_generators import child_generator

NUM_POSITIONS = 1000
#: Largest difference allowed; rounding in float32 causes 1e-5. For logits, it is multiplied by the
#: largest absolute logit, if that is above 1.
TOLERANCE = 1e-3
#: Number of random games: few, so that the positions come from all parts of the games.
_NUM_GAMES = 16

#: A function that maps planes, float32[M, C, H, W], to prior logits, [M, A], and values, [M], for
#: the player to move.
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Agreement(NamedTuple):
    """The largest differences between the outputs of a network and those of its exported form."""

    logits: float  #: largest difference between prior logits
    value: float  #: largest difference between values, which are in [-1, 1]


def check_agreement(game: Game, network: nn.Module, evaluate: Evaluate) -> Agreement:
    """Compare a network with its exported form on `NUM_POSITIONS` positions from random games.

    Args:
        game: the network's game.
        network: the original; it is moved to the CPU and converted to float32 in place.
        evaluate: maps planes to the prior logits and values of the exported network.

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
