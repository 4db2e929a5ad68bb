"""Visits in flight, by which a search finds several leaves of each tree for one batch.

This serves searches with too few positions to fill a batch, often just one: up to ``num_leaves``
edges of each tree are found for one call of the evaluator (`alphazero.search.simulate`). A walk to
a leaf marks its path with a visit in flight, that is, one whose value is not yet known. That lowers
the path's exploration term, so the next walk tends to take another path. The path's values do not
change until the leaf is evaluated.

Source: A. Liu et al., "Watch the unobserved: a simple approach to parallelizing Monte Carlo tree
search", 2020 (arXiv 1810.11755). Counting visits in flight as lost games ("virtual loss") fills
batches sooner, but biases the values downwards.
"""

from typing import NamedTuple

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search.tree import NO_PARENT, Tree


class InFlight(NamedTuple):
    """Visits in B trees to leaves not evaluated yet; counts are 0 between calls of `simulate`."""

    nodes: np.ndarray  #: int32[B, N], number of visits in flight through each node
    edges: np.ndarray  #: int32[B, N, A], number of visits in flight through each edge
    #: int32[B, 2 * num_leaves, 2], last edge of each marked path, as (node, action)
    marked: np.ndarray
    num_marked: np.ndarray  #: int32[B], number of marked paths


def make_in_flight(tree: Tree, num_leaves: int) -> InFlight:
    """Allocate an `InFlight` for the given trees, with no visits in flight.

    Args:
        tree: the search trees of all games.
        num_leaves: maximum number of edges to find in one tree per call of `simulate`.
    """
    num_games = len(tree.num_nodes)
    return InFlight(
        nodes=np.zeros(tree.parents.shape, np.int32),
        edges=np.zeros(tree.children_index.shape, np.int32),
        marked=np.zeros((num_games, 2 * num_leaves, 2), np.int32),
        num_marked=np.zeros(num_games, np.int32),
    )


@njit
def mark_leaf(tree, in_flight, b, node, action):
    """Mark the path to the edge that a walk has found, and remember the edge for `remove_marks`.

    Args:
        tree, in_flight, b: the search trees, their visits in flight, and the index of the game.
        node, action: the node that the edge starts from, and the edge's action.
    """
    index = in_flight.num_marked[b]
    in_flight.marked[b, index, 0] = node
    in_flight.marked[b, index, 1] = action
    in_flight.num_marked[b] += 1
    _change(tree, in_flight, b, node, action, 1)


@njit
def remove_marks(tree, in_flight, b):
    """Remove all marks from game ``b``'s tree; the arguments are those of `mark_leaf`."""
    for k in range(in_flight.num_marked[b]):
        _change(tree, in_flight, b, in_flight.marked[b, k, 0], in_flight.marked[b, k, 1], -1)
    in_flight.num_marked[b] = 0


@njit
def _change(tree, in_flight, b, node, action, change):
    """Add ``change`` to the visits in flight of an edge and of all nodes and edges above it."""
    while node != NO_PARENT:
        in_flight.edges[b, node, action] += change
        in_flight.nodes[b, node] += change
        action = tree.action_from_parent[b, node]
        node = tree.parents[b, node]
