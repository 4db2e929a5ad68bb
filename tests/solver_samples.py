"""Positions that the exact solvers solve within a test."""

import numpy as np
from game_samples import random_games

from alphazero.own_games.registry import make_game


def late_states(name, max_empties, num, seed):
    """Return positions of random games with few empty cells.

    Args:
        max_empties: the most empty cells.
        num: how many positions; there must be so many.

    Returns:
        [num, K], unfinished positions.
    """
    game = make_game(name)
    plies, _ = random_games(game, 400, seed)
    # A ply fills at most one cell, so the plies before this one have more empty cells.
    first = np.count_nonzero(game.cells(game.initial_states()[0]) == 0) - max_empties
    states = np.concatenate([ply.states for ply in plies[max(first, 0) :]])
    empties = np.array([np.count_nonzero(game.cells(state) == 0) for state in states])
    late = states[empties <= max_empties]
    assert len(late) >= num
    return np.random.default_rng(seed).permutation(late)[:num]
