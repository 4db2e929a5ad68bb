"""Exact results of Connect-X and Othello leaves: win, draw or loss, within a number of nodes.

In: positions on a `ConnectX` board (up to 64 bits) or an `Othello` board. Out: their results where
the alpha-beta search of `alphazero.solvers.connect_x` or `alphazero.solvers.othello` proves them.
One or two tests against 0 take the place of the search for a score, and the transposition table is
kept between leaves, which are often a move apart.

Shapes: M positions, K state words.
"""

import math

import numpy as np

from alphazero.games.batched_game import CompiledGame
from alphazero.games.othello import Othello
from alphazero.runtime.bits import count_bits
from alphazero.runtime.jit import njit
from alphazero.search.tree import UNPROVEN
from alphazero.solvers import connect_x, othello


class BitboardProver:
    """See `alphazero.solvers.exact_leaves.Prover`; a position's stage is its empty cells."""

    _search: othello.Search | connect_x.Search

    def __init__(self, game: CompiledGame):
        self._rules = game.rules
        self._num_cells = math.prod(game.planes_shape[1:])
        self.num_stages = self._num_cells + 1
        if isinstance(game.rules, Othello):
            discs = othello.new_search(game.rules, 16)
            self._prove, self._search, self._table = _prove_othello, discs, discs.positions
        else:
            search = connect_x.new_search(game.rules, 20)
            self._prove, self._search, self._table = _prove_connect_x, search, search.table

    def stages(self, states: np.ndarray) -> np.ndarray:
        """See `Prover.stages`."""
        num_discs = np.empty(len(states), np.int64)
        count_bits(states[:, 0] | states[:, 1], num_discs)
        return self._num_cells - num_discs

    def prove(
        self, states: np.ndarray, budgets: np.ndarray, most_nodes: int
    ) -> tuple[np.ndarray, int]:
        """See `Prover.prove`."""
        results = np.full(len(states), UNPROVEN, np.float32)
        num_nodes = self._prove(self._rules, self._search, states, budgets, results, most_nodes)
        return results, num_nodes

    def forget(self) -> None:
        """See `Prover.forget`."""
        self._table[:] = 0


@njit
def _prove_connect_x(game, search, states, budgets, results, most_nodes):
    """Write proven results into ``results`` (float32[M]); return the number of nodes searched."""
    num_nodes = 0
    for row in range(states.shape[0]):
        mine, occupied = states[row, 0], states[row, 0] | states[row, 1]
        budget = min(budgets[row], most_nodes - num_nodes)
        if budget <= 0:
            continue
        if connect_x.can_win(game, search, mine, occupied):
            results[row] = 1
            continue
        search.mine[0], search.occupied[0] = mine, occupied
        search.cursor[0], search.cursor[1] = 0, budget
        score = connect_x.search_above(game, search, 0)
        if search.cursor[0] < 0 and score == 0:  # at most 0: a draw or a loss
            search.cursor[0] = 0
            score = connect_x.search_above(game, search, -1)
        if search.cursor[0] < 0:
            results[row] = 1 if score > 0 else 0 if score == 0 else -1
        num_nodes += budget - search.cursor[1]
    return num_nodes


@njit
def _prove_othello(game, search, states, budgets, results, most_nodes):
    """Write proven results into ``results`` (float32[M]); return the number of nodes searched."""
    num_nodes = 0
    for row in range(states.shape[0]):
        budget = min(budgets[row], most_nodes - num_nodes)
        if budget <= 0:
            continue
        search.mine[0], search.other[0] = states[row, 0], states[row, 1]
        search.cursor[0], search.cursor[1] = 0, budget
        margin = othello.search_above(search, 0)
        if search.cursor[0] < 0 and margin == 0:  # at most 0: a draw or a loss
            search.cursor[0] = 0
            margin = othello.search_above(search, -1)
        if search.cursor[0] < 0:
            results[row] = 1 if margin > 0 else 0 if margin == 0 else -1
        num_nodes += budget - search.cursor[1]
    return num_nodes
