"""Breakthrough (D. Troyka): pieces move one square straight or diagonally forward, and capture only
diagonally. The player who reaches the opponent's first row or takes all pieces wins.

The first player starts at the bottom and moves up. breakthrough_python.py is the same game as
a plain Python class.

An action is 6 * square + direction, with the directions of both players:

    0 1 2    up: left, straight, right         squares, row by row from the top: row * side + column
      o
    3 4 5    down: left, straight, right
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules


class Breakthrough(NamedTuple):
    """Breakthrough on a board with ``side`` squares on each side, at least 5.

    State: int8[side**2 + 1]: the squares (0 empty, 1 first player, 2 second player) and the player
    to move.
    """

    side: int


GAME = Breakthrough(5)


@rules.implement(Breakthrough)
def reset(game, state):
    side = game.side
    state[:] = 0
    state[: 2 * side] = 2
    state[side * side - 2 * side : side * side] = 1


@rules.implement(Breakthrough)
def player_to_move(game, state):
    return np.int64(state[game.side * game.side])


@rules.njit
def target(game, square, direction):
    """Return the square that a direction leads to, or -1 if it is off the board."""
    side = game.side
    row = square // side + (-1 if direction < 3 else 1)
    column = square % side + direction % 3 - 1
    if row < 0 or row >= side or column < 0 or column >= side:
        return -1
    return row * side + column


@rules.njit
def is_legal(game, state, square, direction):
    player = state[game.side * game.side]
    if state[square] != 1 + player or (direction < 3) != (player == 0):
        return False
    to = target(game, square, direction)
    if to < 0 or state[to] == 1 + player:
        return False
    return direction % 3 != 1 or state[to] == 0


@rules.implement(Breakthrough)
def legal_actions(game, state, mask):
    over = rules.is_over(game, state)
    for action in range(6 * game.side * game.side):
        mask[action] = not over and is_legal(game, state, action // 6, action % 6)


@rules.implement(Breakthrough)
def step(game, state, action):
    state[target(game, action // 6, action % 6)] = state[action // 6]
    state[action // 6] = 0
    state[game.side * game.side] = 1 - state[game.side * game.side]


@rules.implement(Breakthrough)
def is_over(game, state):
    # Only the player who has just moved can have won.
    side, player = game.side, state[game.side * game.side]
    goal = 0 if player == 1 else side * side - side
    for square in range(goal, goal + side):
        if state[square] == 2 - player:
            return True
    for square in range(side * side):
        if state[square] == 1 + player:
            return False
    return True


@rules.implement(Breakthrough)
def result(game, state):
    return -1  # the player to move has lost: the opponent got through or took the last piece


@rules.implement(Breakthrough)
def observe(game, state, planes):
    # The players move in different directions, so a third plane shows who is to move.
    side, player = game.side, state[game.side * game.side]
    for square in range(side * side):
        row, column = square // side, square % side
        if state[square] != 0:
            planes[0 if state[square] == 1 + player else 1, row, column] = 1.0
        planes[2, row, column] = np.float32(player)


@rules.implement(Breakthrough)
def num_actions(game):
    return 6 * game.side * game.side


@rules.implement(Breakthrough)
def state_layout(game):
    return game.side * game.side + 1, np.dtype(np.int8)


@rules.implement(Breakthrough)
def planes_shape(game):
    return 3, game.side, game.side


@rules.implement(Breakthrough)
def max_plies(game):
    # Before the move that wins, pieces of the two rows make at most side - 2 and side - 3 steps.
    return 2 * game.side * (2 * game.side - 5) + 1


@rules.implement(Breakthrough)
def symmetries(game):
    squares = np.arange(game.side**2, dtype=np.int32).reshape(game.side, game.side)
    actions = np.arange(6 * game.side**2, dtype=np.int32).reshape(game.side, game.side, 2, 3)
    mirrored = squares[:, ::-1], actions[:, ::-1, :, ::-1]
    return tuple(np.stack([a.ravel(), b.ravel()]) for a, b in zip((squares, actions), mirrored))


@rules.implement(Breakthrough)
def cells(game, state):
    return state[:-1].reshape(game.side, game.side).copy()


@rules.implement(Breakthrough)
def from_cells(game, board, player):
    return np.append(board.ravel(), player).astype(np.int8)


@rules.implement(Breakthrough)
def action_squares(game, action):
    to = int(target(game, action // 6, action % 6))
    return (action // 6, to) if to >= 0 else ()  # off the board: never legal


@rules.implement(Breakthrough)
def piece_letters(game):
    return ".WB"


@rules.implement(Breakthrough)
def appearance(game):
    return rules.Appearance("Breakthrough", ("White", "Black"), ("light", "dark"), "wood")
