"""Atari Go (Y. Yasuda), also called the capture game: who takes a piece first has won.

This is the same game in plain Python as atari_go.py, which is faster and describes the rules. Each
object is a position.
"""

import copy

import numpy as np

from alphazero.games.rules import square_tables


class AtariGo:
    binary_planes = True  # `observe` returns only 0 and 1
    appearance = {
        "title": "Atari Go",
        "sides": ("Black", "White"),
        "colors": ("dark", "light"),
        "board": "points",
    }

    def __init__(self, side=11):
        self.side, self.player, self.loser = side, 0, None
        self.board = {}  # point, as row and column: player
        self.num_actions = self.max_plies = side * side

    def clone(self):
        twin = copy.copy(self)
        twin.board = self.board.copy()
        return twin

    def player_to_move(self):
        return self.player

    def action_squares(self, action):
        return (action,)

    def legal_actions(self):
        points = map(divmod, range(self.num_actions), [self.side] * self.num_actions)
        return [action for action, point in enumerate(points) if point not in self.board]

    def neighbours(self, point):
        row, column = point
        around = (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)
        return [(y, x) for y, x in around if 0 <= y < self.side and 0 <= x < self.side]

    def has_liberty(self, start):
        group = [start]  # grows while it is read
        for piece in group:
            for point in self.neighbours(piece):
                if point not in self.board:
                    return True
                if self.board[point] == self.board[start] and point not in group:
                    group.append(point)
        return False

    def step(self, action):
        placed, mover = divmod(action, self.side), self.player
        self.board[placed] = mover
        self.player = 1 - mover
        beside = self.neighbours(placed)
        others = [point for point in beside if self.board.get(point) == 1 - mover]
        if not all(map(self.has_liberty, others)):
            self.loser = 1 - mover
        elif not self.has_liberty(placed):
            self.loser = mover

    def is_over(self):
        return self.loser is not None

    def result(self):
        return -1 if self.loser == self.player else 1

    def cells(self):
        cells = np.zeros((self.side, self.side), np.int8)
        for point, player in self.board.items():
            cells[point] = 1 + player
        return cells

    def symmetries(self):
        return square_tables(self.side)


GAME = AtariGo()
