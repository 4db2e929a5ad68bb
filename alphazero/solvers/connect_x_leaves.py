"""Exact results of Connect-X leaves: win, draw or loss, within a number of nodes for each.

In: positions on a `ConnectX` board (up to 64 bits). Out: their results where the alpha-beta search
of `alphazero.solvers.connect_x` proves them. One or two tests against 0 take the place of the
bisection that finds a score, and the transposition table is kept between leaves, which are often a
move apart.

Shapes: M positions, K state words.
"""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.runtime.bits import count_bits, popcount
from alphazero.runtime.jit import njit
from alphazero.search.tree import UNPROVEN
from alphazero.solvers.connect_x import can_win, new_search, search_above


class ConnectXProver:
    """See `alphazero.solvers.exact_leaves.Prover`; a position's stage is its empty cells.

    Args:
        table_bits: the transposition table has 2 ** table_bits entries of 8 bytes.
    """

    def __init__(self, game: Game, table_bits: int = 20):
        self._rules = game.rules
        self._search = new_search(game.rules, table_bits)
        self.num_stages = self._search.cells + 1

    def stages(self, states: np.ndarray) -> np.ndarray:
        """See `Prover.stages`."""
        num_discs = np.empty(len(states), np.int64)
        count_bits(states[:, 0] | states[:, 1], num_discs)
        return self._search.cells - num_discs

    def prove(
        self, states: np.ndarray, budgets: np.ndarray, out_results: np.ndarray, most_nodes: int
    ) -> int:
        """See `Prover.prove`."""
        return prove_rows(self._rules, self._search, states, budgets, out_results, most_nodes)

    def forget(self) -> None:
        """See `Prover.forget`."""
        self._search.table[:] = 0


@njit
def prove_rows(game, search, states, budgets, out_results, most_nodes):
    """Write each result or UNPROVEN into ``out_results`` (int8[M]); return the nodes searched."""
    num_nodes = 0
    for row in range(states.shape[0]):
        mine, occupied = states[row, 0], states[row, 0] | states[row, 1]
        budget = min(budgets[search.cells - popcount(occupied)], most_nodes - num_nodes)
        out_results[row] = UNPROVEN
        if budget <= 0:
            continue
        if can_win(game, search, mine, occupied):
            out_results[row] = 1
            continue
        search.mine[0], search.occupied[0] = mine, occupied
        search.cursor[0], search.cursor[1] = 0, budget
        score = search_above(game, search, 0)
        if search.cursor[0] < 0 and score == 0:  # at most 0: a draw or a loss
            search.cursor[0] = 0
            score = search_above(game, search, -1)
        if search.cursor[0] < 0:
            out_results[row] = 1 if score > 0 else 0 if score == 0 else -1
        num_nodes += budget - search.cursor[1]
    return num_nodes
