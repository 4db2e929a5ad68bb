"""Score the moves of positions near the end of a game exactly, at a limited cost.

A position is solved if it has at most N empty cells, because the cost grows exponentially with
their number. `Endings.max_empty_cells` computes N from the number of nodes that may be searched.

Shapes: K state words, A actions.
"""

import dataclasses
import math

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.connect_x import ConnectX
from alphazero.games.othello import Othello
from alphazero.solvers.alpha_beta import AlphaBetaSolver
from alphazero.solvers.base import UnsolvableError
from alphazero.solvers.registry import make_solver


@dataclasses.dataclass(frozen=True)
class Endings:
    """Solves positions near the end of one game; `make_endings` supplies the constants."""

    game: CompiledGame
    #: Number of empty cells with which about nine positions in ten are solved within 10,000 nodes,
    #: as `scripts/solving_costs.py` measures them
    cells: float
    cells_per_tenfold: float  #: number of additional empty cells that take ten times the nodes

    def max_empty_cells(self, max_nodes: int) -> int:
        """Return N, the most empty cells of a position that is solved.

        Args:
            max_nodes: maximum number of nodes to search.
        """
        return int(self.cells + self.cells_per_tenfold * math.log10(max_nodes / 10_000))

    def scores(self, state: np.ndarray, max_nodes: int) -> np.ndarray | None:
        """Return the exact score of each action, or None if the position is not solved.

        The result does not depend on earlier calls.

        Args:
            state: an unfinished position, an array of K state words.
            max_nodes: maximum number of nodes to search.

        Returns:
            int16[A], the scores as defined by `alphazero.solvers.base.Solver`.
        """
        num_empty = np.count_nonzero(self.game.cells(state) == 0)
        if num_empty > self.max_empty_cells(max_nodes):
            return None
        try:
            return make_solver(self.game, max_nodes).scores(state[None])[0]
        except UnsolvableError:
            return None


def make_endings(game: Game) -> Endings | None:
    """Make the solver of a game's endings, with its compiled search loaded.

    Returns:
        The solver for Connect-X or Othello, on boards of up to 64 bits; None for any other game.
    """
    if not isinstance(game, CompiledGame) or not isinstance(game.rules, ConnectX | Othello):
        return None
    solver = make_solver(game)
    assert isinstance(solver, AlphaBetaSolver)
    solver.load()
    if isinstance(game.rules, ConnectX):
        return Endings(game, cells=20, cells_per_tenfold=5)
    return Endings(game, cells=10, cells_per_tenfold=3)
