"""Exact scores of Connect Four (6 x 7) by the solver of the package `bitbully`, an extra: it knows every position of 12 discs by heart.

In: positions. Out: scores as `alphazero.solvers.solver` defines them, which are bitbully's own: 1 for a win with one's last disc, one more for each disc
that it comes earlier, 0 a draw, negative where the other side wins. The package is under the AGPL, so nothing here needs it until a solver is made.

bitbully keeps 9 bits for each column where `alphazero.games.connect_x` keeps 7; in both, bit 0 of a column is its lowest cell.
Letters for shapes: B positions, K state words, A actions.
"""

import importlib.util

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.games.connect_x import ConnectX
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.solver import ILLEGAL_SCORE

_ROWS, _COLUMNS = 6, 7
_OUR_BITS, _BITS = _ROWS + 1, _ROWS + 3
_CELLS = np.uint64((1 << _ROWS) - 1)


def available() -> bool:
    """Return whether the package is installed, with its book."""
    return all(
        importlib.util.find_spec(name) is not None for name in ("bitbully", "bitbully_databases")
    )


class BitbullySolver:
    """See `alphazero.solvers.solver.Solver`.

    Raises:
        ConfigError: with one plain sentence if the game is another or the package is missing.
    """

    name = "bitbully"

    def __init__(self, game: Game):
        if getattr(game, "rules", None) != ConnectX(_ROWS, _COLUMNS, 4):
            raise ConfigError(
                f"bitbully solves Connect Four on 6 rows and 7 columns only, not {game.name}."
            )
        if not available():
            raise ConfigError(
                'bitbully is not installed here: pip install "alphazero-selfplay[bitbully]" installs it.'
            )
        from bitbully import BitBully, bitbully_core

        self.game = game
        self._solver = BitBully(
            "12-ply-dist"
        )._core  # its wrapper takes longer for a board than the book does
        self._board = bitbully_core.BoardCore()

    def scores(self, states: np.ndarray) -> np.ndarray:
        """Return int16[B, A]: the exact score of each action from the viewpoint of the player to move, `ILLEGAL_SCORE` where illegal."""
        states = np.asarray(states, self.game.state_dtype)
        moving, others = _spread(states[:, 0]), _spread(states[:, 1])
        left = _ROWS * _COLUMNS - (states[:, 2] >> np.uint64(1)).astype(int)
        scores = np.full((len(states), _COLUMNS), ILLEGAL_SCORE, np.int16)
        for row in np.flatnonzero(~self.game.over(states)):
            self._board.setRawState(
                int(moving[row] | others[row]), int(moving[row]), int(left[row])
            )
            scores[row] = self._solver.scoreMoves(self._board)
        return scores


def _spread(discs: np.ndarray) -> np.ndarray:
    """Return the discs (uint64[B]) in bitbully's bits."""
    spread = np.zeros_like(discs)
    for column in range(_COLUMNS):
        spread |= (discs >> np.uint64(column * _OUR_BITS) & _CELLS) << np.uint64(column * _BITS)
    return spread
