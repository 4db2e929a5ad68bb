"""Breakthrough (D. Troyka): pieces move one square straight or diagonally forward, and capture only
diagonally. The player who reaches the opponent's first row or takes all pieces wins.

This is the same game in plain Python as breakthrough.py, which is faster and describes the actions
and the board. Each object is a position.
"""

import copy

import numpy as np


class Breakthrough:
    binary_planes = True  # `observe` returns only 0 and 1
    piece_letters = ".WB"
    appearance = {
        "title": "Breakthrough",
        "sides": ("White", "Black"),
        "colors": ("light", "dark"),
        "board": "wood",
    }

    def __init__(self, side=5):
        self.side, self.player = side, 0
        self.board = [2] * (2 * side) + [0] * (side * side - 4 * side) + [1] * (2 * side)
        self.num_actions = 6 * side * side
        self.max_plies = 2 * side * (2 * side - 5) + 1

    def clone(self):
        twin = copy.copy(self)
        twin.board = self.board[:]
        return twin

    def player_to_move(self):
        return self.player

    def action_squares(self, action):
        square, direction = divmod(action, 6)
        row = square // self.side + (-1 if direction < 3 else 1)
        column = square % self.side + direction % 3 - 1
        is_inside = 0 <= row < self.side and 0 <= column < self.side
        return (square, row * self.side + column) if is_inside else ()

    def legal_actions(self):
        own = [square for square, piece in enumerate(self.board) if piece == 1 + self.player]
        forward = range(3) if self.player == 0 else range(3, 6)
        actions = [6 * square + direction for square in own for direction in forward]
        return [action for action in actions if self.may_play(action)]

    def may_play(self, action):
        squares = self.action_squares(action)
        if not squares or self.board[squares[1]] == 1 + self.player:
            return False
        return action % 3 != 1 or self.board[squares[1]] == 0  # moving straight cannot capture

    def step(self, action):
        square, to = self.action_squares(action)
        self.board[square], self.board[to] = 0, self.board[square]
        self.player = 1 - self.player

    def is_over(self):
        goal = self.board[: self.side] if self.player == 1 else self.board[-self.side :]
        return 2 - self.player in goal or 1 + self.player not in self.board

    def result(self):
        return -1  # the player to move has lost: the opponent got through or took the last piece

    def cells(self):
        return np.array(self.board).reshape(self.side, self.side)

    def observe(self):
        board, second_moves = self.cells(), np.full((self.side, self.side), self.player)
        return np.stack([board == 1 + self.player, board == 2 - self.player, second_moves])

    def symmetries(self):
        squares = np.arange(self.side**2, dtype=np.int32).reshape(self.side, self.side)
        actions = np.arange(self.num_actions, dtype=np.int32).reshape(self.side, self.side, 2, 3)
        mirrored = squares[:, ::-1], actions[:, ::-1, :, ::-1]
        return tuple(np.stack([a.ravel(), b.ravel()]) for a, b in zip((squares, actions), mirrored))


GAME = Breakthrough()
