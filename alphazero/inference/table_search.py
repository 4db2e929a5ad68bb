"""`TableSearch`: many simulations in one kernel with the rules and the network, as `LineTables`.

The trees are those of `alphazero.search.batched_search.TreeSearch`, but grow faster: a game's tree
and the tables stay in the processor's cache, and Python is called once for many simulations.
"""

from typing import NamedTuple

import numpy as np

from alphazero.inference.line_tables import LineTables, Scratch, evaluate, make_scratch
from alphazero.runtime.jit import njit
from alphazero.search.batched_search import TreeSearch
from alphazero.search.expansion import NewNodes
from alphazero.search.leaf import LEFT_OUT, find_leaf
from alphazero.search.simulate import Edges, is_finished, make_edges, write_edge
from alphazero.search.tree import NO_PARENT, UNVISITED, back_up, expand_node

#: Walks of each game in one step, about a millisecond's. Deadlines and Ctrl-C take effect between
#: steps. With 32, self-play on two cores is a fifth slower: the processor's cache then holds the
#: trees of all games in turn, instead of one game's for a whole move.
_WALKS_PER_STEP = 256


class TableSearch(TreeSearch):
    """Searches as `TreeSearch` does, but calls no evaluator while its engine has `LineTables`.

    The rules must be compiled. If the engine of the evaluator has been replaced by one without
    tables, because they were not accurate enough for new weights, steps are those of `TreeSearch`.
    """

    @property
    def simulations_per_step(self) -> int:
        """How many simulations a step makes in each unfinished search, at least."""
        return 1 if self._tables is None else _WALKS_PER_STEP

    @property
    def _tables(self) -> LineTables | None:
        return self.evaluator.engine.line_tables

    def step(self) -> None:
        """Run `simulations_per_step` simulations and more in every unfinished search."""
        tables = self._tables
        if tables is None:
            super().step()
            return
        new = self._run(np.flatnonzero(self._in_use).astype(np.int32), tables)
        if new is not None:
            self._evaluate(self._expansion.add(new))

    def _run(self, rows: np.ndarray, tables: LineTables) -> NewNodes | None:
        """Run many simulations in the given games; return the nodes that the kernel cannot add.

        These are roots, and positions that may be solved exactly before the network is asked.

        Args:
            rows: int32[M], the indices of the games.
            tables: the network.
        """
        max_empty_cells = -1 if self._exact_leaves is None else self._exact_leaves.largest_stage
        workspace = make_workspace(self.game, tables, max_empty_cells, len(rows))
        num_edges, num_roots, edge_depth, num_nodes, num_evaluations, depth = run_simulations(
            self.game.rules,
            self._tree,
            self._states,
            rows,
            self._budgets,
            self._roots.exploration,
            self._roots.plan,
            workspace,
            _WALKS_PER_STEP,
        )
        self.counts.num_simulations += num_nodes
        self.counts.num_evaluations += num_evaluations
        self.counts.num_batches += 1
        self.counts.total_depth += depth
        return self._new_nodes(workspace.edges, num_edges, num_roots, edge_depth)


class Workspace(NamedTuple):
    """The network, and the memory in which `run_simulations` evaluates a position."""

    tables: LineTables
    planes: np.ndarray  #: float32[C, H, W]
    legal_action_mask: np.ndarray  #: bool[A]
    logits: np.ndarray  #: float32[A]
    scratch: Scratch
    max_empty_cells: int  #: positions with at most so many are left to the caller; -1 if none are
    edges: Edges  #: output: to the roots and positions that are left to the caller


def make_workspace(game, tables: LineTables, max_empty_cells: int, num_games: int) -> Workspace:
    """Allocate the memory for one call of `run_simulations`.

    Args:
        game: an `alphazero.games.batched_game.Game`.
        tables: the network.
        max_empty_cells: see `Workspace`.
        num_games: number of games to search in the call.
    """
    return Workspace(
        tables,
        np.empty(game.planes_shape, np.float32),
        np.empty(game.num_actions, np.bool_),
        np.empty(game.num_actions, np.float32),
        make_scratch(tables, game.planes_shape[1] * game.planes_shape[2]),
        max_empty_cells,
        make_edges(num_games),
    )


@njit
def run_simulations(game, tree, states, rows, budgets, exploration, plan, workspace, max_walks):
    """Search in each game of ``rows``, until the search is finished or needs the caller.

    It needs the caller for a root that has not been evaluated, and for a position that the caller
    may solve.

    Args:
        game: the compiled rules.
        tree: the search trees of all games.
        states: [B, N, K], the position of each node.
        rows: int32[M], the indices of the games.
        budgets, exploration, plan: as in `alphazero.search.simulate.simulate`.
        workspace: from `make_workspace`.
        max_walks: number of walks in each game after which the call ends anyway.

    Returns:
        The number of edges left to the caller, as `alphazero.search.simulate.simulate` does: how
        many of them stand for roots, and the sum of the others' depths. Then the number of new
        nodes, how many of them were evaluated, and the sum of their depths.
    """
    tables, planes, mask, logits, scratch, max_empty_cells, edges = workspace
    num_edges = 0
    num_roots = 0
    edge_depth = 0
    num_nodes = 0
    num_evaluations = 0
    total_depth = 0
    for b in rows:
        if tree.num_nodes[b] == 0:
            write_edge(edges, num_edges, b, NO_PARENT, NO_PARENT)
            num_edges += 1
            num_roots += 1
            continue
        num_walks = 0
        while num_walks < max_walks and not is_finished(tree, b, budgets[b]):
            num_walks += 1
            leaf, parent, action, depth = find_leaf(
                game, tree, states, b, exploration, plan, max_empty_cells, planes, mask
            )
            if leaf == LEFT_OUT:
                write_edge(edges, num_edges, b, parent, action)
                num_edges += 1
                edge_depth += depth
                break
            if parent == NO_PARENT:
                continue
            num_nodes += 1
            total_depth += depth
            if leaf == UNVISITED:
                continue
            num_evaluations += 1
            value = evaluate(tables, planes, scratch, logits)
            expand_node(tree, b, leaf, logits, mask, value)
            back_up(tree, b, leaf, np.float64(value))
    return num_edges, num_roots, edge_depth, num_nodes, num_evaluations, total_depth
