"""Endings played for the score: the margin of discs in Othello, the earliest win in Connect-X.

In: positions near the end. Out: the move with the best exact score, where a solver finds the scores
of all moves within a part of a move's time. A search knows results alone: all wins are alike to it.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.games.connect_x import ConnectX
from alphazero.games.othello import Othello
from alphazero.players.base import Analysis, Choice
from alphazero.players.solver import SolverPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.solvers.base import UnsolvableError
from alphazero.solvers.connect_x import ConnectXSolver
from alphazero.solvers.othello import OthelloSolver
from alphazero.solvers.provers import Prover

T = TypeVar("T")

#: The scores of all moves take about so many times the nodes of the result alone.
_NODES_PER_RESULT = 16


class ScoredEndings:
    """Chooses moves by their exact scores.

    Args:
        prover: tells the stages of positions.
        costs: of results, see `alphazero.solvers.exact_leaves.leaf_costs`.
        limits: nodes and seconds for the scores of a position; where they are expected to take
            more, or do, it is left to the search.
    """

    def __init__(
        self, game: Game, prover: Prover, costs: np.ndarray, limits: tuple[int, float], seed: int
    ):
        max_nodes, self._most_s = limits
        self._prover = prover
        self._asked = costs * _NODES_PER_RESULT <= max_nodes
        self._solver = _solver(game, max_nodes)
        self._player = SolverPlayer(game, seed, self._solver)

    def analyse(self, state: np.ndarray) -> Analysis | None:
        """Analyse a position, [K]; None if its scores are too expensive."""
        return self._answer(state, self._player.analyse, state)

    def choose(self, state: np.ndarray) -> Choice | None:
        """Choose a move in a position, [K]; None if its scores are too expensive."""
        return self._answer(state, self._player.choose, state[None])

    def _answer(
        self, state: np.ndarray, ask: Callable[[np.ndarray], T], question: np.ndarray
    ) -> T | None:
        if not self._asked[self._prover.stages(state[None])[0]]:
            return None
        self._solver.deadline = time.monotonic() + self._most_s
        try:
            return ask(question)
        except UnsolvableError:
            return None


def check_aim(game: Game, aim: str, endgame: str) -> None:
    """Check the setting ``aim``.

    Raises:
        ConfigError: if it is score, and the game has no scores or exact endings are off.
    """
    if aim == "result":
        return
    if not _has_scores(game):
        why, allowed = f"no score is defined in {game.name}", ["result"]
    elif endgame == "off":
        why, allowed = "endgame is off", ["result", "score with endgame=auto"]
    else:
        return
    raise ConfigError.of("aim", aim, allowed, why)


def _has_scores(game: Game) -> bool:
    return isinstance(game, CompiledGame) and isinstance(game.rules, ConnectX | Othello)


def _solver(game: Game, max_nodes: int) -> ConnectXSolver | OthelloSolver:
    assert isinstance(game, CompiledGame)  # see `check_aim`
    if isinstance(game.rules, Othello):
        return OthelloSolver(game, max_empties=game.rules.size**2, max_nodes=max_nodes)
    return ConnectXSolver(game, max_nodes=max_nodes)
