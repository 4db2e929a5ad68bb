"""Othello on boards too large for `Othello`, whose states have 64 bits per player.

Rules, actions and text are the same. A state has one byte per square, row by row from the top. The
squares are inside a border, where every run of discs stops. Each row has one border byte on its
left, which also serves as the right border of the row before. For 4 x 4:

     0   1  2  3  4
     5   6  7  8  9     actions 0 to 3
    10  11 12 13 14     actions 4 to 7
    15  16 17 18 19
    20  21 22 23 24
    25  26 27 28 29
    30                  state[31]: the player to move; state[32]: 1 if the game is over
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.othello import Othello, place_score
from alphazero.runtime.jit import njit

BORDER = -1
EMPTY = 0
MOVE = 3  #: an empty square where the player to move may place a disc


class LargeOthello(NamedTuple):
    """The game of Othello on a board with ``size`` rows and columns; ``size`` is even.

    State: int8[(size + 2) * (size + 1) + 3]. The squares and their border come first: -1 is the
    border, 0 empty, 1 a white disc, 2 a black one, and 3 an empty square where the player to move
    may place a disc. The last two entries are the player to move (0 is white, who begins) and
    whether the game is over (1 or 0).
    """

    size: int


@rules.implement(LargeOthello)
def reset(game, state):
    # Of the four middle squares, White has the diagonal from top left to bottom right.
    middle = game.size // 2
    state[:-2] = BORDER
    state[-2:] = 0
    for row in range(game.size):
        for column in range(game.size):
            is_middle = middle - 1 <= min(row, column) and max(row, column) <= middle
            piece = 1 if row == column else 2
            state[place_of(game, row, column)] = piece if is_middle else EMPTY
    find_moves(game, state)


@rules.implement(LargeOthello)
def player_to_move(game, state):
    return np.int64(state[-2])


@rules.implement(LargeOthello)
def is_over(game, state):
    return state[-1] == 1


@rules.implement(LargeOthello)
def result(game, state):
    difference = disc_difference(state)
    return (difference > 0) - (difference < 0)


@njit
def disc_difference(state):
    """Return the number of discs of the player to move minus that of the opponent."""
    difference = 0
    for place in range(len(state) - 2):
        if state[place] == 1 + state[-2]:
            difference += 1
        elif state[place] == 2 - state[-2]:
            difference -= 1
    return difference


@rules.implement(LargeOthello)
def legal_actions(game, state, mask):
    mask[-1] = not rules.is_over(game, state)
    for row in range(game.size):
        for column in range(game.size):
            is_move = state[place_of(game, row, column)] == MOVE
            mask[row * game.size + column] = is_move
            mask[-1] &= not is_move


@njit
def place_of(game, row, column):
    """Return the index of a square in the state."""
    return (row + 1) * (game.size + 1) + column + 1


@rules.implement(LargeOthello)
def step(game, state, action):
    if action != game.size * game.size:
        place = place_of(game, action // game.size, action % game.size)
        piece = 1 + state[-2]
        for direction in directions(game):
            for i in range(num_enclosed(state, place, direction, piece) + 1):
                state[place + i * direction] = piece
    state[-2] = 1 - state[-2]
    find_moves(game, state)


@njit
def directions(game):
    """Return the index offset in the state to the next square, for each of the 8 directions."""
    width = game.size + 1
    return 1, width - 1, width, width + 1, -1, 1 - width, -width, -width - 1


@njit
def num_enclosed(state, place, direction, piece):
    """Return how many discs a new disc ``piece`` (1 or 2) at ``place`` flips in one direction."""
    count = 0
    place += direction
    while state[place] == 3 - piece:
        count += 1
        place += direction
    return count if state[place] == piece else 0


@njit
def num_flipped(game, state, place, piece):
    """Return how many discs a new disc ``piece`` (1 or 2) at ``place`` flips in all directions."""
    count = 0
    for direction in directions(game):
        count += num_enclosed(state, place, direction, piece)
    return count


@njit
def find_moves(game, state):
    """Mark the moves of the player to move, or end the game if neither player has a move."""
    if not _mark_moves(game, state, 1 + state[-2]):
        state[-1] = not _mark_moves(game, state, 2 - state[-2])
        _mark_moves(game, state, 1 + state[-2])  # removes the opponent's marks


@njit
def _mark_moves(game, state, piece):
    """Mark the squares where a disc ``piece`` (1 or 2) may go; return whether there are any."""
    found = False
    for place in range(len(state) - 2):
        if state[place] == EMPTY or state[place] == MOVE:
            is_move = num_flipped(game, state, place, piece) > 0
            state[place] = MOVE if is_move else EMPTY
            found |= is_move
    return found


@rules.implement(LargeOthello)
def observe(game, state, planes):
    pieces = (1 + state[-2], 2 - state[-2], MOVE)
    for row in range(game.size):
        for column in range(game.size):
            for plane in range(3):
                planes[plane, row, column] = state[place_of(game, row, column)] == pieces[plane]


@rules.implement(LargeOthello)
def action_scores(game, state, weights, scores):
    lead = disc_difference(state) + 1
    scores[-1] = 0.0
    for row in range(game.size):
        for column in range(game.size):
            place = place_of(game, row, column)
            if state[place] == MOVE:
                score = weights[0] * (lead + 2 * num_flipped(game, state, place, 1 + state[-2]))
                score += place_score(game, row, column, weights)
                scores[row * game.size + column] = score


@rules.implement(LargeOthello)
def state_layout(game):
    return (game.size + 2) * (game.size + 1) + 3, np.dtype(np.int8)


@rules.implement(LargeOthello)
def cells(game, state):
    return _squares(game, state) % MOVE


def _squares(game, state) -> np.ndarray:
    """Return a view of the squares of a state, int8[size, size]."""
    return state[:-3].reshape(game.size + 2, game.size + 1)[1:-1, 1:]


@rules.implement(LargeOthello)
def from_cells(game, board, player):
    state = np.full(rules.state_layout(game)[0], BORDER, np.int8)
    _squares(game, state)[:] = board
    state[-2:] = player, 0
    find_moves(game, state)
    return state


rules.share_python_rules(Othello, LargeOthello)
