"""The tree of the UCT baseline as arrays, and its kernels `select`, `expand`, `backpropagate`.

The tree holds each node's visits and points. The caller decides when a search ends and which move
it plays; `alphazero.search.uct.rollout` has the rollouts.

Sources: L. Kocsis and C. Szepesvari, "Bandit based Monte-Carlo planning", 2006; C. Browne et al.,
"A survey of Monte Carlo tree search methods", 2012, section 3.

A rollout's result is stored as the points of the player who moves first in the game: 2 for a win, 1
for a draw, 0 for a loss, and intermediate values for other results. Points do not depend on whose
turn it is, so all nodes add them up in the same way, even if a player moves twice in a row. Only
`wins_of` takes a viewpoint.

Statistics by node: the children of a node are adjacent in `nodes`, so that comparing them reads
contiguous memory. Statistics by position: `nodes` holds each position once, found through a hash
table, and `edges` holds the moves of each expanded node and where they lead. None of this package's
games repeats a position, so this graph has no cycles. The next search can reuse it: `move_to_root`
makes another node the root.

Shapes: N nodes, E edges, M slots of the hash table, K state words, A actions.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.runtime.jit import njit
from alphazero.runtime.random_generators import random_below
from alphazero.search.uct.table import NUM_EDGES, NUM_NODES, ROOT_INDEX, UNKNOWN, look_up

NO_CHILDREN = -1

#: The data of one node, 20 bytes.
NODE = np.dtype(
    [
        # number of simulations through the node, without those that reach it in a rollout
        ("visits", np.int32),
        # sum of these simulations' points, for the player who moves first in the game
        ("points", np.float64),
        # index of the first child (by node) or first edge (by position); NO_CHILDREN at a leaf
        ("first_child", np.int32),
        ("num_children", np.int16),
        # by node: the action from the parent to this node; by position: unused
        ("action", np.int16),
    ]
)
#: The data of an edge to a child, used with statistics by position.
EDGE = np.dtype([("child", np.int32), ("action", np.int32)])

# Divisions and square roots took most of a search's time. Looking up those of small numbers in
# tables gives 25% more simulations/s in tic-tac-toe, 15% in Connect Four.
TABLE_SIZE = 4096
_COUNTS = np.arange(1, TABLE_SIZE)
INVERSES = np.zeros((TABLE_SIZE, 2))
INVERSES[1:, 0] = 1.0 / _COUNTS
INVERSES[1:, 1] = 1.0 / np.sqrt(_COUNTS)
ROOTS_OF_LOGS = np.zeros(TABLE_SIZE)
ROOTS_OF_LOGS[1:] = np.sqrt(np.log(_COUNTS))


class Tree(NamedTuple):
    """The nodes of a UCT search, with their visits, points and children, as arrays.

    The arrays are uninitialized before `start_tree`, and nothing is read before it is written. With
    statistics by node, all but the first two arrays are empty.
    """

    sizes: np.ndarray  #: int32[2], numbers of nodes and edges in use
    nodes: np.ndarray  #: NODE[N], the root first
    edges: np.ndarray  #: EDGE[E], the moves of expanded nodes; E = 0 means statistics by node
    positions: np.ndarray  #: [N, K], the state of each node
    slots: np.ndarray  #: int32[N], index of each node in `table`
    table: np.ndarray  #: int32[M], hash table of the nodes with linear probing; M is a power of two


class Scratch(NamedTuple):
    """Scratch memory that lets the kernels run simulations without allocating."""

    state: np.ndarray  #: [K], the current position of the simulation
    child_state: np.ndarray  #: [K], a child's position while the child is added
    path: np.ndarray  #: int32[T + 1], the simulation's nodes from the root; T is the longest game
    mask: np.ndarray  #: bool[A], True for legal actions


def make_tree(max_nodes: int, state_size: int, state_dtype: np.dtype, by_position: bool) -> Tree:
    """Allocate a tree, whose unused parts take no physical memory.

    Args:
        max_nodes: N, maximum number of nodes; with statistics by position, also of edges.
        state_size, state_dtype: length and dtype of the game's states.
        by_position: True for statistics by position, False for statistics by node.
    """
    shared = max_nodes if by_position else 0
    num_slots = 1 << (2 * shared - 1).bit_length() if by_position else 0
    return Tree(
        sizes=np.zeros(2, np.int32),
        nodes=np.empty(max_nodes, NODE),
        edges=np.empty(shared, EDGE),
        positions=np.empty((shared, state_size), state_dtype),
        slots=np.empty(shared, np.int32),
        table=np.zeros(num_slots, np.int32),
    )


def make_scratch(
    num_actions: int, max_plies: int, state_size: int, state_dtype: np.dtype
) -> Scratch:
    """Allocate the kernels' scratch memory for a game.

    Args:
        num_actions: A, counting legal and illegal actions.
        max_plies: upper bound on the number of moves in a game.
        state_size, state_dtype: length and dtype of the game's states.
    """
    return Scratch(
        state=np.zeros(state_size, state_dtype),
        child_state=np.zeros(state_size, state_dtype),
        path=np.zeros(max_plies + 1, np.int32),
        mask=np.zeros(num_actions, np.bool_),
    )


# --- select ---------------------------------------------------------------------------------------


@njit
def ucb1(wins, visits, parent_visits, uct_c):
    """Return the UCB1 score of a child; infinity if it has no visits.

        score = wins / visits + uct_c * sqrt(ln(parent_visits) / visits)

    P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
    problem", 2002, with uct_c = sqrt(2).

    Args:
        wins: number of wins, for the player who chooses the child; a draw counts half.
        visits, parent_visits: number of simulations through the child and through its parent.
        uct_c: exploration constant C of UCB1.
    """
    if visits == 0:
        return np.inf
    if parent_visits < TABLE_SIZE:
        root_of_log = ROOTS_OF_LOGS[parent_visits]
    else:
        root_of_log = math.sqrt(math.log(parent_visits))
    if visits < TABLE_SIZE:
        return wins * INVERSES[visits, 0] + uct_c * root_of_log * INVERSES[visits, 1]
    return wins / visits + uct_c * root_of_log / math.sqrt(visits)


@njit
def wins_of(player, points, visits):
    """Return how many of ``visits`` simulations ``player`` won; a draw counts half.

    Args:
        player: 0 for the player who moves first in the game, otherwise 1.
        points: sum of the simulations' points, for the player who moves first in the game.
        visits: number of simulations.
    """
    return 0.5 * (points if player == 0 else 2 * visits - points)


@njit
def select(tree, node, player, uct_c, rng):
    """Choose the edge of ``node`` with the largest `ucb1` score, breaking ties at random.

    Unvisited children therefore come first, in random order.

    Args:
        tree, node: the search tree and the index of an expanded node.
        player: the player to move at ``node``.
        uct_c: exploration constant C of UCB1.
        rng: uint64[1], the random state, which is advanced in place.

    Returns:
        The index of the edge, for `child_of` and `action_of`.
    """
    first = tree.nodes[node]["first_child"]
    parent_visits = tree.nodes[node]["visits"]
    best_edge = first
    best_score = -np.inf
    num_best = 0
    for edge in range(first, first + tree.nodes[node]["num_children"]):
        child = child_of(tree, edge)
        visits = tree.nodes[child]["visits"]
        wins = wins_of(player, tree.nodes[child]["points"], visits)
        score = ucb1(wins, visits, parent_visits, uct_c)
        if score > best_score:
            best_edge = edge
            best_score = score
            num_best = 1
        elif score == best_score:
            # The n-th tied edge replaces the best one with probability 1/n: all are equally likely.
            num_best += 1
            if random_below(rng, num_best) == 0:
                best_edge = edge
    return best_edge


@njit
def child_of(tree, edge):
    """Return the node that an edge leads to.

    Args:
        tree: the search tree.
        edge: the index of the edge; with statistics by node, that is the index of its child.
    """
    return tree.edges[edge]["child"] if tree.edges.shape[0] > 0 else edge


@njit
def action_of(tree, edge):
    """Return the action of an edge; see `child_of` for the index ``edge``."""
    return (
        tree.edges[edge]["action"]
        if tree.edges.shape[0] > 0
        else np.int32(tree.nodes[edge]["action"])
    )


def children_of(tree: Tree, node: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an expanded node's actions, and the indices of the nodes that they lead to.

    Both are arrays with one integer per legal action.
    """
    first = int(tree.nodes[node]["first_child"])
    end = first + int(tree.nodes[node]["num_children"])
    if len(tree.edges) > 0:
        edges = tree.edges[first:end]
        return edges["action"], edges["child"]
    return tree.nodes[first:end]["action"], np.arange(first, end)


