"""Othello on boards too large for `Othello`, whose states have 64 bits per player.

Rules, actions and text are the same. A state has one word per row and kind of square, and a last
word of flags. For 10 x 10:

    state[0:10]     row 0 to 9: the discs of the player to move
    state[10:20]    the opponent's discs
    state[20:30]    the squares where the player to move may place a disc
    state[30]       flags

Bit number c of a row's word is the square in column c. Discs in the directions down and up are
found row by row, in three columns at once: with shifts by 0 and by 1 in both directions.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import othello, rules
from alphazero.games.othello import ONE, ZERO
from alphazero.runtime.bits import popcount
from alphazero.runtime.jit import njit
from alphazero.runtime.random_generators import random_below

TWO = np.uint64(2)


class LargeOthello(NamedTuple):
    """The game of Othello on a board with ``size`` rows and columns: even, from 4 to 16.

    State: uint16[3 * size + 1]. The rows of three sets of bits come first: the discs of the player
    to move, the opponent's discs, and the squares where the player to move may place a disc. The
    last entry holds flags: bit 0 is the player to move (0 is white, who begins), and bit 1 is set
    if the game is over.
    """

    size: int


@rules.implement(LargeOthello)
def reset(game, state):
    # White has the diagonal from top left to bottom right of the four middle squares.
    middle = game.size // 2
    left = ONE << np.uint64(middle - 1)
    right = ONE << np.uint64(middle)
    state[:] = 0
    state[middle - 1] = left
    state[middle] = right
    state[game.size + middle - 1] = right
    state[game.size + middle] = left
    find_moves(game, state)


@rules.implement(LargeOthello)
def player_to_move(game, state):
    return np.int64(state[3 * game.size] & ONE)


@rules.implement(LargeOthello)
def is_over(game, state):
    return state[3 * game.size] > ONE


@rules.implement(LargeOthello)
def result(game, state):
    difference = disc_difference(game, state)
    if difference > 0:
        return 1
    return -1 if difference < 0 else 0


@njit
def disc_difference(game, state):
    """Return the number of discs of the player to move minus that of the opponent's."""
    difference = 0
    for row in range(game.size):
        difference += popcount(state[row]) - popcount(state[game.size + row])
    return difference


@rules.implement(LargeOthello)
def legal_actions(game, state, mask):
    size = game.size
    has_move = False
    for row in range(size):
        moves = np.uint64(state[2 * size + row])
        has_move |= moves != ZERO
        for column in range(size):
            mask[row * size + column] = ((moves >> np.uint64(column)) & ONE) != ZERO
    mask[size * size] = not has_move and not rules.is_over(game, state)


@rules.implement(LargeOthello)
def step(game, state, action):
    size = game.size
    if action != size * size:
        row = action // size
        column = action % size
        state[row] |= ONE << np.uint64(column)
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                for i in range(1, 1 + num_enclosed(game, state, row, column, down, right)):
                    disc = ONE << np.uint64(column + i * right)
                    state[row + i * down] |= disc
                    state[size + row + i * down] ^= disc
    for row in range(size):
        mine = state[row]
        state[row] = state[size + row]
        state[size + row] = mine
    state[3 * size] ^= ONE
    find_moves(game, state)


@njit
def num_enclosed(game, state, row, column, down, right):
    """Count the opponent's discs that a disc on (row, column) encloses in one direction.

    The direction is that of the step (down, right), where both are -1, 0 or 1. The step (0, 0)
    encloses nothing.
    """
    size = game.size
    count = 0
    row += down
    column += right
    while 0 <= row < size and 0 <= column < size:
        square = np.uint64(column)
        if (state[size + row] >> square) & ONE == ZERO:
            return count if (state[row] >> square) & ONE != ZERO else 0
        count += 1
        row += down
        column += right
    return 0


@njit
def find_moves(game, state):
    """Store the squares where the player to move may place a disc.

    If neither player can place a disc, the game is over and bit 1 of the flags is set.
    """
    size = game.size
    if not _store_moves(game, state, 0, size):
        if _store_moves(game, state, size, 0):
            state[2 * size : 3 * size] = 0
        else:
            state[3 * size] |= TWO


