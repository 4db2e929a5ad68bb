"""Tree reuse: makes a child of the root the new root and drops everything outside its subtree.

The kept nodes move to the front of the same arrays. AlphaGo Zero reuses its tree in the same way
(Silver et al. 2017, Methods, "Search algorithm").
"""

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search.tree import ILLEGAL, NO_PARENT, ROOT_INDEX, UNVISITED


@njit(allocates=True)
def keep_subtree(tree, rows, actions, out_sources, out_num_kept):
    """In each game of ``rows``, make the played action's child the new root, in place.

    Args:
        tree: the search trees of all games.
        rows: int32[M], the indices of the games.
        actions: int32[M], the actions played.
        out_sources: int32[M, N], output: node k of the new tree was node ``out_sources[i, k]``.
        out_num_kept: int32[M], output: number of nodes kept; 0 if the child was never visited, or
            has no moves stored because its result was proven without a search.
    """
    new_index = np.empty(tree.parents.shape[1], np.int32)
    for i in range(rows.shape[0]):
        out_num_kept[i] = compact_subtree(tree, rows[i], actions[i], new_index, out_sources[i])


@njit
def compact_subtree(tree, b, action, new_index, out_sources):
    """Make the played action's child the new root of game ``b``, and return how many nodes it has.

    Args:
        tree, b: the search trees and the index of the game.
        action: the action played.
        new_index: int32[N], memory to work in.
        out_sources: int32[N], output; see `keep_subtree`.
    """
    child = UNVISITED
    if tree.num_nodes[b] > 0:
        child = tree.children_index[b, ROOT_INDEX, action]
    if child != UNVISITED and not _has_moves(tree, b, child):
        child = UNVISITED
    num_kept = 0
    for node in range(tree.num_nodes[b]):
        parent = tree.parents[b, node]
        new_index[node] = UNVISITED
        if node == child or (parent != NO_PARENT and new_index[parent] != UNVISITED):
            new_index[node] = num_kept
            out_sources[num_kept] = node
            num_kept += 1
    for k in range(num_kept):
        _move_node(tree, b, out_sources[k], k, new_index)
    if num_kept > 0:
        tree.parents[b, ROOT_INDEX] = NO_PARENT
        tree.action_from_parent[b, ROOT_INDEX] = NO_PARENT
    tree.num_nodes[b] = num_kept
    return num_kept


@njit
def _has_moves(tree, b, node):
    for action in range(tree.children_index.shape[2]):
        if tree.children_index[b, node, action] != ILLEGAL:
            return True
    return False


@njit
def _move_node(tree, b, source, target, new_index):
    tree.node_visits[b, target] = tree.node_visits[b, source]
    tree.node_values[b, target] = tree.node_values[b, source]
    tree.raw_values[b, target] = tree.raw_values[b, source]
    tree.action_from_parent[b, target] = tree.action_from_parent[b, source]
    tree.players[b, target] = tree.players[b, source]
    tree.proven_values[b, target] = tree.proven_values[b, source]
    tree.visited_priors[b, target] = tree.visited_priors[b, source]
    parent = tree.parents[b, source]
    tree.parents[b, target] = new_index[parent] if parent != NO_PARENT else NO_PARENT
    for action in range(tree.children_index.shape[2]):
        child = tree.children_index[b, source, action]
        tree.children_index[b, target, action] = new_index[child] if child >= 0 else child
        tree.children_priors[b, target, action] = tree.children_priors[b, source, action]
        tree.children_visits[b, target, action] = tree.children_visits[b, source, action]
        tree.children_values[b, target, action] = tree.children_values[b, source, action]
