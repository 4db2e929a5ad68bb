"""The search trees of B games as arrays, and the kernels that add evaluated leaves to them.

`add_nodes` appends a node at the end of each edge that `alphazero.search.simulate` found, `expand`
writes the evaluator's policy and value into it, and `backward` adds the value to the nodes above.
This module does not depend on the game, the network, or how a search chooses its moves.

Layout and kernels follow mctx (google-deepmind/mctx, `tree.py`, `search.py`). Differences:

- priors are stored as probabilities, not as logits;
- illegal actions are marked with ILLEGAL in `children_index`, without a separate mask;
- each node stores its player to move, so a player may move twice in a row;
- proven results are carried up the tree (MCTS-Solver, M. Winands, Y. Björnsson and J.-T. Saito,
  "Monte-Carlo tree search solver", 2008), and a proven node is never evaluated again.

Shapes: B games, N nodes, A actions. A node takes `bytes_per_node(A)` bytes, and a search of S
simulations adds at most S + 1 nodes: 256 games of Othello 8x8 (A = 65) with 800 simulations take
220 MB.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.runtime.jit import njit

ROOT_INDEX = 0
NO_PARENT = -1
UNVISITED = -1
ILLEGAL = -2
UNPROVEN = 2.0  # larger than every result


class Tree(NamedTuple):
    """The trees of B searches, with the statistics of their nodes and edges.

    Node values are for the player to move at the node, edge values (`children_...`) for the player
    to move at the parent.
    """

    num_nodes: np.ndarray  #: int32[B], number of nodes in use; 0 until the root is evaluated
    #: int32[B, N], number of simulations that passed through or ended at the node, including the
    #: one that added it
    node_visits: np.ndarray
    node_values: np.ndarray  #: float32[B, N], mean value of those simulations, in [-1, 1]
    raw_values: np.ndarray  #: float32[B, N], the evaluator's value, or a finished game's result
    parents: np.ndarray  #: int32[B, N], NO_PARENT at the root
    action_from_parent: np.ndarray  #: int32[B, N], NO_PARENT at the root
    players: np.ndarray  #: int8[B, N], the player to move
    proven_values: np.ndarray  #: float32[B, N], the result if it is proven, otherwise UNPROVEN
    visited_priors: np.ndarray  #: float32[B, N], sum of the priors of the visited actions
    children_index: np.ndarray  #: int32[B, N, A], index of the child, or UNVISITED or ILLEGAL
    #: float32[B, N, A], probabilities over the legal actions; 0 for an action proven to lose
    children_priors: np.ndarray
    children_visits: np.ndarray  #: int32[B, N, A], number of simulations through the edge
    children_values: np.ndarray  #: float32[B, N, A], mean value of these simulations, in [-1, 1]
    #: bool[B], whether proven results are carried up the tree; if not, they stay at their nodes
    solves: np.ndarray


def bytes_per_node(num_actions: int) -> int:
    """Return the memory that one node of a `Tree` takes, in bytes.

    Args:
        num_actions: A, counting legal and illegal actions.
    """
    return 16 * num_actions + 29


def make_tree(num_games: int, num_nodes: int, num_actions: int, solves: bool = True) -> Tree:
    """Allocate empty trees for ``num_games`` games, with at most ``num_nodes`` nodes each.

    The arrays start as zeros, which take no physical memory until they are written, so a search
    with a time limit can reserve far more nodes than it uses. Unused nodes' entries are undefined.

    Args:
        num_actions: A, counting legal and illegal actions.
        solves: whether proven results are carried up the trees (MCTS-Solver).
    """
    nodes = (num_games, num_nodes)
    edges = (num_games, num_nodes, num_actions)
    return Tree(
        num_nodes=np.zeros(num_games, np.int32),
        node_visits=np.zeros(nodes, np.int32),
        node_values=np.zeros(nodes, np.float32),
        raw_values=np.zeros(nodes, np.float32),
        parents=np.zeros(nodes, np.int32),
        action_from_parent=np.zeros(nodes, np.int32),
        players=np.zeros(nodes, np.int8),
        proven_values=np.zeros(nodes, np.float32),
        visited_priors=np.zeros(nodes, np.float32),
        children_index=np.zeros(edges, np.int32),
        children_priors=np.zeros(edges, np.float32),
        children_visits=np.zeros(edges, np.int32),
        children_values=np.zeros(edges, np.float32),
        solves=np.full(num_games, solves),
    )


# --- expand ---------------------------------------------------------------------------------------


@njit
def add_nodes(tree, rows, parents, actions, players, over, results, out_nodes):
    """Append a node for each edge found by `simulate`, and back up the results of finished games.

    Args:
        tree: the search trees of all games, changed in place.
        rows: int32[M], the game of each edge.
        parents, actions: int32[M], from `simulate`; both NO_PARENT for a root.
        players, over, results: int8[M], bool[M] and float32[M], fields of the new positions'
            `alphazero.games.batched_game.Transition`; proven positions are marked as over too.
        out_nodes: int32[M], output: the indices of the new nodes in their trees.
    """
    for i in range(rows.shape[0]):
        new = rows[i], parents[i], actions[i], players[i], over[i], results[i]
        out_nodes[i] = add_node(tree, *new)


@njit
def add_node(tree, b, parent, action, player, over, result):
    """Append a node to game ``b``'s tree and return its index; see `add_nodes`."""
    node = tree.num_nodes[b]
    tree.num_nodes[b] = node + 1
    tree.parents[b, node] = parent
    tree.action_from_parent[b, node] = action
    tree.players[b, node] = player
    tree.node_visits[b, node] = 1
    tree.proven_values[b, node] = result if over else UNPROVEN
    tree.visited_priors[b, node] = 0.0
    if parent != NO_PARENT:
        tree.children_index[b, parent, action] = node
        tree.visited_priors[b, parent] += tree.children_priors[b, parent, action]
    if over:
        tree.raw_values[b, node] = result
        tree.node_values[b, node] = result
        # Otherwise `keep_subtree` would follow links that an earlier tree left here.
        for child_action in range(tree.children_index.shape[2]):
            tree.children_index[b, node, child_action] = ILLEGAL
        back_up(tree, b, node, np.float64(result))
    return node


