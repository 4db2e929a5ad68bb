"""A player that plays perfectly: one of the moves with the highest exact score, at random among equals.

In: positions, and the solver of their game. Out: moves. It refuses positions that its solver cannot reach, with the solver's sentence.
Letters for shapes: B positions, K state words, A actions.
"""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, Progress
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.base import ILLEGAL_SCORE, Solver, values_of
from alphazero.solvers.registry import make_solver


class SolverPlayer:
    """Plays a move of the highest score: it wins as early as it can, and loses as late as it can.

    Args:
        solver: of this game, if there is one already.

    Raises:
        ValueError: if the game has no solver.
    """

    batch_size = 1

    def __init__(
        self, game: Game, seed: int = 0, solver: Solver | None = None, name: str = "solver"
    ):
        self.game = game
        self.name = name
        self.solver = solver or make_solver(game)
        self._seed = seed
        self._generator = child_generator(seed, "solver player")

    def choose(self, states: np.ndarray) -> Choice:
        return self._choose(self.solver.scores(states))

    def analyse(self, state: np.ndarray, progress: Progress | None = None) -> Analysis:
        scores = self.solver.scores(state[None])
        choice = self._choose(scores)
        action = int(choice.actions[0])
        values = np.where(scores[0] == ILLEGAL_SCORE, np.nan, values_of(scores[0])).astype(
            np.float32
        )
        visits = np.zeros(self.game.num_actions, np.int32)
        return Analysis(
            action,
            choice.action_weights[0],
            float(choice.values[0]),
            visits,
            values,
            [action],
            0,
            scores[0],
        )

    def limited(self, num_simulations: int | None, time_limit_s: float | None) -> "SolverPlayer":
        # Perfect play takes what it takes: there is nothing that a limit could cut short.
        return SolverPlayer(self.game, self._seed, self.solver, self.name)

    def _choose(self, scores: np.ndarray) -> Choice:
        """Return the moves for int16[B, A] scores; all the best ones have the same weight."""
        best = scores.max(axis=1, keepdims=True, initial=ILLEGAL_SCORE)
        mask = scores == best
        actions = (
            np.where(mask, self._generator.random(mask.shape), -1.0).argmax(axis=1).astype(np.int32)
        )
        return Choice(
            actions,
            (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32),
            values_of(best[:, 0]).astype(np.float32),
        )
