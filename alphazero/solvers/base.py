"""The interface of exact solvers, and the definition of exact scores.

A solver maps positions to the score of every action: a whole number whose sign is the result under
perfect play, and which is larger for an earlier win, a later loss or a larger margin. This module
only defines the interface. The solvers are in the other modules of this package;
`alphazero.solvers.registry` chooses one for a game.

Shapes: B positions, K state words, A actions.
"""

from typing import Protocol

import numpy as np

from alphazero.runtime.errors import InputError

#: The score of an illegal action, below every other score.
ILLEGAL_SCORE = -1000

#: The value of an illegal action, below the values -1, 0 and 1.
ILLEGAL_VALUE = -2


class Solver(Protocol):
    """Computes the exact score of every action, from the viewpoint of the player to move.

    Scores are defined as follows:

    - Connect-X (after P. Pons): a win scores 1 plus the number of discs that the winner has left. A
      loss scores the negative of that number, a draw 0. On the empty board of Connect Four, the
      columns score -2, -1, 0, 1, 0, -1, -2.
    - Othello: the final margin of discs, the mover's minus the opponent's. Squares that stay empty
      count for neither side.
    - Other games: a win in n actions scores N + 1 - n, a loss the negative of that number, a draw
      0, where N is the length of the longest game. In games with results of other sizes,
      k * (N + 1) replaces N + 1 for results with the k-th smallest nonzero absolute value.

    Every solver obeys these rules:

    - a score is `ILLEGAL_SCORE` if and only if the action is illegal; in a finished game every
      action is illegal;
    - it never changes ``states``;
    - the scores of a position do not depend on earlier calls;
    - symmetric positions have the same scores, permuted like the actions.
    """

    name: str
    meaning: str  #: what the size of a score measures: "distance" to the end, or margin in "discs"

    def scores(self, states: np.ndarray) -> np.ndarray:
        """Return the exact score of each action, for the player to move.

        Args:
            states: [B, K], the positions; they may be finished.

        Returns:
            int16[B, A], `ILLEGAL_SCORE` where an action is illegal.

        Raises:
            UnsolvableError: if a position is beyond the solver's limits.
        """
        ...


class UnsolvableError(InputError):
    """Raised if a position or a whole game exceeds a solver's limits, such as its node limit."""


def values_of(scores: np.ndarray) -> np.ndarray:
    """Convert exact scores to results under perfect play, from the same viewpoint.

    Args:
        scores: exact scores, `ILLEGAL_SCORE` for illegal actions; an array of any shape.

    Returns:
        int8, in the shape of ``scores``: 1 win, 0 draw, -1 loss, `ILLEGAL_VALUE` where illegal.
    """
    return np.where(scores == ILLEGAL_SCORE, ILLEGAL_VALUE, np.sign(scores)).astype(np.int8)
