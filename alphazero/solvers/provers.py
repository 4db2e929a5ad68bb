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
from alphazero.solvers import connect_x, othello
from alphazero.solvers.alpha_beta import BEGUN, ROW, SPENT, PausingProver


class BitboardProver(PausingProver):
    """See `alphazero.solvers.exact_leaves.Prover`; a position's stage is its empty cells."""

    def __init__(self, game: CompiledGame):
        self._num_cells = math.prod(game.planes_shape[1:])
        self.num_stages = self._num_cells + 1
        if isinstance(game.rules, Othello):
            discs = othello.new_search(game.rules, 16)
            super().__init__(game.rules, _prove_othello, discs)
            self._table = discs.positions
        else:
            search = connect_x.new_search(game.rules, 20)
            super().__init__(game.rules, _prove_connect_x, search)
            self._table = search.table

    def stages(self, states: np.ndarray) -> np.ndarray:
        """See `Prover.stages`."""
        num_discs = np.empty(len(states), np.int64)
        count_bits(states[:, 0] | states[:, 1], num_discs)
        return self._num_cells - num_discs

    def forget(self) -> None:
        """See `Prover.forget`."""
        self._table[:] = 0


# A position is tested twice at most: is its score above 0, and if not, is it above -1? The entry
# `BEGUN` of ``at`` numbers the test.


@njit
def _prove_connect_x(game, search, at, states, budgets, results, num_nodes):
    """See `PausingProver`."""
    left = num_nodes
    while left > 0 and at[ROW] < states.shape[0]:
        row = at[ROW]
        if at[BEGUN] == 0:
            mine, occupied = states[row, 0], states[row, 0] | states[row, 1]
            is_won = budgets[row] > 0 and connect_x.can_win(game, search, mine, occupied)
            if is_won:
                results[row] = 1
            if is_won or budgets[row] <= 0:
                at[ROW] += 1
                continue
            search.mine[0], search.occupied[0] = mine, occupied
            search.cursor[0], at[BEGUN] = 0, 1
        search.cursor[1] = given = min(budgets[row] - at[SPENT], left)
        score = connect_x.search_above(game, search, 1 - at[BEGUN])
        left -= given - search.cursor[1]
        _settle(search, at, budgets[row], given, score, results)
    return num_nodes - left


@njit
def _prove_othello(game, search, at, states, budgets, results, num_nodes):
    """See `PausingProver`."""
    left = num_nodes
    while left > 0 and at[ROW] < states.shape[0]:
        row = at[ROW]
        if at[BEGUN] == 0:
            if budgets[row] <= 0:
                at[ROW] += 1
                continue
            search.mine[0], search.other[0] = states[row, 0], states[row, 1]
            search.cursor[0], at[BEGUN] = 0, 1
        search.cursor[1] = given = min(budgets[row] - at[SPENT], left)
        margin = othello.search_above(search, 1 - at[BEGUN])
        left -= given - search.cursor[1]
        _settle(search, at, budgets[row], given, margin, results)
    return num_nodes - left


@njit
def _settle(search, at, budget, given, score, results):
    """Store what a test found and go on to the next test or position, unless it has paused."""
    at[SPENT] += given - search.cursor[1]
    is_over = search.cursor[0] < 0
    if is_over and score == 0 and at[BEGUN] == 1:  # at most 0: a draw or a loss
        search.cursor[0], at[BEGUN] = 0, 2
    elif is_over or at[SPENT] >= budget:
        if is_over:
            results[at[ROW]] = 1 if score > 0 else 0 if score == 0 else -1
        at[ROW] += 1
        at[BEGUN] = at[SPENT] = 0
