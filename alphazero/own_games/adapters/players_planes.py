"""Find out which planes of an unknown game hold each player's pieces.

In: planes before and after each move of some games. Out: two sets of planes, empty if the planes do
not look like a board.
"""

import numpy as np


class PlayersPlanes:
    """The planes of each player's pieces: those that only this player's moves add to.

    Moves that turn parts of the board add to both players' planes; then the number of pieces
    decides. A plane that ever covers the whole board is a flag.
    """

    def __init__(self, num_planes: int):
        self._places = np.zeros((2, num_planes), np.bool_)  # a square was set by this player's move
        self._counts = np.zeros((2, num_planes), np.bool_)  # it left more squares set
        self._flags = np.zeros(num_planes, np.bool_)

    def add(self, mover: int, before: np.ndarray, after: np.ndarray) -> None:
        """Record a move, given the planes before and after it, bool[C, H, W]."""
        board = (1, 2)
        self._places[mover] |= (after & ~before).any(axis=board)
        self._counts[mover] |= after.sum(axis=board) > before.sum(axis=board)
        self._flags |= before.all(axis=board)

    def pieces(self, is_puzzle: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the planes of each player, bool[C]; all False if there is no board."""
        for grown in (self._places, self._counts):
            first, second = grown & ~grown[::-1] & ~self._flags
            if first.any() and (is_puzzle or first.sum() == second.sum()):
                return first, second
        return np.zeros_like(first), np.zeros_like(first)
