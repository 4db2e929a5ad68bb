"""One tree for each of B games, in arrays: `expand` and `backward` write what a leaf was answered. Neither game nor network is known here.

The third verb, `simulate`, has a file of its own: how a walk chooses is no matter of the arrays. Layout and verbs follow mctx (google-deepmind/mctx,
`tree.py`, `search.py`); what differs: priors are kept as probabilities, an illegal action is marked in `children_index`, the player to move is
stored for each node, and positions whose result is proven are never evaluated again (MCTS-Solver, Winands et al. 2008).

Letters for shapes: B games in lockstep, N nodes, A actions. A tree takes `bytes_per_node(A)` bytes for each node, and a search of S simulations
makes at most S + 1 nodes: Othello 8x8 (A = 65), 256 games, 800 simulations are 220 MB.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.runtime.jit import njit

ROOT_INDEX = 0
NO_PARENT = -1
UNVISITED = -1
ILLEGAL = -2
UNPROVEN = 2


class Tree(NamedTuple):
    """The statistics of B searches. Values are from the viewpoint of the player to move at the node, `children_values` at the parent."""

    num_nodes: np.ndarray  #: int32[B], nodes in use; 0 where the root waits for its evaluation
    node_visits: np.ndarray  #: int32[B, N], simulations that ended at or passed through the node, its own evaluation included
    node_values: np.ndarray  #: float32[B, N], mean value in [-1, 1]
    raw_values: (
        np.ndarray
    )  #: float32[B, N], the evaluator's value, or the exact one of a finished game
    parents: np.ndarray  #: int32[B, N], NO_PARENT at the root
    action_from_parent: np.ndarray  #: int32[B, N]
    players: np.ndarray  #: int8[B, N], the player to move
    proven_values: (
        np.ndarray
    )  #: int8[B, N], -1, 0 or 1 where the result under best play is known, otherwise UNPROVEN
    visited_priors: np.ndarray  #: float32[B, N], sum of the priors of the visited actions
    children_index: np.ndarray  #: int32[B, N, A], the child's node, UNVISITED or ILLEGAL
    children_priors: np.ndarray  #: float32[B, N, A], probabilities over the legal actions; 0 for an action that is proven to lose
    children_visits: np.ndarray  #: int32[B, N, A]
    children_values: np.ndarray  #: float32[B, N, A], mean value in [-1, 1] from the viewpoint of the player to move at this node


def bytes_per_node(num_actions: int) -> int:
    """Return the memory of one node of one tree."""
    return 16 * num_actions + 26


def make_tree(num_games: int, num_nodes: int, num_actions: int) -> Tree:
    """Return empty trees for ``num_games`` games of at most ``num_nodes`` nodes each."""
    nodes, edges = (num_games, num_nodes), (num_games, num_nodes, num_actions)
    return Tree(
        num_nodes=np.zeros(num_games, np.int32),
        node_visits=np.zeros(nodes, np.int32),
        node_values=np.zeros(nodes, np.float32),
        raw_values=np.zeros(nodes, np.float32),
        parents=np.full(nodes, NO_PARENT, np.int32),
        action_from_parent=np.full(nodes, NO_PARENT, np.int32),
        players=np.zeros(nodes, np.int8),
        proven_values=np.full(nodes, UNPROVEN, np.int8),
        visited_priors=np.zeros(nodes, np.float32),
        children_index=np.full(edges, UNVISITED, np.int32),
        children_priors=np.zeros(edges, np.float32),
        children_visits=np.zeros(edges, np.int32),
        children_values=np.zeros(edges, np.float32),
    )


# --- expand -----------------------------------------------------------------------------------------------------------------------------


@njit
def add_nodes(tree, rows, parents, actions, players, over, results, out_nodes):
    """Append a node for each edge that `simulate` found; a finished game's exact result is backed up at once.

    Args:
        rows, parents, actions: int32[M], from `simulate`.
        players, over, results: [M], of the new positions, see `alphazero.games.batched_game.Transition`.
        out_nodes: int32[M], the new nodes.
    """
    for i in range(rows.shape[0]):
        b, parent = rows[i], parents[i]
        node = tree.num_nodes[b]
        tree.num_nodes[b] = node + 1
        out_nodes[i] = node
        tree.parents[b, node] = parent
        tree.action_from_parent[b, node] = actions[i] if parent != NO_PARENT else NO_PARENT
        tree.players[b, node] = players[i]
        tree.node_visits[b, node] = 1
        tree.proven_values[b, node] = np.int8(results[i]) if over[i] else UNPROVEN
        tree.visited_priors[b, node] = 0.0
        if parent != NO_PARENT:
            tree.children_index[b, parent, actions[i]] = node
            tree.visited_priors[b, parent] += tree.children_priors[b, parent, actions[i]]
        if over[i]:
            tree.raw_values[b, node] = results[i]
            tree.node_values[b, node] = results[i]
            for action in range(tree.children_index.shape[2]):
                tree.children_index[b, node, action] = (
                    ILLEGAL  # what an earlier tree left here would be moved by `keep_subtree`
                )
            back_up(tree, b, node, np.float64(results[i]))


@njit
def expand(tree, rows, nodes, prior_logits, legal_action_mask, values):
    """Write the evaluator's answer into the leaves: masked softmax of the logits as priors, and the value.

    Args:
        prior_logits: float32[M, A].
        legal_action_mask: bool[M, A].
        values: float32[M], in [-1, 1], from the viewpoint of the player to move at the leaf.
    """
    for i in range(rows.shape[0]):
        b, node = rows[i], nodes[i]
        largest = -np.inf
        for action in range(prior_logits.shape[1]):
            if legal_action_mask[i, action]:
                largest = max(largest, np.float64(prior_logits[i, action]))
        total = 0.0
        for action in range(prior_logits.shape[1]):
            tree.children_visits[b, node, action] = 0
            tree.children_values[b, node, action] = 0.0
            tree.children_priors[b, node, action] = 0.0
            tree.children_index[b, node, action] = ILLEGAL
            if legal_action_mask[i, action]:
                weight = math.exp(np.float64(prior_logits[i, action]) - largest)
                tree.children_index[b, node, action] = UNVISITED
                tree.children_priors[b, node, action] = weight
                total += weight
        for action in range(prior_logits.shape[1]):
            if legal_action_mask[i, action]:
                tree.children_priors[b, node, action] = (
                    np.float64(tree.children_priors[b, node, action]) / total
                )
        tree.raw_values[b, node] = values[i]
        tree.node_values[b, node] = values[i]


@njit
def mix_root_priors(tree, rows, noise, fraction, temperature):
    """Flatten the root's priors by a temperature and mix noise into them, once for each new root.

    Args:
        noise: float32[M, A], drawn for every action; only the legal part counts, rescaled to sum to 1.
        fraction: the noise's share of the new priors.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        priors, children = tree.children_priors[b, ROOT_INDEX], tree.children_index[b, ROOT_INDEX]
        prior_total, noise_total = 0.0, 0.0
        for action in range(priors.shape[0]):
            if children[action] != ILLEGAL:
                prior_total += math.pow(np.float64(priors[action]), 1.0 / temperature)
                noise_total += np.float64(noise[i, action])
        visited = 0.0
        for action in range(priors.shape[0]):
            if children[action] != ILLEGAL and prior_total > 0.0:
                prior = math.pow(np.float64(priors[action]), 1.0 / temperature) / prior_total
                if noise_total > 0.0:
                    prior = (1.0 - fraction) * prior + fraction * np.float64(
                        noise[i, action]
                    ) / noise_total
                if not is_proven_loss(tree, b, ROOT_INDEX, children[action]):
                    priors[action] = prior
                if children[action] != UNVISITED:
                    visited += prior
        tree.visited_priors[b, ROOT_INDEX] = visited


