"""The player that plays perfectly, by the exact scores of a solver.

In: positions that the solver of their game can solve. Out: one of the moves with the highest exact
score, chosen at random among equals.

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
    """Wins as early as possible and loses as late as possible; see `Player`.

    Its methods raise `UnsolvableError` for a position beyond the limit of its solver.

    Args:
        solver: a solver of this game; None makes one.

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
        """See `alphazero.players.base.Player.choose`."""
        return self._choose(states, self.solver.scores(states))

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """See `alphazero.players.base.Player.analyse`; `Analysis.scores` has the exact scores."""
        scores = self.solver.scores(state[None])
        values = self._values(state[None], scores)[0]
        values = np.where(scores[0] == ILLEGAL_SCORE, np.nan, values)
        return direct_analysis(self._choose(state[None], scores), values, scores[0])

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "SolverPlayer":
        """See `alphazero.players.base.Player.limited`; the limits have no effect on a solver."""
        return SolverPlayer(self.game, self._seed, self.solver)

    def _choose(self, states: np.ndarray, scores: np.ndarray) -> Choice:
        """Return the moves for int16[B, A] scores; equally good actions have equal weights."""
        best = scores.max(axis=1, keepdims=True, initial=ILLEGAL_SCORE)
        values = self._values(states, scores).max(axis=1, initial=ILLEGAL_VALUE)
        return equal_choice(scores == best, values, self._generator)

    def _values(self, states: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return the results after each action, [B, A], `ILLEGAL_VALUE` where it is illegal."""
        if isinstance(self.solver, EnumeratedSolver):  # knows results between win and draw
            return self.solver.exact.action_values(states)
        return values_of(scores)
