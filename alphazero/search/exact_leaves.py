"""Exact leaves: the interface through which a search tries to prove new leaves.

A leaf gets its value from the cheapest source available: the result of a finished game, an exact
search, or the network. This file defines the interface of the second for `TreeSearch`; the exact
searches for particular games are in `alphazero.solvers`.
"""

from typing import Protocol

import numpy as np


class ExactLeaves(Protocol):
    """Proves the results of positions, with limited work for each position.

    Laws:

    - an answer other than `alphazero.search.tree.UNPROVEN` is the result under perfect play;
    - ``states`` is never changed.
    """

    def prove(self, states: np.ndarray) -> np.ndarray:
        """Return the results of unfinished positions.

        Args:
            states: [M, K].

        Returns:
            float32[M], for the player to move; `UNPROVEN` where the work limit was reached.
        """
        ...
