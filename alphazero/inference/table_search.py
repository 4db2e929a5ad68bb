"""`TableSearch`: many simulations in one kernel with the rules and a network as tables.

The trees are those of `alphazero.search.batched_search.TreeSearch`, but grow faster: a game's tree
and the tables stay in the processor's cache, and Python is called once for many simulations.
"""

from typing import Any, NamedTuple

import numpy as np

from alphazero.inference.tables import evaluate, make_scratch
from alphazero.runtime.jit import njit
from alphazero.search.batched_search import TreeSearch
from alphazero.search.leaf import find_leaf
from alphazero.search.simulate import Edges, is_finished
from alphazero.search.tree import NO_PARENT, UNVISITED, back_up, expand_node

#: Walks in one step: about a millisecond's, and at least so many in each game. Deadlines and Ctrl-C
#: take effect between steps. More in a game keep its tree in the processor's cache for longer.
_WALKS_PER_STEP = 256
_MIN_WALKS = 64


class TableSearch(TreeSearch):
    """Searches as `TreeSearch` does, but calls no evaluator while its engine has tables.

    The rules must be compiled. If the engine of the evaluator has been replaced by one without
    tables, because they were not accurate enough for new weights, steps are those of `TreeSearch`.
    """

    @property
    def simulations_per_step(self) -> int:
        """How many simulations a step makes in each unfinished search, at least."""
        return 1 if self._tables is None else _MIN_WALKS

    @property
    def _tables(self) -> Any:
        return self.evaluator.engine.tables

    def step(self) -> None:
        """Evaluate new roots, if there are any; otherwise simulate in every unfinished search."""
        tables = self._tables
        if tables is None:
            super().step()
            return
        rows = np.flatnonzero(self._in_use).astype(np.int32)
        new = rows[self._tree.num_nodes[rows] == 0]
        if len(new):
            no_parent = np.full(len(new), NO_PARENT, np.int32)
            roots = self._expansion.new_nodes(Edges(new, no_parent, no_parent), len(new), 0)
            self._evaluate(self._expansion.add(roots))
            return
        num_nodes, num_evaluations, depth = run_simulations(
            self.game.rules,
            self._tree,
            self._states,
            rows,
            self._budgets,
            self._roots.exploration,
            self._roots.plan,
            make_workspace(self.game, tables),
            max(_WALKS_PER_STEP // max(len(rows), 1), _MIN_WALKS),
        )
        self.counts.num_simulations += num_nodes
        self.counts.num_evaluations += num_evaluations
        self.counts.num_batches += 1
        self.counts.total_depth += depth


class Workspace(NamedTuple):
    """The network, and the memory in which `run_simulations` evaluates a position."""

    tables: Any
    planes: np.ndarray  #: float32[C, H, W]
    legal_action_mask: np.ndarray  #: bool[A]
    logits: np.ndarray  #: float32[A]
    scratch: Any


def make_workspace(game, tables: Any) -> Workspace:
    """Allocate the memory for one call of `run_simulations`.

    Args:
        game: an `alphazero.games.batched_game.Game`.
        tables: the network.
    """
    return Workspace(
        tables,
        np.empty(game.planes_shape, np.float32),
        np.empty(game.num_actions, np.bool_),
        np.empty(game.num_actions, np.float32),
        make_scratch(tables, *game.planes_shape[1:]),
    )


@njit
def run_simulations(game, tree, states, rows, budgets, exploration, plan, workspace, max_walks):
    """Simulate in each game of ``rows`` until its search is finished.

    Args:
        game: the compiled rules.
        tree: the search trees of all games, whose roots have been evaluated.
        states: [B, N, K], the position of each node.
        rows: int32[M], the indices of the games.
        budgets, exploration, plan: as in `alphazero.search.simulate.simulate`.
        workspace: from `make_workspace`.
        max_walks: number of walks in each game after which the call ends anyway.

    Returns:
        The number of new nodes, how many of them were evaluated, and the sum of their depths.
    """
    tables, planes, mask, logits, scratch = workspace
    num_nodes = 0
    num_evaluations = 0
    total_depth = 0
    for b in rows:
        num_walks = 0
        while num_walks < max_walks and not is_finished(tree, b, budgets[b]):
            num_walks += 1
            leaf, depth = find_leaf(game, tree, states, b, exploration, plan, planes, mask)
            num_nodes += depth > 0
            total_depth += depth
            if leaf != UNVISITED:
                num_evaluations += 1
                value = evaluate(tables, planes, scratch, logits)
                expand_node(tree, b, leaf, logits, mask, value)
                back_up(tree, b, leaf, np.float64(value))
    return num_nodes, num_evaluations, total_depth
