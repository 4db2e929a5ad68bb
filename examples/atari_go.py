"""Atari Go (Y. Yasuda), also called the capture game: who takes a piece first has won.
A player places a piece on an empty point. Pieces that touch along lines are a group, and the empty
points next to it are its liberties. A group without a liberty is taken: the opponent's first, else
the player's own, which loses.

atari_go_python.py is the same game as a plain Python class.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules


class AtariGo(NamedTuple):
    """Atari Go on a board with ``side`` points on each side.

    State: int8[side**2 + 2]: the points row by row (0 empty, 1 first player, 2 second player), the
    player to move, and the player whose piece was taken (0 nobody, 1 first, 2 second).
    """

    side: int


GAME = AtariGo(11)


@rules.implement(AtariGo)
def reset(game, state):
    state[:] = 0


@rules.implement(AtariGo)
def player_to_move(game, state):
    return np.int64(state[-2])


@rules.implement(AtariGo)
def legal_actions(game, state, mask):
    for point in range(game.side * game.side):
        mask[point] = state[point] == 0 and state[-1] == 0


@rules.njit
def neighbour(game, point, direction):
    """Return the point next to a point, or -1 beyond the edge of the board."""
    row, column = divmod(point, game.side)
    if direction == 0:
        return point - game.side if row > 0 else -1
    if direction == 1:
        return point + game.side if row < game.side - 1 else -1
    if direction == 2:
        return point - 1 if column > 0 else -1
    return point + 1 if column < game.side - 1 else -1


@rules.njit(allocates=True)
def has_liberty(game, state, start):
    """Return whether the group of the piece on a point has an empty point next to it."""
    found = np.zeros(game.side * game.side, np.int16)  # the group's points
    is_found = np.zeros(game.side * game.side, np.bool_)
    found[0], is_found[start] = start, True
    num_found, num_done = 1, 0
    while num_done < num_found:
        for direction in range(4):
            point = neighbour(game, found[num_done], direction)
            if point < 0:
                continue
            if state[point] == 0:
                return True
            if state[point] == state[start] and not is_found[point]:
                found[num_found], is_found[point] = point, True
                num_found += 1
        num_done += 1
    return False


@rules.implement(AtariGo)
def step(game, state, action):
    own = 1 + state[-2]
    opponent = 3 - own
    state[action] = own
    state[-2] = 1 - state[-2]
    for direction in range(4):
        point = neighbour(game, action, direction)
        if point >= 0 and state[point] == opponent and not has_liberty(game, state, point):
            state[-1] = opponent
            return
    if not has_liberty(game, state, action):
        state[-1] = own


@rules.implement(AtariGo)
def is_over(game, state):
    return state[-1] != 0


@rules.implement(AtariGo)
def result(game, state):
    return -1 if state[-1] == 1 + state[-2] else 1


@rules.implement(AtariGo)
def observe(game, state, planes):
    for point in range(game.side * game.side):
        if state[point] != 0:
            plane = 0 if state[point] == 1 + state[-2] else 1
            planes[plane, point // game.side, point % game.side] = 1.0


@rules.implement(AtariGo)
def num_actions(game):
    return game.side * game.side


@rules.implement(AtariGo)
def state_layout(game):
    return game.side * game.side + 2, np.dtype(np.int8)


@rules.implement(AtariGo)
def planes_shape(game):
    return 2, game.side, game.side


@rules.implement(AtariGo)
def max_plies(game):
    return game.side * game.side  # the last piece leaves no liberty


@rules.implement(AtariGo)
def symmetries(game):
    return rules.square_tables(game.side)


@rules.implement(AtariGo)
def cells(game, state):
    return state[:-2].reshape(game.side, game.side).copy()


@rules.implement(AtariGo)
def action_squares(game, action):
    return (action,)


@rules.implement(AtariGo)
def appearance(game):
    return rules.Appearance("Atari Go", ("Black", "White"), ("dark", "light"), "points")
