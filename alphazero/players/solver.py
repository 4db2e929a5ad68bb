"""The player that plays perfectly, using the exact scores of a solver.

In: positions within the limits of the game's solver. Out: a move with the highest exact score,
chosen at random if there are several.

Shapes: B positions, K state words, A actions.
"""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, SearchProgress
from alphazero.players.without_search import direct_analysis, equal_choice
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.base import ILLEGAL_SCORE, ILLEGAL_VALUE, Solver, values_of
from alphazero.solvers.enumeration import EnumeratedSolver
from alphazero.solvers.registry import make_solver


class SolverPlayer:
    """Plays a move with the best exact score, such as the fastest win; see `Player`.

    Its methods raise `UnsolvableError` for a position beyond the limits of its solver.

    Args:
        solver: a solver of this game; None makes the fastest available.

    Raises:
        UnsolvableError: if the game has no solver.
    """

    name = "solver"
    batch_size = 1

    def __init__(self, game: Game, seed: int = 0, solver: Solver | None = None):
        self.game = game
        self.solver = solver or make_solver(game)
        self._seed = seed
        self._generator = child_generator(seed, "solver player")

    def choose(self, states: np.ndarray) -> Choice:
        """Choose a best move in each position; see `Player.choose`."""
        return self._choose(states, self.solver.scores(states))

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Analyse one position, with exact scores in `Analysis.scores`; see `Player.analyse`."""
        scores = self.solver.scores(state[None])
        values = self._values(state[None], scores)[0]
        values = np.where(scores[0] == ILLEGAL_SCORE, np.nan, values)
        return direct_analysis(self._choose(state[None], scores), values, scores[0])

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "SolverPlayer":
        """Return a copy of this player, seeded afresh; the limits have no effect on a solver."""
        return SolverPlayer(self.game, self._seed, self.solver)

    def _choose(self, states: np.ndarray, scores: np.ndarray) -> Choice:
        """Choose a best move in each position, given the exact scores int16[B, A]."""
        best = scores.max(axis=1, keepdims=True, initial=ILLEGAL_SCORE)
        values = self._values(states, scores).max(axis=1, initial=ILLEGAL_VALUE)
        return equal_choice(scores == best, values, self._generator)

    def _values(self, states: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return the exact result after each action, [B, A]; `ILLEGAL_VALUE` where it is illegal.

        Results are from the viewpoint of the player to move in ``states``.
        """
        if isinstance(self.solver, EnumeratedSolver):  # knows results between win and draw
            return self.solver.exact.action_values(states)
        return values_of(scores)