# --- expand ---------------------------------------------------------------------------------------


@njit
def start_tree(game, tree, root_state, scratch):
    """Reset a tree to a root and its children.

    Args:
        game: the game's compiled rules.
        tree: the search tree, changed in place.
        root_state: [K], the position of the root, as a state of K words.
        scratch: memory that is overwritten, from `make_scratch`.
    """
    tree.sizes[NUM_NODES] = 0
    tree.sizes[NUM_EDGES] = 0
    if tree.edges.shape[0] > 0:
        find_position(tree, root_state)
    else:
        add_node(tree, -1)
    add_children(game, tree, np.int64(ROOT_INDEX), root_state, scratch)


@njit
def open_root(game, tree, root_state, scratch):
    """Add the root's children if it has none yet; the tree must have room for them.

    The arguments are those of `start_tree`.
    """
    if tree.nodes[ROOT_INDEX]["first_child"] == NO_CHILDREN:
        add_children(game, tree, np.int64(ROOT_INDEX), root_state, scratch)


@njit
def expand(game, tree, node, state, scratch):
    """Add a leaf's children if it was visited before, its game is not over, and there is room.

    Args:
        game: the game's compiled rules.
        tree: the search tree, changed in place.
        node: the index of the leaf.
        state: [K], the position of the leaf, as a state of K words.
        scratch: memory that is overwritten, from `make_scratch`.

    Returns:
        Whether the children were added.
    """
    if tree.nodes[node]["visits"] == 0 or rules.is_over(game, state):
        return False
    num_actions = scratch.mask.shape[0]
    by_position = tree.edges.shape[0] > 0
    if tree.sizes[NUM_NODES] + num_actions > tree.nodes.shape[0]:
        return False
    if by_position and tree.sizes[NUM_EDGES] + num_actions > tree.edges.shape[0]:
        return False
    add_children(game, tree, node, state, scratch)
    return True


