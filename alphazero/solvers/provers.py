"""Prove that positions of Connect-X or Othello are won, drawn or lost, within a number of nodes.

A `Prover` uses the alpha-beta search of `alphazero.solvers.connect_x` or
`alphazero.solvers.othello`. Instead of finding the score, it tests the score's sign once or
twice, and it keeps the transposition table from one position to the next, because leaves of a
search tree are often only a move apart.

Shapes: M positions, K state words.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from alphazero.games.batched_game import CompiledGame
from alphazero.games.othello import Othello
from alphazero.runtime.bits import count_bits
from alphazero.runtime.jit import njit
from alphazero.search.tree import UNPROVEN
from alphazero.solvers import connect_x, othello

#: Maximum nodes that a prover searches, in a few milliseconds, before it checks the clock.
NODES_PER_LOOK = 20_000
#: Indices into the state of a paused kernel: the current position, the number of its test (0 before
#: the first), and the nodes spent on it so far.
ROW, BEGUN, SPENT = range(3)


class Prover:
    """Proves that positions of one game are won, drawn or lost, using a compiled search.

    A position's stage is the number of its empty cells.

    Args:
        game: Connect-X on a board of up to 64 bits, or Othello.

    Attributes:
        num_stages: number of stages, which go from 0 to ``num_stages`` - 1.
    """

    def __init__(self, game: CompiledGame):
        self._rules = game.rules
        self._num_cells = math.prod(game.planes_shape[1:])
        self.num_stages = self._num_cells + 1
        self._kernel: Callable[..., int]
        self._search: Any
        if isinstance(game.rules, Othello):
            self._kernel = _prove_othello
            self._search = othello.new_search(game.rules, 16)
            self._table = self._search.positions
        else:
            self._kernel = _prove_connect_x
            self._search = connect_x.new_search(game.rules, 20)
            self._table = self._search.table

    def prove(
        self, states: np.ndarray, budgets: np.ndarray, max_nodes: int, deadline: float = math.inf
    ) -> tuple[np.ndarray, int]:
        """Prove the results of unfinished positions, within limits on nodes and time.

        Args:
            states: [M, K], the positions.
            budgets: int64[M], maximum nodes for each position; a position with 0 is skipped.
            max_nodes: maximum nodes for all positions together, which are proven in order.
            deadline: time by `time.monotonic` at which the search stops.

        Returns:
            The results for the player to move, float32[M]: 1, 0 or -1, or `UNPROVEN` where nodes or
            time ran out; and the number of nodes searched.
        """
        results = np.full(len(states), UNPROVEN, np.float32)
        at = np.zeros(3, np.int64)
        num_nodes = 0
        while at[ROW] < len(states) and num_nodes < max_nodes and time.monotonic() < deadline:
            piece = min(max_nodes - num_nodes, NODES_PER_LOOK)
            num_nodes += self._kernel(
                self._rules, self._search, at, states, budgets, results, piece
            )
        return results, num_nodes

    def stages(self, states: np.ndarray) -> np.ndarray:
        """Return the stage of each position: its number of empty cells.

        Args:
            states: [M, K], the positions.

        Returns:
            int64[M].
        """
        num_discs = np.empty(len(states), np.int64)
        count_bits(states[:, 0] | states[:, 1], num_discs)
        return self._num_cells - num_discs

    def forget(self) -> None:
        """Clear the transposition table, which is otherwise kept from one position to the next."""
        self._table[:] = 0


# The kernels take rules, search, ``at``, states, budgets, results and ``num_nodes``. They resume
# where they paused, write proven results into ``results``, pause after ``num_nodes`` nodes, and
# return the number of nodes searched. A position is tested at most twice: is its score above 0?
# If not, is it above -1? The entry `BEGUN` of ``at`` is the number of the test.


@njit
def _prove_connect_x(game, search, at, states, budgets, results, num_nodes):
    left = num_nodes
    while left > 0 and at[ROW] < states.shape[0]:
        row = at[ROW]
        if at[BEGUN] == 0:
            mine = states[row, 0]
            occupied = mine | states[row, 1]
            is_won = budgets[row] > 0 and connect_x.can_win(game, search, mine, occupied)
            if is_won:
                results[row] = 1
            if is_won or budgets[row] <= 0:
                at[ROW] += 1
                continue
            search.mine[0] = mine
            search.occupied[0] = occupied
            search.cursor[0] = 0
            at[BEGUN] = 1
        given = min(budgets[row] - at[SPENT], left)
        search.cursor[1] = given
        score = connect_x.search_above(game, search, 1 - at[BEGUN])
        left -= given - search.cursor[1]
        _settle(search, at, budgets[row], given, score, results)
    return num_nodes - left


@njit
def _prove_othello(game, search, at, states, budgets, results, num_nodes):
    left = num_nodes
    while left > 0 and at[ROW] < states.shape[0]:
        row = at[ROW]
        if at[BEGUN] == 0:
            if budgets[row] <= 0:
                at[ROW] += 1
                continue
            search.mine[0] = states[row, 0]
            search.other[0] = states[row, 1]
            search.cursor[0] = 0
            at[BEGUN] = 1
        given = min(budgets[row] - at[SPENT], left)
        search.cursor[1] = given
        margin = othello.search_above(search, 1 - at[BEGUN])
        left -= given - search.cursor[1]
        _settle(search, at, budgets[row], given, margin, results)
    return num_nodes - left


@njit
def _settle(search, at, budget, given, score, results):
    """Record the outcome of a test of the score's sign, and prepare the next test or position.

    If the test has only paused, nothing but the number of nodes spent is recorded.

    Args:
        search: the search's working memory, which has finished or paused.
        at: int64[3], updated in place: the current position, the number of its test, and the nodes
            spent on it; see `ROW`.
        budget: maximum nodes for the current position.
        given: number of nodes that the search was allowed in this call.
        score: the bound that a finished test has found, for the player to move.
        results: float32[M], the proven results; updated in place.
    """
    at[SPENT] += given - search.cursor[1]
    is_over = search.cursor[0] < 0
    if is_over and score == 0 and at[BEGUN] == 1:  # at most 0: a draw or a loss
        search.cursor[0] = 0
        at[BEGUN] = 2
    elif is_over or at[SPENT] >= budget:
        if is_over:
            results[at[ROW]] = min(max(score, -1), 1)
        at[ROW] += 1
        at[BEGUN] = 0
        at[SPENT] = 0
