"""Snort (S. Norton): the players take turns to put a piece on an empty square that is not beside a piece of the other side, sharing an edge
with it. Who cannot move has lost. An action is a square, row by row; docs/ADD_A_GAME.md walks through this file.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.symmetry import square_tables
from alphazero.runtime.jit import njit


class Snort(NamedTuple):
    """Side of the board. State: int8[side**2 + 1] = the squares (0 empty, 1 first player, 2 second player), then the player to move."""

    side: int


GAME = Snort(5)


@rules.implement(Snort)
def reset(game, state):
    state[:] = 0


@rules.implement(Snort)
def player_to_move(game, state):
    return np.int64(state[game.side * game.side])


@njit
def is_legal(game, state, square):
    side, enemy = game.side, 2 - state[game.side * game.side]
    row, column = square // side, square % side
    if (
        state[square] != 0
        or (row > 0 and state[square - side] == enemy)
        or (row < side - 1 and state[square + side] == enemy)
    ):
        return False
    return not (
        (column > 0 and state[square - 1] == enemy)
        or (column < side - 1 and state[square + 1] == enemy)
    )


@rules.implement(Snort)
def legal_actions(game, state, mask):
    for square in range(game.side * game.side):
        mask[square] = is_legal(game, state, square)


@rules.implement(Snort)
def step(game, state, action):
    state[action] = 1 + state[game.side * game.side]
    state[game.side * game.side] = 1 - state[game.side * game.side]


@rules.implement(Snort)
def is_over(game, state):
    for square in range(game.side * game.side):
        if is_legal(game, state, square):
            return False
    return True


@rules.implement(Snort)
def result(game, state):
    return -1  # from the viewpoint of the player to move, who has no move left


@rules.implement(Snort)
def observe(game, state, planes):
    mine = 1 + state[game.side * game.side]
    for square in range(game.side * game.side):
        if state[square] != 0:
            planes[0 if state[square] == mine else 1, square // game.side, square % game.side] = 1.0


@rules.implement(Snort)
def num_actions(game):
    return game.side * game.side


@rules.implement(Snort)
def state_layout(game):
    return game.side * game.side + 1, np.dtype(np.int8)


@rules.implement(Snort)
def planes_shape(game):
    return 2, game.side, game.side


@rules.implement(Snort)
def max_plies(game):
    return game.side * game.side


@rules.implement(Snort)
def symmetries(game):
    return square_tables(game.side)


@rules.implement(Snort)
def cells(game, state):
    return state[:-1].reshape(game.side, game.side).copy()


@rules.implement(Snort)
def from_cells(game, board, player):
    return np.append(board.ravel(), player).astype(np.int8)
