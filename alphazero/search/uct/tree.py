"""The tree of the UCT baseline in arrays, and the kernels that grow it: `select`, `expand` and `backpropagate` (`rollout` has its own file).

In: a game's compiled rules, positions to grow from. Out: visits and points. Nothing here knows when a search ends or how its move is chosen.
After Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", 2006, and the survey of Browne et al., "A survey of Monte Carlo tree search
methods", 2012, section 3.

The result of a rollout is kept as the *points* of the player who moves first in the game: 2 for a win, 1 for a draw, 0 for a loss. A number
that does not depend on who looks at it adds up in the same way wherever it is stored, also where a player moves twice in a row; `wins_of`
is the one place where it takes a viewpoint.

Statistics by node: the children of a node lie side by side in `nodes`, so that comparing them reads one stretch of memory. Statistics by
position: `nodes` holds each position once, found again through a hash table, and `edges` holds for each expanded one the moves and where they
lead; no game of ours repeats a position, so that the graph has no cycles. Letters for shapes: N nodes, E edges, M slots, K state words, A actions.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.runtime.jit import njit
from alphazero.runtime.random_generators import random_below

ROOT_INDEX = 0
NO_CHILDREN = -1

#: 16 bytes: four nodes in a line of the cache.
NODE = np.dtype(
    [
        ("visits", np.int32),  # simulations that ended at or passed through the node
        (
            "points",
            np.int32,
        ),  # their results for the player who moves first in the game: 2 a win, 1 a draw, 0 a loss
        (
            "first_child",
            np.int32,
        ),  # by node: index of the first child's node; by position: of the first edge; NO_CHILDREN while a leaf
        ("num_children", np.int16),
        (
            "action",
            np.int16,
        ),  # by node: the action that leads here from the parent; by position: unused
    ]
)
EDGE = np.dtype([("child", np.int32), ("action", np.int32)])

NUM_NODES, NUM_EDGES = 0, 1  # places in Tree.sizes

# Divisions and roots took most of the time of a search: the small numbers' come from tables (25 % more simulations/s on
# tic-tac-toe, 15 % on Connect Four).
TABLE_SIZE = 4096
_COUNTS = np.arange(1, TABLE_SIZE)
INVERSES = np.zeros((TABLE_SIZE, 2))
INVERSES[1:, 0] = 1.0 / _COUNTS
INVERSES[1:, 1] = 1.0 / np.sqrt(_COUNTS)
ROOTS_OF_LOGS = np.zeros(TABLE_SIZE)
ROOTS_OF_LOGS[1:] = np.sqrt(np.log(_COUNTS))

_SEED = np.uint64(0x9E3779B97F4A7C15)
_13, _7, _17, _32 = np.uint64(13), np.uint64(7), np.uint64(17), np.uint64(32)


class Tree(NamedTuple):
    """The statistics of one search. Its arrays may hold anything before `start_tree`: nothing is read that was not written since."""

    sizes: np.ndarray  #: int32[2], nodes and edges in use
    nodes: np.ndarray  #: NODE[N], the root first
    edges: (
        np.ndarray
    )  #: EDGE[E], statistics by position; E = 0 says that statistics belong to nodes
    positions: np.ndarray  #: [N, K], statistics by position: the state of each node
    slots: np.ndarray  #: int32[N], statistics by position: where the node stands in `table`
    table: (
        np.ndarray
    )  #: int32[M], M a power of two: the node of a position, looked for from its hash onwards


class Scratch(NamedTuple):
    """Memory that the kernels write over in each simulation, so that they allocate nothing."""

    state: np.ndarray  #: [K], the position of the simulation
    child_state: np.ndarray  #: [K]
    path: (
        np.ndarray
    )  #: int32[T + 1], the nodes of the simulation from the root on; T is the longest game
    mask: np.ndarray  #: bool[A]


def make_tree(max_nodes: int, state_size: int, state_dtype: np.dtype, by_position: bool) -> Tree:
    """Return room for a tree. The memory is taken from the machine only where it comes to be used."""
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
    """Return the kernels' scratch memory for a game."""
    return Scratch(
        state=np.zeros(state_size, state_dtype),
        child_state=np.zeros(state_size, state_dtype),
        path=np.zeros(max_plies + 1, np.int32),
        mask=np.zeros(num_actions, np.bool_),
    )


# --- select -----------------------------------------------------------------------------------------------------------------------------


