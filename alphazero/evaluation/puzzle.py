"""Compare how well two players solve a one-player game (a puzzle) from the same openings.

The input is a match (`alphazero.evaluation.match`), in which each player has played each opening
alone. Both players' results, on the game's own scoring scale, are compared pair by pair and, if the
game is small enough to enumerate, with perfect play.
"""

import dataclasses
import math
from typing import Any

import numpy as np

from alphazero.evaluation.report import Z_95, MatchReport
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.runtime.errors import InputError
from alphazero.solvers.enumeration import MAX_SOLVER_POSITIONS, ExactValues, enumerate_positions

_MAX_PYTHON_POSITIONS = 10_000  #: maximum positions to enumerate in a game without compiled rules


@dataclasses.dataclass(frozen=True)
class PuzzleResults:
    """The results of players A and B from N openings, on the game's own scoring scale."""

    results_a: np.ndarray  #: float64[N], player A's result from each opening
    results_b: np.ndarray  #: float64[N], player B's result from each opening
    #: float64[N], result of perfect play from each opening; None if the game has not been solved
    best: np.ndarray | None

    @property
    def difference(self) -> float:
        """Mean over the openings of player A's result minus player B's."""
        return float((self.results_a - self.results_b).mean())

    @property
    def difference_margin(self) -> float:
        """Half the width of the 95% confidence interval of `difference`; NaN for a single opening.

        It is 1.96 standard errors of the mean.
        """
        differences = self.results_a - self.results_b
        if len(differences) < 2:
            return math.nan
        return float(Z_95 * differences.std(ddof=1) / math.sqrt(len(differences)))

    def solved(self, results: np.ndarray) -> float:
        """Return the fraction of openings in which a player's result equals that of perfect play.

        Args:
            results: float64[N], the player's result from each opening.

        Returns:
            The fraction, in [0, 1]; NaN if the results of perfect play are unknown.
        """
        if self.best is None:
            return math.nan
        return float(np.isclose(results, self.best).mean())

    def to_plain(self) -> dict[str, Any]:
        """Convert both players' results to summary figures in a dict for JSON.

        Returns:
            The number of openings, the mean difference and its margin, and each player's mean
            result, best result and fraction solved, by name, such as "mean_result_a"; None stands
            for an unknown figure.
        """
        figures: dict[str, Any] = {
            "num_openings": len(self.results_a),
            "difference": self.difference,
            "difference_margin": self.difference_margin,
        }
        for side, results in (("a", self.results_a), ("b", self.results_b)):
            figures[f"mean_result_{side}"] = float(results.mean())
            figures[f"best_result_{side}"] = float(results.max())
            figures[f"solved_{side}"] = self.solved(results)
        return {key: None if value != value else value for key, value in figures.items()}


def puzzle_results(game: Game, match: MatchReport, exact: ExactValues | None) -> PuzzleResults:
    """Extract both players' results from a match in a one-player game.

    Args:
        match: the match, in which both players played every opening alone.
        exact: the results of perfect play from every position; None if they are unknown.
    """
    scores = np.array([played.score for played in match.games]).reshape(-1, 2)
    best = None
    if exact is not None:
        openings = [played.moves[: match.opening_plies] for played in match.games[::2]]
        starts = np.stack([game.play_moves(opening) for opening in openings])
        best = _own_results(game, exact.values(starts))
    results_a = 2 * scores[:, 0] - 1
    results_b = 1 - 2 * scores[:, 1]
    return PuzzleResults(_own_results(game, results_a), _own_results(game, results_b), best)


def small_game_values(game: Game) -> ExactValues | None:
    """Solve a game by enumerating its positions; return None if it has too many.

    The limit is `MAX_SOLVER_POSITIONS` (300,000) positions, or `_MAX_PYTHON_POSITIONS` (10,000) if
    the game's rules are not compiled. The result is also None if a position can occur twice in one
    game.
    """
    largest = MAX_SOLVER_POSITIONS if isinstance(game, CompiledGame) else _MAX_PYTHON_POSITIONS
    try:
        return ExactValues(game, enumerate_positions(game, largest))
    except InputError:
        return None


def _own_results(game: Game, values: np.ndarray) -> np.ndarray:
    return np.array([game.own_result(float(value)) for value in values])
