"""Infer which input planes of an unknown game hold each player's pieces.

In: the planes before and after each move of some games. Out: a mask of planes for each player, all
False if the planes do not look like a board.
"""

import numpy as np


class PlayersPlanes:
    """Finds the planes of each player's pieces: those to which only that player's moves add.

    Moves that rotate parts of the board add squares to both players' planes; then the number of
    pieces decides. A plane that ever covers the whole board is a flag, not pieces.
    """

    def __init__(self, num_planes: int):
        self._places = np.zeros((2, num_planes), np.bool_)  # this player's move set a new square
        self._counts = np.zeros((2, num_planes), np.bool_)  # and increased their number
        self._flags = np.zeros(num_planes, np.bool_)

    def add(self, mover: int, before: np.ndarray, after: np.ndarray) -> None:
        """Record a move of player ``mover`` and the planes before and after it, bool[C, H, W]."""
        board = (1, 2)
        self._places[mover] |= (after & ~before).any(axis=board)
        self._counts[mover] |= after.sum(axis=board) > before.sum(axis=board)
        self._flags |= before.all(axis=board)

    def pieces(self, is_puzzle: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return masks of each player's planes, bool[C]; all False if there is no board."""
        for grown in (self._places, self._counts):
            first, second = grown & ~grown[::-1] & ~self._flags
            if first.any() and (is_puzzle or first.sum() == second.sum()):
                return first, second
        return np.zeros_like(first), np.zeros_like(first)
