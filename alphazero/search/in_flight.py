"""Collects several leaves of each tree for one batch by counting visits in flight.

This serves searches with too few positions to fill a batch, often just one: up to ``num_leaves``
edges of each tree are found for one call of the evaluator. A walk to a leaf marks its path with a
visit in flight, that is, one whose value is not yet known. That lowers the path's exploration term,
so the next walk tends to take another path. The path's values do not change until the leaf is
evaluated.

Source: A. Liu et al., "Watch the unobserved: a simple approach to parallelizing Monte Carlo tree
search", 2020 (arXiv 1810.11755). Counting visits in flight as lost games ("virtual loss") fills
batches sooner, but biases the values downwards.
"""

from typing import NamedTuple

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search.puct import select_action
from alphazero.search.simulate import MAX_WALKS, is_finished, walk, write_edge
from alphazero.search.tree import NO_PARENT, ROOT_INDEX, UNVISITED, Tree, back_up


class InFlight(NamedTuple):
    """Visits in B trees to leaves not evaluated yet; counts are 0 between calls of `collect`."""

    nodes: np.ndarray  #: int32[B, N], number of visits in flight through each node
    edges: np.ndarray  #: int32[B, N, A], number of visits in flight through each edge
    #: int32[B, 2 * num_leaves, 2], last edge of each marked path, as (node, action)
    marked: np.ndarray
    num_marked: np.ndarray  #: int32[B], number of marked paths


def make_in_flight(tree: Tree, num_leaves: int) -> InFlight:
    """Allocate an `InFlight` for the given trees, with no visits in flight.

    Args:
        tree: the search trees of all games.
        num_leaves: maximum number of edges to find in one tree per call of `collect`.
    """
    num_games = len(tree.num_nodes)
    return InFlight(
        nodes=np.zeros(tree.parents.shape, np.int32),
        edges=np.zeros(tree.children_index.shape, np.int32),
        marked=np.zeros((num_games, 2 * num_leaves, 2), np.int32),
        num_marked=np.zeros(num_games, np.int32),
    )


@njit
def collect(tree, rows, budgets, exploration, in_flight, num_leaves, out_edges):
    """In each game of ``rows``, find up to ``num_leaves`` edges that lead to no node yet.

    Each edge is found by a walk from the root, in which all nodes choose by PUCT. A walk that ends
    at an edge already found marks its path again but adds no edge; after ``num_leaves`` such walks
    the function moves on to the next game. All marks are removed before the function returns.

    Args:
        tree: the search trees of all games.
        rows, budgets, exploration: as in `alphazero.search.simulate.simulate`.
        in_flight: `InFlight` of the trees, allocated for at least ``num_leaves``.
        num_leaves: maximum number of edges to find in each game.
        out_edges: output: `alphazero.search.simulate.Edges` with room for M * num_leaves edges.

    Returns:
        The number of edges found, how many of them stand for roots, and the sum of the other edges'
        depths, as in `alphazero.search.simulate.simulate`.
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
        num_found = 0
        num_walks = 0
        while (
            num_found < num_leaves
            and num_walks < MAX_WALKS
            and in_flight.num_marked[b] - num_found < num_leaves
            and not is_finished(tree, b, budgets[b] - num_found)
        ):
            num_walks += 1
            action = select_action(tree, b, ROOT_INDEX, exploration, in_flight)
            node, action, depth = walk(tree, b, action, exploration, in_flight)
            child = tree.children_index[b, node, action]
            if child != UNVISITED:
                tree.node_visits[b, child] += 1
                back_up(tree, b, child, np.float64(tree.proven_values[b, child]))
                continue
            is_new = in_flight.edges[b, node, action] == 0
            index = in_flight.num_marked[b]
            in_flight.marked[b, index, 0] = node
            in_flight.marked[b, index, 1] = action
            in_flight.num_marked[b] += 1
            _mark(tree, in_flight, b, node, action, 1)
            if is_new:
                write_edge(out_edges, num_edges, b, node, action)
                num_edges += 1
                num_found += 1
                total_depth += depth
        for k in range(in_flight.num_marked[b]):
            last_node = in_flight.marked[b, k, 0]
            last_action = in_flight.marked[b, k, 1]
            _mark(tree, in_flight, b, last_node, last_action, -1)
        in_flight.num_marked[b] = 0
    return num_edges, num_roots, total_depth


@njit
def _mark(tree, in_flight, b, node, action, change):
    """Add ``change`` to the visits in flight of an edge and of all nodes and edges above it.

    Args:
        tree, in_flight, b: the search trees, their visits in flight, and the index of the game.
        node, action: the node that the edge starts from, and the edge's action.
        change: 1 to mark the path, -1 to remove the mark.
    """
    while node != NO_PARENT:
        in_flight.edges[b, node, action] += change
        in_flight.nodes[b, node] += change
        action = tree.action_from_parent[b, node]
        node = tree.parents[b, node]
