"""Simulations: in each of B trees, walk from the root to an edge that leads to no node yet.

The caller plays the actions of the `Edges` found and evaluates the new positions. Below the root,
actions are chosen by PUCT (`alphazero.search.puct`); at the root by PUCT, PUCT with forced playouts
(`alphazero.search.forced_playouts`), or sequential halving (`alphazero.search.gumbel`).
"""

from typing import NamedTuple

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search import gumbel
from alphazero.search.forced_playouts import select_forced
from alphazero.search.in_flight import mark_leaf, remove_marks
from alphazero.search.puct import select_action
from alphazero.search.tree import NO_PARENT, ROOT_INDEX, UNPROVEN, UNVISITED, back_up

#: Maximum number of walks in each tree per call. A search may make millions of walks that end at
#: proven nodes, but deadlines and Ctrl-C take effect only between calls.
MAX_WALKS = 10_000


class RootPlan(NamedTuple):
    """The noise, priors and budgets by which sequential halving chooses actions at B roots."""

    gumbels: np.ndarray  #: float32[B, A], the Gumbel noise of this search
    logits: np.ndarray  #: float32[B, A], logarithms of the priors at the start of this search
    kept_visits: np.ndarray  #: int32[B, A], visits of the root's actions from earlier searches
    num_considered: np.ndarray  #: int32[B], number of actions that sequential halving starts with
    num_simulations: np.ndarray  #: int32[B], new simulations: the budget minus the kept visits


class Edges(NamedTuple):
    """Edges to new nodes, found by simulations; `simulate` returns how many entries are in use.

    A root that has not been evaluated yet is listed as an edge without a parent.
    """

    rows: np.ndarray  #: int32[M], the indices of the games, in the order of `simulate`'s ``rows``
    parents: np.ndarray  #: int32[M], the node that the edge starts from; NO_PARENT for a root
    actions: np.ndarray  #: int32[M], the edge's action; NO_PARENT for a root


def make_root_plan(tree) -> RootPlan:
    """Allocate a `RootPlan` for the roots of the given trees."""
    num_games, _, num_actions = tree.children_index.shape
    return RootPlan(
        gumbels=np.zeros((num_games, num_actions), np.float32),
        logits=np.zeros((num_games, num_actions), np.float32),
        kept_visits=np.zeros((num_games, num_actions), np.int32),
        num_considered=np.zeros(num_games, np.int32),
        num_simulations=np.zeros(num_games, np.int32),
    )


def make_edges(num_edges: int) -> Edges:
    """Allocate uninitialized `Edges` with ``num_edges`` entries."""
    return Edges(*np.empty((3, num_edges), np.int32))


@njit
def simulate(tree, rows, budgets, exploration, plan, in_flight, num_leaves, out_edges):
    """In each game of ``rows``, find up to ``num_leaves`` edges that lead to no node yet.

    Each edge is found by a walk from the root. A walk that reaches a proven node backs up its exact
    value at once, and another walk begins. After `MAX_WALKS` walks, or ``num_leaves`` walks to
    edges found before, the call moves on to the next tree, although the search is not finished.
    Finished searches are skipped.

    Args:
        tree: the search trees of all games.
        rows: int32[M], the indices of the games to search.
        budgets: int32[B], total visits of the root's actions at which each search ends.
        exploration: the constants of the search, `alphazero.search.puct.Exploration`.
        plan: `RootPlan` for sequential halving at the roots, or None for PUCT, with forced playouts
            if ``exploration.forced_playouts_k`` > 0. numba compiles a separate variant for None.
        in_flight: `alphazero.search.in_flight.InFlight` with room for ``num_leaves``, which needs
            PUCT at the roots; None if ``num_leaves`` is 1.
        num_leaves: maximum number of edges to find in each game.
        out_edges: output: `Edges` with room for M * num_leaves edges.

    Returns:
        The number of edges found, how many of them stand for roots, and the sum of the other edges'
        depths: the distances of their new nodes from the roots.
    """
    num_edges = 0
    num_roots = 0
    total_depth = 0
    for i in range(rows.shape[0]):
        b = rows[i]
        if tree.num_nodes[b] == 0:
            write_edge(out_edges, num_edges, b, NO_PARENT, NO_PARENT)
            num_edges += 1
            num_roots += 1
            continue
        num_walks = 0
        num_found = 0
        num_repeated = 0
        while (
            num_found < num_leaves
            and num_repeated < num_leaves
            and num_walks < MAX_WALKS
            and not is_finished(tree, b, budgets[b] - num_found)
        ):
            num_walks += 1
            node, action, depth = walk_from_root(tree, b, exploration, plan, in_flight)
            if node == NO_PARENT:
                continue
            if in_flight is not None:
                is_new = in_flight.edges[b, node, action] == 0
                mark_leaf(tree, in_flight, b, node, action)
                if not is_new:
                    num_repeated += 1
                    continue
            write_edge(out_edges, num_edges, b, node, action)
            num_edges += 1
            num_found += 1
            total_depth += depth
        if in_flight is not None:
            remove_marks(tree, in_flight, b)
    return num_edges, num_roots, total_depth


@njit
def walk_from_root(tree, b, exploration, plan, in_flight):
    """Walk to an edge that leads to no node yet; if it leads to a proven node, back up its value.

    Args:
        tree, b: the search trees and the index of the game.
        exploration, plan, in_flight: as in `simulate`.

    Returns:
        The node and the action of the edge, and the distance of the edge's end from the root; the
        node is NO_PARENT if the walk ended at a proven node.
    """
    node = ROOT_INDEX
    depth = 1
    if plan is not None:
        action = gumbel.select_root(tree, b, plan, exploration)
    elif exploration.forced_playouts_k > 0.0:
        action = select_forced(tree, b, exploration)
    else:
        action = select_action(tree, b, ROOT_INDEX, exploration, in_flight)
    child = tree.children_index[b, node, action]
    while child != UNVISITED and tree.proven_values[b, child] == UNPROVEN:
        node = child
        depth += 1
        action = select_action(tree, b, node, exploration, in_flight)
        child = tree.children_index[b, node, action]
    if child != UNVISITED:
        tree.node_visits[b, child] += 1
        back_up(tree, b, child, np.float64(tree.proven_values[b, child]))
        node = NO_PARENT
    return node, action, depth


@njit
def write_edge(out_edges, index, row, parent, action):
    """Write an edge into one entry of `Edges`.

    Args:
        out_edges: output: the `Edges`.
        index: the index of the entry.
        row: the index of the game.
        parent, action: the node that the edge starts from, and its action; NO_PARENT for a root.
    """
    out_edges.rows[index] = row
    out_edges.parents[index] = parent
    out_edges.actions[index] = action


@njit
def is_finished(tree, b, budget):
    """Return whether game ``b``'s root is proven or its root actions have ``budget`` visits.

    A search whose root has not been evaluated is not finished.

    Args:
        tree, b: the search trees and the index of the game.
        budget: total visits of the root's actions at which the search ends.
    """
    if tree.num_nodes[b] == 0:
        return False
    return (
        tree.proven_values[b, ROOT_INDEX] != UNPROVEN
        or tree.node_visits[b, ROOT_INDEX] - 1 >= budget
    )


@njit
def finished_rows(tree, budgets, out_finished):
    """Write into ``out_finished``, bool[B], whether each game's search is finished.

    Args:
        tree: the search trees of all games.
        budgets: int32[B], total visits of the root's actions at which each search ends.
    """
    for b in range(budgets.shape[0]):
        out_finished[b] = is_finished(tree, b, budgets[b])
