"""Konane on 4 x 5, begun with two pieces gone: a game that no other test knows.

A piece jumps over an opponent's piece beside it to the empty square behind, and takes it; it may
jump a second time in the same direction. Who cannot jump has lost. konane_game_python.py is the
same game, written without a look at this one.

An action is 8 * square + 2 * direction + (1 for two jumps); directions are up, right, down, left.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules


class Konane(NamedTuple):
    """State: int8[rows * columns + 1]: the squares, then the player to move."""

    rows: int
    columns: int


GAME = Konane(4, 5)


@rules.implement(Konane)
def reset(game, state):
    for square in range(game.rows * game.columns):
        state[square] = 1 + (square // game.columns + square % game.columns) % 2
    state[game.columns + 1] = 0
    state[game.columns + 2] = 0
    state[game.rows * game.columns] = 0


@rules.implement(Konane)
def player_to_move(game, state):
    return np.int64(state[game.rows * game.columns])


@rules.njit
def behind(game, square, direction, steps):
    """Return the square so many steps away, -1 if it is beyond the edge."""
    row, column = square // game.columns, square % game.columns
    if direction == 0:
        row -= steps
    elif direction == 1:
        column += steps
    elif direction == 2:
        row += steps
    else:
        column -= steps
    if row < 0 or row >= game.rows or column < 0 or column >= game.columns:
        return -1
    return row * game.columns + column


@rules.njit
def may_jump(game, state, square, direction, jumps):
    player = state[game.rows * game.columns]
    if state[square] != 1 + player:
        return False
    for jump in range(jumps):
        over = behind(game, square, direction, 2 * jump + 1)
        to = behind(game, square, direction, 2 * jump + 2)
        if to < 0 or state[over] != 2 - player or state[to] != 0:
            return False
    return True


@rules.implement(Konane)
def legal_actions(game, state, mask):
    for action in range(8 * game.rows * game.columns):
        mask[action] = may_jump(game, state, action // 8, action // 2 % 4, 1 + action % 2)


@rules.implement(Konane)
def step(game, state, action):
    square, direction = action // 8, action // 2 % 4
    piece = state[square]
    state[square] = 0
    for jump in range(1 + action % 2):
        state[behind(game, square, direction, 2 * jump + 1)] = 0
    state[behind(game, square, direction, 2 + 2 * (action % 2))] = piece
    state[game.rows * game.columns] = 1 - state[game.rows * game.columns]


@rules.implement(Konane)
def is_over(game, state):
    for action in range(8 * game.rows * game.columns):
        if may_jump(game, state, action // 8, action // 2 % 4, 1 + action % 2):
            return False
    return True


@rules.implement(Konane)
def result(game, state):
    return -1


@rules.implement(Konane)
def observe(game, state, planes):
    own = 1 + state[game.rows * game.columns]
    for square in range(game.rows * game.columns):
        if state[square] != 0:
            plane = 0 if state[square] == own else 1
            planes[plane, square // game.columns, square % game.columns] = 1.0


@rules.implement(Konane)
def num_actions(game):
    return 8 * game.rows * game.columns


@rules.implement(Konane)
def state_layout(game):
    return game.rows * game.columns + 1, np.dtype(np.int8)


@rules.implement(Konane)
def planes_shape(game):
    return 2, game.rows, game.columns


@rules.implement(Konane)
def max_plies(game):
    return game.rows * game.columns


@rules.implement(Konane)
def cells(game, state):
    return state[:-1].reshape(game.rows, game.columns).copy()
