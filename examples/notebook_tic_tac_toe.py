"""Tic-tac-toe as a class in the form of the published notebook; see docs/notebooks.md."""

import random
from dataclasses import dataclass

import numpy as np


@dataclass
class BoardState:
    """A position of a board game, compared and hashed by all its fields."""

    player: int  # the player to move: 1 for the player who began, -1 for the other
    action_mask: list[int]  # 1 for a legal action, 0 for the others
    board: np.ndarray  # float[H, W]: 1 and -1 for the players' pieces, 0 for an empty square

    def __eq__(self, other):
        return isinstance(other, BoardState) and self._all() == other._all()

    def __hash__(self):
        return hash(self._all())

    def _all(self):
        return self.player, tuple(self.action_mask), tuple(self.board.ravel().tolist())


def has_run(board, piece, length):
    """Return whether a row, column or diagonal has ``length`` adjacent squares with a piece."""
    lines = [*board, *board.T]
    for grid in (board, np.fliplr(board)):
        lines += [grid.diagonal(k) for k in range(1 - grid.shape[0], grid.shape[1])]
    return any(b"\1" * length in (line == piece).tobytes() for line in lines)


class TicTacToe:
    """Tic-tac-toe; outcomes are 1, 0 and -1 for the player to move."""

    length = 3  # squares in a winning line

    @property
    def action_size(self):
        return 9

    def start_state(self):
        return BoardState(player=1, action_mask=[1] * 9, board=np.zeros((3, 3)))

    def get_player(self, state):
        return state.player

    def get_transitions(self, state):
        """Return ({action: next state}, None), or ({}, outcome) if the game is over."""
        outcome = self.get_outcome(state)
        if outcome is not None:
            return {}, outcome
        legal = [action for action, is_legal in enumerate(state.action_mask) if is_legal]
        return {action: self.state_after(state, action) for action in legal}, None

    def run_simulation(self, state):
        """Return the outcome of a random game, for the player to move in ``state``."""
        sign = 1
        while True:
            transitions, outcome = self.get_transitions(state)
            if outcome is not None:
                return sign * outcome
            state, sign = random.choice(list(transitions.values())), -sign

    def canonicalize(self, state):
        """Return the state from the viewpoint of the player to move: 1 own, -1 the opponent's."""
        return BoardState(1, state.action_mask, state.player * state.board)

    def get_symmetries(self, state, probs):
        """Return the distinct (state, probs) under the 8 symmetries, the original first."""
        images, squares = [], np.arange(9).reshape(3, 3)
        for grid in (squares, np.fliplr(squares)):
            for turns in range(4):
                order = np.rot90(grid, turns).ravel().tolist()
                mask = [state.action_mask[square] for square in order]
                board = state.board.ravel()[order].reshape(3, 3)
                image = BoardState(state.player, mask, board)
                if all(image != other for other, _ in images):
                    images.append((image, [probs[square] for square in order]))
        return images

    # --- shared with Connect Four or overridden by it ---------------------------------------------

    def get_outcome(self, state):
        """Return 1, 0 or -1 for the player to move, None if the game goes on."""
        for player in (1, -1):
            if has_run(state.board, player, self.length):
                return player * state.player
        return 0 if state.board.all() else None

    def state_after(self, state, action):
        square, is_still_legal = self.place(state.board, action)
        mask, board = state.action_mask.copy(), state.board.copy()
        mask[action], board[square] = is_still_legal, state.player
        return BoardState(-state.player, mask, board)

    def place(self, board, action):
        """Return the square of an action, and whether the action stays legal: 1 or 0."""
        return divmod(action, 3), 0
