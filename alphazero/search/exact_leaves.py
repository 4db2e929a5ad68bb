"""Exact leaves: what a search asks about a new leaf before it asks the network.

A leaf gets its value in one of three ways, the cheapest first: the game is over; an exact search
proves the result; the network estimates it. This file defines the second one for `TreeSearch`. The
exact searches are in `alphazero.solvers`, which knows the rules of particular games.
"""

from typing import Protocol

import numpy as np


class ExactLeaves(Protocol):
    """Proves results of positions, within a limit of work for each.

    Laws:

    - an answer that is not `alphazero.search.tree.UNPROVEN` is the result under perfect play;
    - ``states`` is never changed.
    """

    def prove(self, states: np.ndarray) -> np.ndarray:
        """Return the results of unfinished positions.

        Args:
            states: [M, K].

        Returns:
            float32[M]: for the player to move, `UNPROVEN` where the limit was reached.
        """
        ...
