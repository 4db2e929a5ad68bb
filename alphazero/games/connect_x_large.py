"""Connect-X on boards too large for `ConnectX`, whose states have 64 bits per player.

Rules, actions and text are the same. A state has one byte per cell, row by row from the top,
followed by three more bytes. For 2 x 3:

    0 1 2      row 0      state[6]: the player to move
    3 4 5      row 1      state[7]: 1 if the last disc completed a line
    -----                 state[8]: the number of columns that are not full
    0 1 2      actions
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import connect_x, rules
from alphazero.runtime.jit import njit
from alphazero.runtime.random_generators import random_below


class LargeConnectX(NamedTuple):
    """A game of Connect-X on a large board; ``length`` discs in a row win.

    State: int8[rows * columns + 3]. The cells come first, row by row from the top: 0 is empty,
    1 the first player's disc, 2 the second's. The last three entries are the player to move (0
    or 1), whether the last disc completed a line (1 or 0), and the number of columns that are
    not full.
    """

    rows: int
    columns: int
    length: int


@rules.implement(LargeConnectX)
def reset(game, state):
    state[:] = 0
    state[game.rows * game.columns + 2] = game.columns


@rules.implement(LargeConnectX)
def player_to_move(game, state):
    return np.int64(state[game.rows * game.columns])


@rules.implement(LargeConnectX)
def is_over(game, state):
    end = game.rows * game.columns
    return state[end + 1] == 1 or state[end + 2] == 0


@rules.implement(LargeConnectX)
def result(game, state):
    return -1 if state[game.rows * game.columns + 1] == 1 else 0


@rules.implement(LargeConnectX)
def legal_actions(game, state, mask):
    over = rules.is_over(game, state)
    for column in range(game.columns):
        mask[column] = not over and state[column] == 0


@rules.implement(LargeConnectX)
def step(game, state, action):
    end = game.rows * game.columns
    row = game.rows - 1
    while state[row * game.columns + action] != 0:
        row -= 1
    state[row * game.columns + action] = 1 + state[end]
    state[end] = 1 - state[end]
    state[end + 1] = has_line_through(game, state, row, action)
    if row == 0:
        state[end + 2] -= 1


@njit
def has_line_through(game, state, row, column):
    """Return 1 if the disc at (row, column) belongs to a run of ``game.length`` discs, else 0."""
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        forward = _discs_beside(game, state, row, column, down, right)
        backward = _discs_beside(game, state, row, column, -down, -right)
        if forward + 1 + backward >= game.length:
            return 1
    return 0


@njit
def _discs_beside(game, state, row, column, down, right):
    """Count the same player's discs that follow the disc at (row, column) without a gap.

    They are counted in the direction of the step (down, right), where both are -1, 0 or 1. The disc
    at (row, column) is not counted.
    """
    disc = state[row * game.columns + column]
    count = 0
    row += down
    column += right
    while (
        0 <= row < game.rows
        and 0 <= column < game.columns
        and state[row * game.columns + column] == disc
    ):
        count += 1
        row += down
        column += right
    return count


@rules.implement(LargeConnectX)
def random_action(game, state, rng, mask):
    while True:
        column = random_below(rng, game.columns)
        if state[column] == 0:
            return column


@rules.implement(LargeConnectX)
def observe(game, state, planes):
    mine = 1 + state[game.rows * game.columns]
    for row in range(game.rows):
        for column in range(game.columns):
            disc = state[row * game.columns + column]
            if disc != 0:
                planes[0 if disc == mine else 1, row, column] = 1.0


@rules.implement(LargeConnectX)
def state_layout(game):
    return game.rows * game.columns + 3, np.dtype(np.int8)


@rules.implement(LargeConnectX)
def cells(game, state):
    board = state[: game.rows * game.columns]
    return board.reshape(game.rows, game.columns).astype(np.int8)


@rules.implement(LargeConnectX)
def from_cells(game, board, player):
    line = connect_x.check_position(board, player, game.length)
    open_columns = np.count_nonzero(board[0] == 0)
    facts = [player, line, open_columns]
    return np.concatenate([board.ravel(), facts]).astype(np.int8)


rules.share_python_rules(connect_x.ConnectX, LargeConnectX)
