"""Which planes of an unknown game hold the pieces of which player, seen from its moves.

In: planes before and after each move of some games. Out: two sets of planes, or none if the planes
do not look like a board. Knows no game and no library.
"""

import numpy as np


class PlayersPlanes:
    """Which planes hold a player's pieces: those that only this player's moves add to.

    Where moves turn parts of the board, they add to both players' planes; then the number of pieces
    decides. A plane that covers the whole board at times is a flag.
    """

    def __init__(self, num_planes: int):
        self._places = np.zeros((2, num_planes), np.bool_)  # a square was set by this player's move
        self._counts = np.zeros((2, num_planes), np.bool_)  # it left more squares set
        self._flags = np.zeros(num_planes, np.bool_)

    def add(self, mover: int, before: np.ndarray, after: np.ndarray) -> None:
        """Note a move, from the planes before and after it, bool[C, H, W]."""
        board = (1, 2)
        self._places[mover] |= (after & ~before).any(axis=board)
        self._counts[mover] |= after.sum(axis=board) > before.sum(axis=board)
        self._flags |= before.all(axis=board)

    def pieces(self, is_puzzle: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return two of bool[C]; all False if the planes do not look like a board."""
        for grown in (self._places, self._counts):
            first, second = grown & ~grown[::-1] & ~self._flags
            if first.any() and (is_puzzle or first.sum() == second.sum()):
                return first, second
        return np.zeros_like(first), np.zeros_like(first)
