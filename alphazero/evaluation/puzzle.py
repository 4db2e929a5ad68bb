"""Results in a game of one player (a puzzle): how well two players solve it from the same openings.

In: a match (`alphazero.evaluation.match`), in which each player has played each opening alone. Out:
both players' results on the scale of the game's rules, compared pair by pair, and with perfect play
if the game is small enough to enumerate.
"""

import dataclasses
import math
from typing import Any

import numpy as np

from alphazero.evaluation.report import Z_95, MatchReport
from alphazero.games.batched_game import CompiledGame, Game
from alphazero.runtime.errors import InputError
from alphazero.solvers.enumeration import MAX_SOLVER_POSITIONS, ExactValues, enumerate_positions

_MAX_PYTHON_POSITIONS = 10_000  #: maximum positions of a small game without compiled rules


@dataclasses.dataclass(frozen=True)
class PuzzleResults:
    """What players A and B reached from N openings, on the scale of the game's rules."""

    results_a: np.ndarray  #: float64[N], player A's results
    results_b: np.ndarray  #: float64[N], player B's results
    best: np.ndarray | None  #: float64[N], results of perfect play; None if they are unknown

    @property
    def difference(self) -> float:
        """The mean over the openings of A's result minus B's."""
        return float((self.results_a - self.results_b).mean())

    @property
    def difference_margin(self) -> float:
        """Half the width of the 95% confidence interval of `difference`; nan for one opening.

        It is 1.96 standard errors.
        """
        differences = self.results_a - self.results_b
        if len(differences) < 2:
            return math.nan
        return float(Z_95 * differences.std(ddof=1) / math.sqrt(len(differences)))

    def solved(self, results: np.ndarray) -> float:
        """Return the fraction of ``results`` as good as perfect play's; nan if that is unknown."""
        if self.best is None:
            return math.nan
        return float(np.isclose(results, self.best).mean())

    def to_plain(self) -> dict[str, Any]:
        """Convert means, maxima and comparisons to plain data for JSON; None means unknown."""
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
    """Extract the results of both players from a match in a game of one player.

    Args:
        exact: the exact values of the game; None if they are unknown.
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
    """Compute the exact values of a small game; None for a larger one.

    A small game has at most `MAX_SOLVER_POSITIONS` positions, or `_MAX_PYTHON_POSITIONS` if its
    rules are not compiled.
    """
    is_compiled = isinstance(game, CompiledGame)
    largest = MAX_SOLVER_POSITIONS if is_compiled else _MAX_PYTHON_POSITIONS
    try:
        return ExactValues(game, enumerate_positions(game, max_positions=largest))
    except InputError:
        return None


def _own_results(game: Game, values: np.ndarray) -> np.ndarray:
    return np.array([game.own_result(float(value)) for value in values])
