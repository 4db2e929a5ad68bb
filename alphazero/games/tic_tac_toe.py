"""Tic-tac-toe: three in a row win, in any direction; a full board is a draw; X moves first.

Each player's cells are bits 0 to 8 of a word. An action is the number of the bit that it sets;
people type that number plus 1:

    0 1 2        1 2 3
    3 4 5        4 5 6
    6 7 8        7 8 9
    bits         keys
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.symmetry import square_tables
from alphazero.runtime.bits import popcount
from alphazero.runtime.random_generators import random_below

LINES = (
    0b000000111,
    0b000111000,
    0b111000000,
    0b001001001,
    0b010010010,
    0b100100100,
    0b100010001,
    0b001010100,
)
FULL = np.uint64(0b111111111)
ONE = np.uint64(1)
ZERO = np.uint64(0)


class TicTacToe(NamedTuple):
    """The game of tic-tac-toe; ``side`` is the number of rows and of columns, always 3.

    State: uint64[2]. Entry 0 holds the cells of the player to move as a set of bits, entry 1
    those of the opponent.
    """

    side: int


def _line_table() -> np.ndarray:
    """Return a table, bool[512], of the sets of cells that contain a line.

    The index of a set is the number whose 9 bits mark its cells.
    """
    return np.array([any(cells & line == line for line in LINES) for cells in range(512)])


def _nth_cell_table() -> np.ndarray:
    """Return a table of the cells in each set of cells, int8[512, 9], which fits into the L1 cache.

    Entry [s, n] is the n-th lowest cell, counted from 0, in the set whose bits are s, or 0 if the
    set has no such cell.
    """
    table = np.zeros((512, 9), np.int8)
    for cells in range(512):
        indices = [index for index in range(9) if cells >> index & 1]
        table[cells, : len(indices)] = indices
    return table


HAS_LINE = _line_table()
NTH_CELL = _nth_cell_table()


@rules.implement(TicTacToe)
def reset(game, state):
    state[0] = ZERO
    state[1] = ZERO


@rules.implement(TicTacToe)
def player_to_move(game, state):
    return popcount(state[0] | state[1]) & 1


@rules.implement(TicTacToe)
def is_over(game, state):
    return HAS_LINE[state[1]] or (state[0] | state[1]) == FULL


@rules.implement(TicTacToe)
def result(game, state):
    return -1 if HAS_LINE[state[1]] else 0


@rules.implement(TicTacToe)
def legal_actions(game, state, mask):
    over = rules.is_over(game, state)
    taken = state[0] | state[1]
    for action in range(9):
        mask[action] = not over and ((taken >> np.uint64(action)) & ONE) == ZERO


@rules.implement(TicTacToe)
def step(game, state, action):
    mine = state[0] | (ONE << np.uint64(action))
    state[0] = state[1]
    state[1] = mine


@rules.implement(TicTacToe)
def random_action(game, state, rng, mask):
    free = FULL & ~(state[0] | state[1])
    return np.int64(NTH_CELL[free, random_below(rng, popcount(free))])


@rules.implement(TicTacToe)
def observe(game, state, planes):
    for cell in range(9):
        row = cell // 3
        column = cell % 3
        bit = np.uint64(cell)
        planes[0, row, column] = np.float32((state[0] >> bit) & ONE)
        planes[1, row, column] = np.float32((state[1] >> bit) & ONE)


@rules.implement(TicTacToe)
def num_actions(game):
    return 9


@rules.implement(TicTacToe)
def state_layout(game):
    return 2, np.dtype(np.uint64)


@rules.implement(TicTacToe)
def planes_shape(game):
    return 2, 3, 3


@rules.implement(TicTacToe)
def max_plies(game):
    return 9


@rules.implement(TicTacToe)
def symmetries(game):
    return square_tables(3)


@rules.implement(TicTacToe)
def appearance(game):
    return rules.Appearance(
        title="Tic-tac-toe",
        colors=("x", "o"),
        board="lines",
        line_length=3,
        rules="Players take turns marking a square. "
        "Three marks in a row win, in any direction; a full board is a draw.",
    )


@rules.implement(TicTacToe)
def cells(game, state):
    player = int(rules.player_to_move(game, state))
    board = np.zeros(9, np.int8)
    for cell in range(9):
        for owner in (0, 1):
            if int(state[owner]) >> cell & 1:
                board[cell] = 1 + (player ^ owner)
    return board.reshape(3, 3)


@rules.implement(TicTacToe)
def from_cells(game, board, player):
    first = np.count_nonzero(board == 1)
    second = np.count_nonzero(board == 2)
    if first - second != player:
        raise ValueError(
            f"with {first} X and {second} O it is not {'XO'[player]}'s turn: X begins, and has as "
            "many as O or one more."
        )
    words = [
        sum(1 << int(cell) for cell in np.flatnonzero(board.ravel() == piece))
        for piece in (1 + player, 2 - player)
    ]
    if HAS_LINE[words[0]]:
        raise ValueError(
            f"{'XO'[player]} is to move but already has three in a row: the game is over."
        )
    return np.array(words, np.uint64)


@rules.implement(TicTacToe)
def action_to_text(game, action):
    return str(action + 1)


@rules.implement(TicTacToe)
def text_to_action(game, text):
    text = text.strip()
    if len(text) != 1 or text not in "123456789":
        raise ValueError(f"'{text}' is not a square: type one key from 1 to 9.")
    return int(text) - 1
