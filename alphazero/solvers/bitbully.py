"""Exact scores of Connect Four (6 x 7), looked up and searched by the package `bitbully`.

The scores are those that `alphazero.solvers.base` defines (bitbully counts the same way). The
package includes an opening book of all positions with 12 discs, so it solves the first plies at
once, where `alphazero.solvers.connect_x` takes minutes. It is an optional dependency under the
AGPL, so this module imports it only when a solver is made.

Only the documented classes of `bitbully.bitbully_core` and the path of the book are used (tried
with bitbully 0.0.79 and bitbully_databases 0.0.2). A book lookup takes 80 us for the seven moves of
a position; the package's own wrapper classes would add 35 us.

Shapes: B positions, K state words, A actions.
"""

import importlib.util

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.games.connect_x import ConnectX
from alphazero.runtime.errors import InputError
from alphazero.solvers.base import ILLEGAL_SCORE

_GAME = ConnectX(rows=6, columns=7, length=4)
_BOOK = "12-ply-dist"
_PACKAGES = ("bitbully", "bitbully_databases")


def available() -> bool:
    """Return whether the package `bitbully` and its opening book are installed."""
    return all(importlib.util.find_spec(name) is not None for name in _PACKAGES)


def solves(game: Game) -> bool:
    """Return whether the game is Connect Four (6 x 7), the only one that bitbully solves."""
    return getattr(game, "rules", None) == _GAME


class BitbullySolver:
    """Scores any position of Connect Four with the package `bitbully`; see `Solver`.

    Args:
        game: Connect Four, for which `solves` is True; the package must be `available`.
    """

    name = "bitbully"
    meaning = "distance"

    def __init__(self, game: Game):
        from bitbully import bitbully_core
        from bitbully_databases import BitBullyDatabases

        self.game = game
        book_path = BitBullyDatabases.get_database_path(_BOOK)
        self._solver = bitbully_core.BitBullyCore(book_path)
        self._board = bitbully_core.BoardCore()

    def scores(self, states: np.ndarray) -> np.ndarray:
        """Return the exact score of each action in any position; see `Solver.scores`.

        The result is int16[B, A], `ILLEGAL_SCORE` where an action is illegal.

        Raises:
            InputError: if bitbully does not accept a position.
        """
        mask = self.game.legal_action_mask(states)
        boards = self._boards(states)
        scores = np.full(mask.shape, ILLEGAL_SCORE, np.int16)
        for row in np.flatnonzero(mask.any(axis=1)):
            board = boards[row].tolist()
            if not self._board.setBoard(board):
                raise InputError(f"bitbully does not accept the position {board}.")
            row_scores = self._solver.scoreMoves(self._board)
            scores[row] = np.where(mask[row], row_scores, ILLEGAL_SCORE)
        return scores

    def _boards(self, states: np.ndarray) -> np.ndarray:
        """Convert states ([B, K]) to boards in bitbully's format.

        Returns:
            int8[B, 6, 7]: 0 for an empty cell, 1 for the first player's disc, 2 for the second
            player's.
        """
        planes = self.game.observe(states)
        mine = planes[:, 0]
        other = planes[:, 1]
        player = self.game.players(states)[:, None, None]
        return (mine * (1 + player) + other * (2 - player)).astype(np.int8)