# --- backward ---------------------------------------------------------------------------------------------------------------------------


@njit
def backward(tree, rows, nodes):
    """Back up the value of each newly expanded leaf along its path to the root."""
    for i in range(rows.shape[0]):
        back_up(tree, rows[i], nodes[i], np.float64(tree.raw_values[rows[i], nodes[i]]))


@njit
def _sign(tree, b, parent, node):
    """Return the factor that carries a value from ``node``'s viewpoint to ``parent``'s: the one place where signs flip."""
    return 1.0 if tree.players[b, parent] == tree.players[b, node] else -1.0


@njit
def is_proven_loss(tree, b, parent, child):
    """Return whether ``child`` is a node that is proven to lose for the player to move at ``parent``."""
    if child < 0 or tree.proven_values[b, child] == UNPROVEN:
        return False
    return _sign(tree, b, parent, child) * np.float64(tree.proven_values[b, child]) == -1.0


@njit
def back_up(tree, b, leaf, value):
    """Add one visit of ``value`` (viewpoint of the leaf's player) to every edge and node above ``leaf``, and carry proven results up."""
    node = leaf
    parent = tree.parents[b, node]
    proving = tree.proven_values[b, node] != UNPROVEN
    while parent != NO_PARENT:
        sign = _sign(tree, b, parent, node)
        value = sign * value
        action = tree.action_from_parent[b, node]
        visits = tree.children_visits[b, parent, action] + 1
        mean = np.float64(tree.children_values[b, parent, action])
        tree.children_visits[b, parent, action] = visits
        if proving:
            tree.children_values[b, parent, action] = sign * np.float64(tree.proven_values[b, node])
            if tree.children_values[b, parent, action] == -1.0:
                tree.children_priors[b, parent, action] = 0.0
            proving = _prove(tree, b, parent)
            if proving:
                value = np.float64(tree.proven_values[b, parent])
        elif tree.proven_values[b, node] == UNPROVEN:
            tree.children_values[b, parent, action] = mean + (value - mean) / visits
        tree.node_visits[b, parent] += 1
        mean = np.float64(tree.node_values[b, parent])
        tree.node_values[b, parent] = mean + (value - mean) / tree.node_visits[b, parent]
        node = parent
        parent = tree.parents[b, node]


