"""Exact results of Othello leaves: win, draw or loss, within a number of nodes for each.

In: positions on an `Othello` board. Out: their results where the alpha-beta search of
`alphazero.solvers.othello` proves them, by one or two tests of the final margin against 0. The
transposition table is kept between leaves, which are often a move apart.

Shapes: M positions, K state words.
"""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.runtime.bits import count_bits, popcount
from alphazero.runtime.jit import njit
from alphazero.search.tree import UNPROVEN
from alphazero.solvers.othello import new_search, search_above


class OthelloProver:
    """See `alphazero.solvers.exact_leaves.Prover`; a position's stage is its empty squares.

    Args:
        table_bits: the transposition table has 2 ** table_bits entries of 19 bytes.
    """

    def __init__(self, game: Game, table_bits: int = 16):
        self.num_stages = game.rules.size**2 + 1
        self._search = new_search(game.rules, table_bits)

    def stages(self, states: np.ndarray) -> np.ndarray:
        """See `Prover.stages`."""
        num_discs = np.empty(len(states), np.int64)
        count_bits(states[:, 0] | states[:, 1], num_discs)
        return self.num_stages - 1 - num_discs

    def prove(
        self, states: np.ndarray, budgets: np.ndarray, out_results: np.ndarray, most_nodes: int
    ) -> int:
        """See `Prover.prove`."""
        return prove_rows(self._search, states, budgets, out_results, most_nodes)

    def forget(self) -> None:
        """See `Prover.forget`."""
        self._search.positions[:] = 0


@njit
def prove_rows(search, states, budgets, out_results, most_nodes):
    """Write each result or UNPROVEN into ``out_results`` (int8[M]); return the nodes searched."""
    num_nodes = 0
    for row in range(states.shape[0]):
        mine, other = states[row, 0], states[row, 1]
        empty = popcount(search.board & ~(mine | other))
        budget = min(budgets[empty], most_nodes - num_nodes)
        out_results[row] = UNPROVEN
        if budget <= 0:
            continue
        search.mine[0], search.other[0] = mine, other
        search.cursor[0], search.cursor[1] = 0, budget
        margin = search_above(search, 0)
        if search.cursor[0] < 0 and margin == 0:  # at most 0: a draw or a loss
            search.cursor[0] = 0
            margin = search_above(search, -1)
        if search.cursor[0] < 0:
            out_results[row] = 1 if margin > 0 else 0 if margin == 0 else -1
        num_nodes += budget - search.cursor[1]
    return num_nodes
