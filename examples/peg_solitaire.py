"""Peg solitaire on a triangle of 15 holes, a single-player game.

A peg jumps over a neighbour into an empty hole, and the peg that it jumps over is removed. The game
ends when no peg can jump; the fewer pegs left, the better. The triangle is the lower left half of a
square board:

    5  .
    4  O O
    3  O O O         an action is a jump, written by the squares where it starts and ends: a3a5
    2  O O O O
    1  O O O O O
       a b c d e
"""

import itertools
from typing import NamedTuple

import numpy as np

from alphazero.games import rules

SIDE = 5
#: The (row, column) of each hole; on a square board, the triangle is the part below the diagonal.
HOLES = [(row, column) for row in range(SIDE) for column in range(row + 1)]
#: int64[15], the square of each hole on the square board.
CELLS = np.array([row * SIDE + column for row, column in HOLES])
_INDEX = {hole: index for index, hole in enumerate(HOLES)}
_DIRECTIONS = ((-1, -1), (-1, 0), (0, -1), (0, 1), (1, 0), (1, 1))
#: int64[A, 3]: the holes where a jump starts, which it passes over, and where it ends.
JUMPS = np.array(
    [
        [_INDEX[row, column], _INDEX[row + down, column + right], _INDEX[target]]
        for (row, column), (down, right) in itertools.product(HOLES, _DIRECTIONS)
        if (target := (row + 2 * down, column + 2 * right)) in _INDEX
    ]
)


class PegSolitaire(NamedTuple):
    """Peg solitaire in which hole ``first_empty``, counted from 0, is empty at the start.

    State: int8[15], 1 for a hole with a peg, 0 for an empty one.
    """

    first_empty: int


GAME = PegSolitaire(0)


@rules.implement(PegSolitaire)
def num_players(game):
    return 1


@rules.implement(PegSolitaire)
def result_range(game):
    return -10.0, -1.0  # no game from this start ends with more than ten pegs


@rules.implement(PegSolitaire)
def result(game, state):
    return -np.sum(state)  # minus the number of pegs left


@rules.implement(PegSolitaire)
def reset(game, state):
    state[:] = 1
    state[game.first_empty] = 0


@rules.implement(PegSolitaire)
def player_to_move(game, state):
    return 0


@rules.njit
def is_legal(state, action):
    start, over, end = JUMPS[action]
    return state[start] == 1 and state[over] == 1 and state[end] == 0


@rules.implement(PegSolitaire)
def legal_actions(game, state, mask):
    for action in range(len(JUMPS)):
        mask[action] = is_legal(state, action)


@rules.implement(PegSolitaire)
def step(game, state, action):
    start, over, end = JUMPS[action]
    state[start] = 0
    state[over] = 0
    state[end] = 1


@rules.implement(PegSolitaire)
def is_over(game, state):
    for action in range(len(JUMPS)):
        if is_legal(state, action):
            return False
    return True


@rules.implement(PegSolitaire)
def observe(game, state, planes):
    for hole in range(len(state)):  # two planes, pegs and empty holes, so that the edge is visible
        row, column = CELLS[hole] // SIDE, CELLS[hole] % SIDE
        planes[1 - state[hole], row, column] = 1.0


@rules.implement(PegSolitaire)
def num_actions(game):
    return len(JUMPS)


@rules.implement(PegSolitaire)
def state_layout(game):
    return len(HOLES), np.dtype(np.int8)


@rules.implement(PegSolitaire)
def planes_shape(game):
    return 2, SIDE, SIDE


@rules.implement(PegSolitaire)
def max_plies(game):
    return len(HOLES) - 2  # of the 14 pegs, each jump removes one, and one is left


@rules.implement(PegSolitaire)
def symmetries(game):
    """Return the three rotations of the triangle and their mirror images."""
    jumps = {tuple(jump): action for action, jump in enumerate(JUMPS.tolist())}
    cells, actions = [], []
    for order in itertools.permutations(range(3)):
        # A hole's distances from the three sides, which add up to SIDE - 1.
        distances = [(SIDE - 1 - row, column, row - column) for row, column in HOLES]
        turned = [tuple(one[axis] for axis in order) for one in distances]
        source = [distances.index(one) for one in turned]
        board = np.arange(SIDE * SIDE)
        board[CELLS] = CELLS[source]
        cells.append(board)
        actions.append([jumps[tuple(source[hole] for hole in jump)] for jump in JUMPS])
    return np.array(cells, np.int32), np.array(actions, np.int32)


@rules.implement(PegSolitaire)
def cells(game, state):
    board = np.full(SIDE * SIDE, 3, np.int8)  # outside the triangle
    board[CELLS] = state
    return board.reshape(SIDE, SIDE)


@rules.implement(PegSolitaire)
def from_cells(game, board, player):
    state = board.ravel()[CELLS]
    if player or (cells(game, state) != board).any() or state.sum() in (0, len(HOLES)):
        raise ValueError("the board must have the shape of the triangle, with a peg and a hole.")
    return state.astype(np.int8)


@rules.implement(PegSolitaire)
def piece_letters(game):
    return ".OX#"


@rules.implement(PegSolitaire)
def action_squares(game, action):
    return tuple(CELLS[JUMPS[action, [0, 2]]])


@rules.implement(PegSolitaire)
def appearance(game):
    return rules.Appearance("Peg solitaire", ("Peg", ""), ("light", "dark"), "wood")
