"""Snort (S. Norton): place a piece on an empty square that shares no edge with an opponent's piece.
A player who cannot move loses.

Actions are the squares, row by row. docs/COMPILED_RULES.md explains this file step by step.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules


class Snort(NamedTuple):
    """Snort on a board with ``side`` squares on each side.

    State: int8[side**2 + 1]: the squares (0 empty, 1 first player, 2 second player) and the player
    to move.
    """

    side: int


GAME = Snort(5)


@rules.implement(Snort)
def reset(game, state):
    state[:] = 0


@rules.implement(Snort)
def player_to_move(game, state):
    return np.int64(state[game.side * game.side])


@rules.njit
def is_legal(game, state, square):
    side = game.side
    row, column = square // side, square % side
    opponent = 2 - state[side * side]
    if state[square] != 0:
        return False
    if row > 0 and state[square - side] == opponent:
        return False
    if row < side - 1 and state[square + side] == opponent:
        return False
    if column > 0 and state[square - 1] == opponent:
        return False
    return not (column < side - 1 and state[square + 1] == opponent)


@rules.implement(Snort)
def legal_actions(game, state, mask):
    for square in range(game.side * game.side):
        mask[square] = is_legal(game, state, square)


@rules.implement(Snort)
def step(game, state, action):
    mover = state[game.side * game.side]
    state[action] = 1 + mover
    state[game.side * game.side] = 1 - mover


@rules.implement(Snort)
def is_over(game, state):
    for square in range(game.side * game.side):
        if is_legal(game, state, square):
            return False
    return True


@rules.implement(Snort)
def result(game, state):
    return -1  # the player to move has lost: no legal action is left


@rules.implement(Snort)
def observe(game, state, planes):
    own = 1 + state[game.side * game.side]
    for square in range(game.side * game.side):
        if state[square] != 0:
            plane = 0 if state[square] == own else 1
            planes[plane, square // game.side, square % game.side] = 1.0


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
    return rules.square_tables(game.side)


@rules.implement(Snort)
def cells(game, state):
    return state[:-1].reshape(game.side, game.side).copy()


@rules.implement(Snort)
def from_cells(game, board, player):
    return np.append(board.ravel(), player).astype(np.int8)