@njit
def ucb1(wins, visits, parent_visits, uct_c):
    """Return wins / visits + uct_c * sqrt(ln(parent_visits) / visits) (Auer et al. 2002), infinity without visits."""
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
    """Return the wins, draws as half, that ``visits`` simulations with ``points`` are for ``player``."""
    return 0.5 * (points if player == 0 else 2 * visits - points)


@njit
def select(tree, node, player, uct_c, rng):
    """Return the edge of ``node`` with the largest `ucb1` for ``player``, who is to move there: unvisited ones first, equals at random."""
    first = tree.nodes[node]["first_child"]
    parent_visits = tree.nodes[node]["visits"]
    best_edge, best_score, num_best = first, -np.inf, 0
    for edge in range(first, first + tree.nodes[node]["num_children"]):
        child = child_of(tree, edge)
        visits = tree.nodes[child]["visits"]
        score = ucb1(
            wins_of(player, tree.nodes[child]["points"], visits), visits, parent_visits, uct_c
        )
        if score > best_score:
            best_edge, best_score, num_best = edge, score, 1
        elif score == best_score:
            # The n-th of equals takes the place of those before it with probability 1/n, which leaves each the same chance.
            num_best += 1
            if random_below(rng, num_best) == 0:
                best_edge = edge
    return best_edge


@njit
def child_of(tree, edge):
    """Return the node that an edge leads to."""
    return tree.edges[edge]["child"] if tree.edges.shape[0] > 0 else edge


@njit
def action_of(tree, edge):
    """Return the action of an edge."""
    return (
        tree.edges[edge]["action"]
        if tree.edges.shape[0] > 0
        else np.int32(tree.nodes[edge]["action"])
    )


def children_of(tree: Tree, node: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the actions that lead from ``node`` to its children, and the children's nodes."""
    first = int(tree.nodes[node]["first_child"])
    edges = slice(first, first + int(tree.nodes[node]["num_children"]))
    if len(tree.edges) > 0:
        return tree.edges[edges]["action"], tree.edges[edges]["child"]
    return tree.nodes[edges]["action"], np.arange(edges.start, edges.stop)


# --- expand -----------------------------------------------------------------------------------------------------------------------------


@njit
def start_tree(game, tree, root_state, scratch):
    """Make a tree of the root and its children."""
    tree.sizes[NUM_NODES] = 0
    tree.sizes[NUM_EDGES] = 0
    if tree.edges.shape[0] > 0:
        find_position(tree, root_state)
    else:
        add_node(tree, -1)
    add_children(game, tree, np.int64(ROOT_INDEX), root_state, scratch)


@njit
def expand(game, tree, node, state, scratch):
    """Give a leaf its children if it was visited before, its game is not over and there is room; return whether it got them."""
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
    """Write the legal moves of ``state``, which is the position of ``node``, and what they lead to; there must be room."""
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
    """Append a leaf without visits and return its index."""
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
    """Return the node of a position, a new one if it is met for the first time.

    A slot counts only if its node points back to it. So what an earlier search left in the table is not cleared and does no harm (P. Briggs
    and L. Torczon, "An efficient representation for sparse sets", 1993).
    """
    last_slot = tree.table.shape[0] - 1
    slot = hash_of(state) & last_slot
    while True:
        node = tree.table[slot]
        if node >= tree.sizes[NUM_NODES] or tree.slots[node] != slot:
            break
        if _same_state(tree.positions[node], state):
            return node
        slot = (slot + 1) & last_slot
    node = add_node(tree, -1)
    tree.table[slot] = node
    tree.slots[node] = slot
    for word in range(state.shape[0]):
        tree.positions[node, word] = state[word]
    return node


@njit
def hash_of(state):
    """Return 32 bits that depend on every word of a state (rounds of xorshift, see `alphazero.runtime.random_generators`)."""
    bits = _SEED
    for word in range(state.shape[0] + 2):
        if word < state.shape[0]:
            bits ^= np.uint64(state[word])
        bits ^= bits << _13
        bits ^= bits >> _7
        bits ^= bits << _17
    return np.int64(bits >> _32)


@njit
def _same_state(a, b):
    for word in range(a.shape[0]):
        if a[word] != b[word]:
            return False
    return True


# --- backpropagate ----------------------------------------------------------------------------------------------------------------------


@njit
def backpropagate(tree, path, length, points):
    """Add one visit with the first player's ``points`` to each of the first ``length`` nodes of ``path``."""
    for i in range(length):
        tree.nodes[path[i]]["visits"] += 1
        tree.nodes[path[i]]["points"] += points
