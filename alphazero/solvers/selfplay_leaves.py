"""The exact leaves of self-play: one for each of its threads, with costs measured once.

In: a game and the setting `search.exact_leaves`. Out: a function that makes `ProvenLeaves`. The
costs are counted in nodes on positions that the seed determines, so all machines find the same.
"""

import copy
import math
from collections.abc import Callable

from alphazero.games.batched_game import Game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.exact_leaves import (
    ProvenLeaves,
    Tier,
    game_positions,
    leaf_costs,
    make_prover,
)

_NUM_GAMES = 64  # random games, on whose positions the cost of exact leaves is measured


def exact_leaves_maker(
    game: Game, nodes: float, num_threads: int, seed: int
) -> Callable[[], ProvenLeaves] | None:
    """Return a function that makes the exact leaves of a thread; None if there are none.

    Args:
        nodes: what an answer may cost on average; 0 is no exact leaves.
        num_threads: how often the function can be called.
        seed: of the run.

    Raises:
        ConfigError: if the game has no exact search.
    """
    if not nodes:
        return None
    prover = make_prover(game)
    if prover is None:
        reason = f"it needs compiled rules, which {game.name} lacks"
        raise ConfigError.of("search.exact_leaves", nodes, 0, reason)
    provers = iter([prover, *(copy.deepcopy(prover) for _ in range(num_threads - 1))])
    positions = game_positions(game, _NUM_GAMES, child_generator(seed, "exact leaves"))
    costs = leaf_costs(prover, positions, nodes)
    tiers = [Tier(nodes, math.inf)]
    return lambda: ProvenLeaves([next(provers)], costs, tiers)
