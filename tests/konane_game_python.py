"""Konane as konane_game.py describes it, slow and simple: squares are (row, column)."""

import numpy as np

STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))


class Konane:
    num_actions = 160
    max_plies = 20

    def __init__(self):
        squares = [(row, column) for row in range(4) for column in range(5)]
        self.pieces = {(row, column): (row + column) % 2 for row, column in squares}
        del self.pieces[1, 1], self.pieces[1, 2]
        self.mover = 0

    def jump(self, action):
        """Return the squares that an action takes, and the one that it ends on; None if illegal."""
        (row, column), (down, right) = divmod(action // 8, 5), STEPS[action // 2 % 4]
        if self.pieces.get((row, column)) != self.mover:
            return None
        taken = []
        for _ in range(1 + action % 2):
            taken.append((row + down, column + right))
            row, column = row + 2 * down, column + 2 * right
            is_free = 0 <= row < 4 and 0 <= column < 5 and (row, column) not in self.pieces
            if self.pieces.get(taken[-1]) != 1 - self.mover or not is_free:
                return None
        return taken, (row, column)

    def step(self, action):
        taken, end = self.jump(action)
        for square in (divmod(action // 8, 5), *taken):
            del self.pieces[square]
        self.pieces[end] = self.mover
        self.mover = 1 - self.mover

    def legal_actions(self):
        return [action for action in range(160) if self.jump(action)]

    def player_to_move(self):
        return self.mover

    def is_over(self):
        return not self.legal_actions()

    def result(self):
        return -1

    def cells(self):
        board = np.zeros((4, 5), int)
        for square, player in self.pieces.items():
            board[square] = 1 + player
        return board