@njit
def expand(tree, rows, nodes, prior_logits, legal_action_mask, values):
    """Write the evaluator's policies and values into newly added leaves.

        children_priors = softmax(prior_logits) over the legal actions

    Args:
        tree: the search trees of all games, changed in place.
        rows, nodes: int32[M], indices of the games and of the leaves in their trees.
        prior_logits: float32[M, A], the policies as logits.
        legal_action_mask: bool[M, A], True for legal actions.
        values: float32[M], in [-1, 1], for the player to move at the leaf.
    """
    for i in range(rows.shape[0]):
        answer = prior_logits[i], legal_action_mask[i], values[i]
        expand_node(tree, rows[i], nodes[i], *answer)


@njit
def expand_node(tree, b, node, prior_logits, legal_action_mask, value):
    """Write the evaluator's policy and value into one leaf of game ``b``; see `expand`."""
    largest = -np.inf
    for action in range(prior_logits.shape[0]):
        if legal_action_mask[action]:
            largest = max(largest, np.float64(prior_logits[action]))
    total = 0.0
    for action in range(prior_logits.shape[0]):
        tree.children_visits[b, node, action] = 0
        tree.children_values[b, node, action] = 0.0
        tree.children_priors[b, node, action] = 0.0
        tree.children_index[b, node, action] = ILLEGAL
        if legal_action_mask[action]:
            weight = math.exp(np.float64(prior_logits[action]) - largest)
            tree.children_index[b, node, action] = UNVISITED
            tree.children_priors[b, node, action] = weight
            total += weight
    for action in range(prior_logits.shape[0]):
        if legal_action_mask[action]:
            weight = np.float64(tree.children_priors[b, node, action])
            tree.children_priors[b, node, action] = weight / total
    tree.raw_values[b, node] = value
    tree.node_values[b, node] = value


# --- backward -------------------------------------------------------------------------------------