@njit
def _prove(tree, b, node):
    """Mark ``node`` as proven if a child wins for its player, or if all children are proven; return whether it is."""
    best = -2.0
    complete = True
    for action in range(tree.children_index.shape[2]):
        child = tree.children_index[b, node, action]
        if child == ILLEGAL:
            continue
        if child == UNVISITED or tree.proven_values[b, child] == UNPROVEN:
            complete = False
            continue
        best = max(best, _sign(tree, b, node, child) * np.float64(tree.proven_values[b, child]))
    if best == 1.0 or (complete and best > -2.0):
        tree.proven_values[b, node] = np.int8(best)
        return True
    return False


# --- the root: what the search says, and its reuse --------------------------------------------------------------------------------------


@njit
def root_policy(tree, rows, out_weights, out_values):
    """Write the visit shares of the root's actions, and its value.

    Where the result is proven, only the actions that reach it keep their share; where some actions are proven to lose and others are not, the
    losing ones have none.

    Args:
        out_weights: float32[M, A], each row sums to 1.
        out_values: float32[M], in [-1, 1], from the viewpoint of the player to move.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        proven = tree.proven_values[b, ROOT_INDEX]
        total, allowed = 0.0, 0
        for action in range(out_weights.shape[1]):
            out_weights[i, action] = 0.0
            if keeps_result(tree, b, action, proven):
                out_weights[i, action] = tree.children_visits[b, ROOT_INDEX, action]
                total += np.float64(out_weights[i, action])
                allowed += 1
        for action in range(out_weights.shape[1]):
            if total > 0.0:
                out_weights[i, action] = np.float64(out_weights[i, action]) / total
            elif keeps_result(tree, b, action, proven):
                out_weights[i, action] = 1.0 / allowed
        out_values[i] = tree.node_values[b, ROOT_INDEX] if proven == UNPROVEN else proven


@njit
def keeps_result(tree, b, action, proven):
    """Return whether a root action is legal and not known to be worse than the root's proven value, or than an unproven one."""
    child = tree.children_index[b, ROOT_INDEX, action]
    if child == ILLEGAL:
        return False
    if proven == -1:
        return True
    if proven == UNPROVEN:
        return not is_proven_loss(tree, b, ROOT_INDEX, child)
    if child == UNVISITED or tree.proven_values[b, child] == UNPROVEN:
        return False
    return _sign(tree, b, ROOT_INDEX, child) * np.float64(tree.proven_values[b, child]) == proven


@njit(allocates=True)
def keep_subtree(tree, rows, actions, out_sources, out_kept):
    """Make the child behind each ``actions[i]`` the new root and move its subtree to the front, in place; the rest is dropped.

    Args:
        rows, actions: int32[M].
        out_sources: int32[M, N]; node k of the new tree was node ``out_sources[i, k]``.
        out_kept: int32[M], the number of nodes kept, 0 where the child was never visited.
    """
    new_index = np.empty(tree.parents.shape[1], np.int32)
    for i in range(rows.shape[0]):
        b = rows[i]
        child = (
            tree.children_index[b, ROOT_INDEX, actions[i]] if tree.num_nodes[b] > 0 else UNVISITED
        )
        kept = 0
        for node in range(tree.num_nodes[b]):
            parent = tree.parents[b, node]
            new_index[node] = UNVISITED
            if node == child or (parent != NO_PARENT and new_index[parent] != UNVISITED):
                new_index[node] = kept
                out_sources[i, kept] = node
                kept += 1
        for k in range(kept):
            _move_node(tree, b, out_sources[i, k], k, new_index)
        if kept > 0:
            tree.parents[b, ROOT_INDEX] = NO_PARENT
            tree.action_from_parent[b, ROOT_INDEX] = NO_PARENT
        tree.num_nodes[b] = kept
        out_kept[i] = kept


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
