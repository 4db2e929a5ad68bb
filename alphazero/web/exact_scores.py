"""Solve positions exactly for the page, and cache the scores of all their actions.

The solvers give up on positions that would take longer than about two seconds.

Shapes: K state words, A actions.
"""

import functools
import threading
from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import CompiledGame, Game
from alphazero.solvers.base import ILLEGAL_SCORE, Solver, UnsolvableError, values_of
from alphazero.solvers.enumeration import EnumeratedSolver
from alphazero.solvers.registry import make_solver

#: Maximum number of solver nodes per position, about two seconds of work; Connect Four needs less.
_MAX_NODES = 20_000_000
_MAX_CACHED = 4_096
#: Number of positions to enumerate before giving up on a game without a special solver, a few
#: seconds of work: with compiled rules, and in plain Python.
_MAX_POSITIONS = 50_000
_MAX_PYTHON_POSITIONS = 6_000


class ExactScores(NamedTuple):
    """The exact scores of all actions in a position, computed by a solver."""

    scores: np.ndarray  #: int16[A], for the player to move; illegal actions have `ILLEGAL_SCORE`
    #: what the size of a score measures: "distance" to the end, or margin in "discs"; see `Solver`
    meaning: str

    @property
    def values(self) -> np.ndarray:
        """The exact result of each action for the player to move, int8[A].

        It is 1, 0 or -1, and `ILLEGAL_VALUE` if the action is illegal.
        """
        return values_of(self.scores)

    @property
    def value(self) -> int:
        """The result of perfect play, 1, 0 or -1, for the player to move."""
        return int(self.values.max())

    @property
    def best(self) -> list[int]:
        """All actions with the highest score, which are the best moves of the player to move."""
        return np.flatnonzero(self.scores == self.scores.max()).tolist()


class Solvers:
    """Solves positions one at a time, and caches their exact scores; it is thread-safe.

    Args:
        max_nodes: number of solver nodes to search before giving up on a position.
    """

    def __init__(self, max_nodes: int = _MAX_NODES):
        self._max_nodes = max_nodes
        self._solver = functools.cache(self._make_solver)
        self._answer = functools.lru_cache(_MAX_CACHED)(self._solve)
        self._lock = threading.Lock()

    def scores(self, game: Game, state: np.ndarray) -> ExactScores:
        """Return the exact scores of all actions in an unfinished position, cached or newly solved.

        Args:
            state: the position, an array of K state words.

        Raises:
            UnsolvableError: if the solver gives up on the position, or the game has no solver.
        """
        with self._lock:
            answer = self._answer(game, state.tobytes())
        if isinstance(answer, str):
            raise UnsolvableError(answer)
        return answer

    # The caches hold the messages of errors: an error refers to all variables of the functions
    # that it passed through, 600 MB for Gomoku.

    def _solve(self, game: Game, state: bytes) -> ExactScores | str:
        """Return the exact scores in a position, or the reason why it is not solved."""
        states = np.frombuffer(state, game.state_dtype)[None]
        solver = self._solver(game)
        if isinstance(solver, str):
            return solver
        try:
            return ExactScores(solver.scores(states)[0], solver.meaning)
        except UnsolvableError as error:
            return str(error)

    def _make_solver(self, game: Game) -> Solver | str:
        """Make the solver of a game, or return the reason why the game has none."""
        try:
            if isinstance(game, CompiledGame):
                return make_solver(game, self._max_nodes, _MAX_POSITIONS)
            return EnumeratedSolver(game, _MAX_PYTHON_POSITIONS)
        except UnsolvableError as error:
            return str(error)


def exact_answer(exact: ExactScores) -> dict[str, Any]:
    """Return the `api/exact` response for a solved position: every action's score and result.

    Scores and results are for the player to move; illegal actions have None.
    """
    is_illegal = exact.scores == ILLEGAL_SCORE  # masked numbers become None
    return {
        "known": True,
        "value": exact.value,
        "scores": np.ma.array(exact.scores, mask=is_illegal).tolist(),
        "values": np.ma.array(exact.values, mask=is_illegal).tolist(),
        "meaning": exact.meaning,
    }
