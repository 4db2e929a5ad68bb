"""A player that plays perfectly, using the exact scores of a solver.

In any position within the solver's limits, the player chooses a move with the highest exact score,
at random if there are several.

Shapes: B positions, K state words, A actions.
"""

from collections.abc import Callable

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, Player, SearchProgress
from alphazero.players.without_search import direct_analysis, equal_choice
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.base import ILLEGAL_SCORE, ILLEGAL_VALUE, Solver, UnsolvableError, values_of
from alphazero.solvers.enumeration import EnumeratedSolver
from alphazero.solvers.registry import make_solver


class SolverPlayer:
    """Plays a move with the best exact score, such as the fastest win; see `Player`.

    Beyond the solver's limits, `stand_in` returns the player that chooses the move; without it,
    `choose` and `analyse` raise `UnsolvableError`.

    Args:
        seed: seed of the random choices among equally good moves.
        solver: a solver of this game; None means the fastest one available.

    Raises:
        UnsolvableError: if the game has no solver.
    """

    name = "solver"
    batch_size = 1
    stand_in: Callable[[], Player] | None = None

    def __init__(self, game: Game, seed: int = 0, solver: Solver | None = None):
        self.game = game
        self.solver = solver or make_solver(game)
        self._seed = seed
        self._generator = child_generator(seed, "solver player")

    def choose(self, states: np.ndarray) -> Choice:
        """Choose a move with the best exact score in each position; see `Player.choose`."""
        try:
            return self._choose(states, self.solver.scores(states))
        except UnsolvableError:
            if self.stand_in is None:
                raise
            return self.stand_in().choose(states)

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Solve one position and report its exact scores and values; see `Player.analyse`."""
        try:
            scores = self.solver.scores(state[None])
        except UnsolvableError:
            if self.stand_in is None:
                raise
            return self.stand_in().analyse(state, progress)
        values = self._values(state[None], scores)[0]
        values = np.where(scores[0] == ILLEGAL_SCORE, np.nan, values)
        return direct_analysis(self._choose(state[None], scores), values, scores[0])

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "SolverPlayer":
        """Return a copy restarted from the same seed; a solver ignores search limits."""
        player = SolverPlayer(self.game, self._seed, self.solver)
        player.stand_in = self.stand_in
        return player

    def _choose(self, states: np.ndarray, scores: np.ndarray) -> Choice:
        """Choose a move with the best exact score in each position, at random among equals.

        Args:
            states: [B, K], one position of K state words per row.
            scores: int16[B, A], the exact score of each action for the player to move;
                `ILLEGAL_SCORE` if illegal.
        """
        best = scores.max(axis=1, keepdims=True, initial=ILLEGAL_SCORE)
        values = self._values(states, scores).max(axis=1, initial=ILLEGAL_VALUE)
        return equal_choice(scores == best, values, self._generator)

    def _values(self, states: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return the exact result after each action, for the player to move in ``states``.

        Args:
            states: [B, K], one position of K state words per row.
            scores: int16[B, A], the exact score of each action for the player to move;
                `ILLEGAL_SCORE` if illegal.

        Returns:
            int8[B, A] or, for small enumerated games, float32[B, A]: results in [-1, 1];
            `ILLEGAL_VALUE` where the action is illegal.
        """
        if isinstance(self.solver, EnumeratedSolver):  # knows results between win and draw
            return self.solver.exact.action_values(states)
        return values_of(scores)
