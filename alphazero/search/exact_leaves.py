"""What a search asks about a new leaf before it asks the network: is the result known exactly?

A leaf is answered by the cheapest of three ways: the game is over; an exact search proves the
result; the network estimates it. This file defines the second one for `TreeSearch`. The exact
searches are in `alphazero.solvers`, which knows the rules of particular games.
"""

from typing import Protocol

import numpy as np


class ExactLeaves(Protocol):
    """Proves results of positions, within a limit of work for each.

    Laws:

    - an answer that is not `alphazero.search.tree.UNPROVEN` is the result under perfect play;
    - ``states`` is never changed;
    - the same questions in the same order after `begin` have the same answers.
    """

    def prove(self, states: np.ndarray) -> np.ndarray:
        """Return the results of unfinished positions.

        Args:
            states: [M, K].

        Returns:
            float32[M]: for the player to move, `UNPROVEN` where the limit was reached.
        """
        ...

    def begin(self, num_searches: int) -> None:
        """Prepare for new searches: no answer depends on what was asked before.

        Args:
            num_searches: how many searches share the work that may be done.
        """
        ...
