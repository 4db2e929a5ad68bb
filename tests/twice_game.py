"""A tiny game for tests, in which the players do not alternate: they move as 0, 1, 1, 0, 0, 1.

They take squares of a row. A state stores who took which square but not in what order, so that many
lines lead to the same position.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules


class Twice(NamedTuple):
    """Number of squares, at most 6. State: int8[squares], 0 empty, -1 first player, 1 second."""

    squares: int


GAME = Twice(6)


@rules.implement(Twice)
def reset(game, state):
    for square in range(game.squares):
        state[square] = 0


@rules.implement(Twice)
def player_to_move(game, state):
    plies = 0
    for square in range(game.squares):
        plies += state[square] != 0
    return ((plies + 1) // 2) % 2


@rules.implement(Twice)
def legal_actions(game, state, mask):
    for square in range(game.squares):
        mask[square] = state[square] == 0


@rules.implement(Twice)
def step(game, state, action):
    state[action] = 2 * rules.player_to_move(game, state) - 1


@rules.implement(Twice)
def is_over(game, state):
    for square in range(game.squares):
        if state[square] == 0:
            return False
    return True


@rules.implement(Twice)
def result(game, state):
    # Two neighbouring squares of one player count for that player, more if they are further right.
    total = 0
    for square in range(game.squares - 1):
        if state[square] == state[square + 1]:
            total += (square + 1) * state[square]
    sign = 0 if total == 0 else (1 if total > 0 else -1)
    return sign if rules.player_to_move(game, state) == 1 else -sign


@rules.implement(Twice)
def observe(game, state, planes):
    for square in range(game.squares):
        planes[0, 0, square] = state[square]


@rules.implement(Twice)
def num_actions(game):
    return game.squares


@rules.implement(Twice)
def state_layout(game):
    return game.squares, np.dtype(np.int8)


@rules.implement(Twice)
def planes_shape(game):
    return 1, 1, game.squares


@rules.implement(Twice)
def max_plies(game):
    return game.squares


@rules.implement(Twice)
def cells(game, state):
    return np.where(state == 0, 0, np.where(state < 0, 1, 2)).astype(np.int8)[None]
