"""Connect Four in plain Python in two forms: as position objects, and as the notebook's class.

Planes and symmetries match those of `alphazero.games.connect_x`, so that self-play is comparable.
"""

import numpy as np


class ConnectFour:
    """A position of Connect Four; subclasses may change the size of the board."""

    rows, columns, length = 6, 7, 4
    binary_planes = True

    def __init__(self):
        self.num_actions, self.max_plies = self.columns, self.rows * self.columns
        self.board = bytearray(self.max_plies)  # row by row from the top: 0, 1 or 2
        self.free = [self.rows] * self.columns  # cells above the discs of each column
        self.plies, self.is_won = 0, False

    def clone(self):
        """Return a copy of the position."""
        twin = object.__new__(type(self))
        twin.num_actions, twin.max_plies = self.num_actions, self.max_plies
        twin.board, twin.free = self.board[:], self.free[:]
        twin.plies, twin.is_won = self.plies, self.is_won
        return twin

    def step(self, action):
        """Drop a disc into a column."""
        self.free[action] -= 1
        row = self.free[action]
        self.board[row * self.columns + action] = 1 + self.plies % 2
        self.is_won = self._has_line(row, action)
        self.plies += 1

    def _has_line(self, row, column):
        """Return whether the disc on this square is part of a line."""
        board, rows, columns = self.board, self.rows, self.columns
        own = board[row * columns + column]
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            count = 1
            for sign in (1, -1):
                r, c = row + sign * down, column + sign * right
                while 0 <= r < rows and 0 <= c < columns and board[r * columns + c] == own:
                    count, r, c = count + 1, r + sign * down, c + sign * right
            if count >= self.length:
                return True
        return False

    def player_to_move(self):
        """Return the player to move, 0 or 1."""
        return self.plies % 2

    def is_over(self):
        """Return whether there is a line or the board is full."""
        return self.is_won or self.plies == self.max_plies

    def result(self):
        """Return the result for the player to move: -1 if the opponent has just won, else 0."""
        return -1 if self.is_won else 0

    def legal_actions(self):
        """Return the columns that are not full."""
        return [column for column, free in enumerate(self.free) if free]

    def observe(self):
        """Return planes of the player's own discs and the opponent's, bool[2, H, W]."""
        cells, own = self.cells(), 1 + self.plies % 2
        return np.stack([cells == own, cells == 3 - own])

    def cells(self):
        """Return the board, int8[H, W]: 0 empty, 1 and 2 the players' discs."""
        return np.frombuffer(self.board, np.int8).reshape(self.rows, self.columns)

    def symmetries(self):
        """Return the tables of the identity and the mirror image, for cells and actions."""
        cells = np.arange(self.max_plies, dtype=np.int32).reshape(self.rows, self.columns)
        actions = np.arange(self.columns, dtype=np.int32)
        images = np.stack([cells.ravel(), cells[:, ::-1].ravel()])
        return images, np.stack([actions, actions[::-1]])


class NotebookConnectFour:
    """Connect Four in the notebook's form: states are boards, with 1 for the player to move."""

    action_size = 7
    max_plies = 42

    def start_state(self):
        """Return the empty board."""
        return np.zeros((6, 7), np.int8)

    def get_transitions(self, state):
        """Return ({column: next board}, None), or ({}, outcome) if the game is over."""
        if _has_four(state == -1):
            return {}, -1
        following = {}
        for column in np.flatnonzero(state[0] == 0).tolist():
            board = -state
            board[np.flatnonzero(state[:, column] == 0)[-1], column] = -1
            following[column] = board
        return (following, None) if following else ({}, 0)

    def canonicalize(self, state):
        """Return the board from the viewpoint of the player to move, which it already has."""
        return state

    def get_symmetries(self, board, probs):
        """Return (board, probs) and its mirror image."""
        return [(board, probs), (board[:, ::-1], probs[::-1])]


def _has_four(discs):
    """Return whether discs, bool[6, 7], contain four in a row, with bit shifts."""
    bits = int.from_bytes(np.packbits(np.pad(discs, ((0, 0), (0, 1)))).tobytes(), "big")
    for shift in (1, 7, 8, 9):
        pairs = bits & bits >> shift
        if pairs & pairs >> 2 * shift:
            return True
    return False