@njit
def backward(tree, rows, nodes):
    """Back up the value of each newly expanded leaf along its path to the root.

    Args:
        tree: the search trees of all games, changed in place.
        rows, nodes: int32[M], indices of the games and of the leaves in their trees.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        node = nodes[i]
        back_up(tree, b, node, np.float64(tree.raw_values[b, node]))


@njit
def back_up(tree, b, leaf, value):
    """Add one visit with ``value`` to every edge and node above ``leaf``, and propagate proofs.

    Edges and nodes keep running means: mean += (value - mean) / visits. An edge to a proven child
    has the exact value. If this visit proves a node, the proven value is backed up from there
    on. If ``tree.solves`` is False, only the values of finished games are exact.

    Args:
        tree, b, leaf: the search trees, the index of the game, and the index of the leaf.
        value: in [-1, 1], for the player to move at the leaf.
    """
    node = leaf
    parent = tree.parents[b, node]
    proving = tree.solves[b] and tree.proven_values[b, node] != UNPROVEN
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
        else:  # a finished game, or proven by another leaf of the same batch
            value = sign * np.float64(tree.proven_values[b, node])
            tree.children_values[b, parent, action] = value
        tree.node_visits[b, parent] += 1
        mean = np.float64(tree.node_values[b, parent])
        tree.node_values[b, parent] = mean + (value - mean) / tree.node_visits[b, parent]
        node = parent
        parent = tree.parents[b, node]


@njit
def _sign(tree, b, parent, node):
    """Return 1 if the same player moves at ``parent`` and ``node``, otherwise -1.

    Multiplying one node's value by this sign gives the value for the other node's player. No other
    function flips signs.
    """
    return 1.0 if tree.players[b, parent] == tree.players[b, node] else -1.0


# --- proven results (MCTS-Solver) -----------------------------------------------------------------


@njit
def _prove(tree, b, node):
    """Prove the result of ``node`` from its children if possible; return whether it is proven.

    With the children's proven values from the viewpoint of the player to move at ``node``:

        proven value = 1                      if any child is proven to win
                     = max over the children  if all of them are proven
    """
    best = -2.0
    complete = True
    for action in range(tree.children_index.shape[2]):
        child = tree.children_index[b, node, action]
        if child == ILLEGAL:
            continue
        if child == UNVISITED or tree.proven_values[b, child] == UNPROVEN:
            complete = False
            continue
        value = _sign(tree, b, node, child) * np.float64(tree.proven_values[b, child])
        best = max(best, value)
    if best == 1.0 or (complete and best > -2.0):
        tree.proven_values[b, node] = best
        return True
    return False


@njit
def is_proven_loss(tree, b, parent, child):
    """Return whether moving from ``parent`` to ``child`` is a proven loss for the player who moves.

    False if ``child`` is UNVISITED or ILLEGAL, or if ``tree.solves`` is False.

    Args:
        tree, b: the search trees and the index of the game.
        parent: the index of the parent node.
        child: the entry of ``children_index`` for the move.
    """
    if child < 0 or not tree.solves[b] or tree.proven_values[b, child] == UNPROVEN:
        return False
    value = _sign(tree, b, parent, child) * np.float64(tree.proven_values[b, child])
    return value == -1.0


@njit
def keeps_result(tree, b, action, proven):
    """Return whether a root action is legal and does not give away a proven result.

    At a proven root, the action must reach the proven result, and every legal action does so if the
    root is lost. At an unproven root, the action must not be proven to lose.

    Args:
        tree, b: the search trees and the index of the game.
        action: the root action.
        proven: the root's proven value for the player to move, or UNPROVEN.
    """
    child = tree.children_index[b, ROOT_INDEX, action]
    if child == ILLEGAL:
        return False
    if proven == -1:
        return True
    if proven == UNPROVEN:
        return not is_proven_loss(tree, b, ROOT_INDEX, child)
    if child == UNVISITED or tree.proven_values[b, child] == UNPROVEN:
        return False
    value = _sign(tree, b, ROOT_INDEX, child) * np.float64(tree.proven_values[b, child])
    return value == proven