@njit
def _store_moves(game, state, mine, other):
    """Store the moves of one player, and return whether there are any.

    Args:
        mine: index in ``state`` of the first row of this player's discs.
        other: index of the first row of the other player's discs.
    """
    size = game.size
    moves = 2 * size
    board = (ONE << np.uint64(size)) - ONE
    for row in range(size):
        own = np.uint64(state[mine + row])
        others = np.uint64(state[other + row])
        # A bit added at the start of a run is carried to the square past its end.
        ends = others + (others & (own << ONE))
        run = others & (own >> ONE)
        for _ in range(size - 3):
            run |= others & (run >> ONE)
        state[moves + row] = (ends | (run >> ONE)) & board & ~(own | others)
    for down in (1, -1):
        row = 0 if down == 1 else size - 1
        before = ZERO  # own discs in the row before
        west = ZERO  # runs that reach the row before, by the columns that they move in each row
        straight = ZERO
        east = ZERO
        found = ZERO
        for _ in range(size):
            own = np.uint64(state[mine + row])
            others = np.uint64(state[other + row])
            ends = (west >> ONE) | straight | (east << ONE)
            row_moves = state[moves + row] | (ends & board & ~(own | others))
            state[moves + row] = row_moves
            found |= row_moves
            west = others & ((before | west) >> ONE)
            straight = others & (before | straight)
            east = others & ((before | east) << ONE)
            before = own
            row += down
    return found != ZERO


@rules.implement(LargeOthello)
def random_action(game, state, rng, mask):
    size = game.size
    count = 0
    for row in range(2 * size, 3 * size):
        count += popcount(state[row])
    if count == 0:
        return size * size
    remaining = random_below(rng, count)
    row = 0
    while remaining >= popcount(state[2 * size + row]):
        remaining -= popcount(state[2 * size + row])
        row += 1
    return row * size + othello.nth_bit_index(np.uint64(state[2 * size + row]), remaining)


@rules.implement(LargeOthello)
def observe(game, state, planes):
    for plane in range(3):
        for row in range(game.size):
            squares = np.uint64(state[plane * game.size + row])
            for column in range(game.size):
                planes[plane, row, column] = np.float32((squares >> np.uint64(column)) & ONE)


@rules.implement(LargeOthello)
def action_scores(game, state, weights, scores):
    size = game.size
    difference = disc_difference(game, state)
    scores[size * size] = 0.0
    for row in range(size):
        for column in range(size):
            if (state[2 * size + row] >> np.uint64(column)) & ONE != ZERO:
                num_flipped = 0
                for down in (-1, 0, 1):
                    for right in (-1, 0, 1):
                        num_flipped += num_enclosed(game, state, row, column, down, right)
                score = weights[0] * (difference + 1 + 2 * num_flipped)
                score += othello.place_score(game, row, column, weights)
                scores[row * size + column] = score


@rules.implement(LargeOthello)
def state_layout(game):
    return 3 * game.size + 1, np.dtype(np.uint16)


@rules.implement(LargeOthello)
def cells(game, state):
    player = int(rules.player_to_move(game, state))
    rows = state[: 2 * game.size].reshape(2, game.size, 1)
    mine, other = (rows >> np.arange(game.size, dtype=np.uint16) & 1).astype(np.int8)
    return (1 + player) * mine + (2 - player) * other


@rules.implement(LargeOthello)
def from_cells(game, board, player):
    # Every board is accepted, reachable or not: puzzles and odd openings are useful too.
    state = np.zeros(3 * game.size + 1, np.uint16)
    columns = 1 << np.arange(game.size)
    state[: game.size] = (board == 1 + player) @ columns
    state[game.size : 2 * game.size] = (board == 2 - player) @ columns
    state[3 * game.size] = player
    find_moves(game, state)
    return state


for rule in (
    othello.num_actions,
    othello.planes_shape,
    othello.max_plies,
    othello.symmetries,
    othello.piece_letters,
    othello.appearance,
    othello.action_squares,
    othello.action_to_text,
    othello.text_to_action,
    othello.rollout_weights,
    othello.feature_names,
):
    rules.implement(LargeOthello)(rule)
