"""Tic-tac-toe as a class in the form of the published notebook; see docs/notebooks.md.

A state is the nine squares, row by row: 1 for the player who began, -1 for the other, 0 for empty.
"""

import random

LINES = (
    *((0, 1, 2), (3, 4, 5), (6, 7, 8)),
    *((0, 3, 6), (1, 4, 7), (2, 5, 8)),
    *((0, 4, 8), (2, 4, 6)),
)


class TicTacToe:
    """Outcomes are 1, 0 and -1, for the player to move."""

    action_size = 9

    def start_state(self):
        return (0,) * 9

    def get_player(self, state):
        return 1 if sum(state) == 0 else -1

    def get_transitions(self, state):
        """Return ({action: next state}, None), or ({}, outcome) where the game is over."""
        player = self.get_player(state)
        if any(all(state[square] == -player for square in line) for line in LINES):
            return {}, -1
        empty = [square for square in range(9) if state[square] == 0]
        if not empty:
            return {}, 0
        return {a: (*state[:a], player, *state[a + 1 :]) for a in empty}, None

    def run_simulation(self, state):
        """Return the outcome of a random game, for the player to move in ``state``."""
        sign = 1
        while True:
            transitions, outcome = self.get_transitions(state)
            if outcome is not None:
                return sign * outcome
            state, sign = random.choice(list(transitions.values())), -sign

    def canonicalize(self, state):
        """Return the board as the player to move sees it: 1 own, -1 the opponent's."""
        return tuple(self.get_player(state) * square for square in state)

    def get_symmetries(self, state, probs):
        """Return (state, probs) under each of the 8 symmetries; ``probs`` has 9 numbers."""
        images, order = [], list(range(9))
        for _ in range(4):
            for squares in (order, [order[3 * (i // 3) + 2 - i % 3] for i in range(9)]):
                image = tuple(state[square] for square in squares)
                images.append((image, [probs[square] for square in squares]))
            order = [order[3 * (2 - i % 3) + i // 3] for i in range(9)]  # turned by 90 degrees
        return images
