"""Gomoku: players place pieces on a board; `length` or more in a row win.

Black begins. A line may be longer than `length` (free-style, without the forbidden moves of renju).
A full board without a line is a draw. An action is the number of the square that it fills. A
state has one byte per square, row by row from the top, followed by three more bytes. For 3 x 4:

    0 1  2  3      state[12]: the player to move
    4 5  6  7      state[13]: 1 if the last piece completed a line
    8 9 10 11      state[14]: the number of White's pieces
    squares
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import connect_x, connect_x_large, rules
from alphazero.games.symmetry import rectangle_tables
from alphazero.runtime.random_generators import random_below

SIDES = ("Black", "White")


class Gomoku(NamedTuple):
    """The game of Gomoku on a board of any size; ``length`` or more pieces in a row win.

    State: uint8[rows * columns + 3]. The squares come first, row by row from the top: 0 is empty,
    1 a black piece, 2 a white one. The last three entries are the player to move (0 is Black, 1
    White), whether the last piece completed a line (1 or 0), and the number of white pieces. The
    number of all pieces, twice that number plus the player to move, may not fit into a byte.
    """

    rows: int
    columns: int
    length: int


@rules.implement(Gomoku)
def reset(game, state):
    state[:] = 0


@rules.implement(Gomoku)
def is_over(game, state):
    end = game.rows * game.columns
    return state[end + 1] == 1 or 2 * np.int64(state[end + 2]) + state[end] == end


@rules.implement(Gomoku)
def legal_actions(game, state, mask):
    over = rules.is_over(game, state)
    for square in range(game.rows * game.columns):
        mask[square] = not over and state[square] == 0


@rules.implement(Gomoku)
def step(game, state, action):
    end = game.rows * game.columns
    row = action // game.columns
    column = action % game.columns
    state[action] = 1 + state[end]
    state[end + 1] = connect_x_large.has_line_through(game, state, row, column)
    state[end + 2] += state[end]
    state[end] = 1 - state[end]


@rules.implement(Gomoku)
def random_action(game, state, rng, mask):
    while True:
        square = random_below(rng, game.rows * game.columns)
        if state[square] == 0:
            return square


@rules.implement(Gomoku)
def num_actions(game):
    return game.rows * game.columns


@rules.implement(Gomoku)
def state_layout(game):
    return game.rows * game.columns + 3, np.dtype(np.uint8)


@rules.implement(Gomoku)
def symmetries(game):
    return rectangle_tables(game.rows, game.columns)


@rules.implement(Gomoku)
def appearance(game):
    title = "Gomoku" if game[:2] == (15, 15) else f"Gomoku, {game.rows} x {game.columns}"
    return rules.Appearance(
        title=title if game.length == 5 else f"{title}, {game.length} in a row",
        sides=SIDES,
        colors=("dark", "light"),
        board="points",
        line_length=game.length,
        rules="Players take turns placing a stone where two lines cross. "
        f"{game.length} or more stones in a row win, in any direction; a full board is a draw.",
    )


@rules.implement(Gomoku)
def action_squares(game, action):
    return (int(action),)


@rules.implement(Gomoku)
def from_cells(game, board, player):
    line = connect_x.check_turn(board, player, game.length, SIDES)
    facts = [player, line, np.count_nonzero(board == 2)]
    return np.concatenate([board.ravel(), facts]).astype(np.uint8)


for rule in (
    connect_x_large.player_to_move,
    connect_x_large.result,
    connect_x_large.observe,
    connect_x_large.cells,
    connect_x.planes_shape,
    connect_x.max_plies,
):
    rules.implement(Gomoku)(rule)