@njit
def add_children(game, tree, node, state, scratch):
    """Add a child of ``node`` for each legal action; the tree must have room for all of them.

    The arguments are those of `expand`.
    """
    rules.legal_actions(game, state, scratch.mask)
    by_position = tree.edges.shape[0] > 0
    first = tree.sizes[NUM_EDGES] if by_position else tree.sizes[NUM_NODES]
    num_children = 0
    for action in range(scratch.mask.shape[0]):
        if not scratch.mask[action]:
            continue
        if by_position:
            for word in range(state.shape[0]):
                scratch.child_state[word] = state[word]
            rules.step(game, scratch.child_state, action)
            tree.edges[first + num_children]["child"] = find_position(tree, scratch.child_state)
            tree.edges[first + num_children]["action"] = action
        else:
            add_node(tree, action)
        num_children += 1
    if by_position:
        tree.sizes[NUM_EDGES] = first + num_children
    tree.nodes[node]["first_child"] = first
    tree.nodes[node]["num_children"] = num_children


@njit
def add_node(tree, action):
    """Append a leaf without visits to the tree's nodes and return its index.

    Args:
        tree: the search tree, changed in place.
        action: the action that leads to the leaf; -1 for the root and with statistics by position.
    """
    node = tree.sizes[NUM_NODES]
    tree.sizes[NUM_NODES] = node + 1
    tree.nodes[node]["visits"] = 0
    tree.nodes[node]["points"] = 0
    tree.nodes[node]["first_child"] = NO_CHILDREN
    tree.nodes[node]["num_children"] = 0
    tree.nodes[node]["action"] = action
    return node


@njit
def find_position(tree, state):
    """Return the index of a position's node, adding the node if the position is new.

    The tree must keep statistics by position and have room for one more node.
    """
    node, slot = look_up(tree, state)
    if node != UNKNOWN:
        return node
    node = add_node(tree, -1)
    tree.table[slot] = node
    tree.slots[node] = slot
    for word in range(state.shape[0]):
        tree.positions[node, word] = state[word]
    return node


# --- backpropagate --------------------------------------------------------------------------------


@njit
def backpropagate(tree, path, length, points):
    """Add one visit with ``points`` to each of the first ``length`` nodes of ``path``.

    Args:
        tree: the search tree, changed in place.
        path: int32[T + 1], the indices of the simulation's nodes from the root.
        points: the simulation's result, in points for the player who moves first in the game.
    """
    for i in range(length):
        tree.nodes[path[i]]["visits"] += 1
        tree.nodes[path[i]]["points"] += points
