"""Connect Four in the form of the published notebook, built on its tic-tac-toe."""

import numpy as np
from notebook_tic_tac_toe import BoardState, TicTacToe


class ConnectFour(TicTacToe):
    """Connect Four; actions are the columns."""

    length = 4

    @property
    def action_size(self):
        return 7

    def start_state(self):
        return BoardState(player=1, action_mask=[1] * 7, board=np.zeros((6, 7)))

    def get_symmetries(self, state, probs):
        """Return (state, probs) and, if the mirrored position is different, their mirror image."""
        mirrored = BoardState(state.player, state.action_mask[::-1], np.fliplr(state.board))
        return [(state, probs), (mirrored, probs[::-1])][: 2 if mirrored != state else 1]

    def place(self, board, action):
        row = np.flatnonzero(board[:, action] == 0)[-1]  # the lowest empty one
        return (row, action), int(row > 0)
