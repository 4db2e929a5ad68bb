"""Kernels that search on a GPU, with one thread per game and the same functions as on the CPU.

numba compiles the rules and the functions that search one game for either processor. The simulator
of `numba.cuda` (``NUMBA_ENABLE_CUDASIM=1``) runs the kernels as plain Python.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from alphazero.runtime.jit import njit
from alphazero.search.leaf import add_leaf, find_leaf
from alphazero.search.simulate import is_finished
from alphazero.search.subtree import compact_subtree
from alphazero.search.tree import NO_PARENT, UNVISITED, Tree, back_up, expand_node

#: Maximum walks of a game in one step. A walk that ends at a proven node or a finished game is
#: followed by another, but not without limit, because the other games wait.
_MAX_WALKS = 4
STOPPED = -1  #: the budget of a game that is not searched


class Searches(NamedTuple):
    """The searches of B games, all on the GPU."""

    tree: Tree
    states: np.ndarray  #: [B, N, K], the position of each node
    root_states: np.ndarray  #: [B, K]
    budgets: np.ndarray  #: int32[B]; see `alphazero.search.simulate.simulate`; or STOPPED
    finished: np.ndarray  #: bool[B], output: whether the search is finished and not stopped
    nodes: np.ndarray  #: int32[B], the new node to evaluate, or UNVISITED
    planes: np.ndarray  #: float32[B, C, H, W], what the network sees of it
    legal_action_mask: np.ndarray  #: bool[B, A]
    logits: np.ndarray  #: float32[B, A], the network's policy
    values: np.ndarray  #: float32[B]
    counts: np.ndarray  #: int64[B, 3]: nodes added, nodes evaluated, sum of their depths
    kept: np.ndarray  #: int32[2, B, N], memory in which `keep_subtrees` works


def make_searches(game, tree: Tree, to_device: Callable[[np.ndarray], Any]) -> Searches:
    """Allocate `Searches` on the GPU, all of them stopped.

    Args:
        game: an `alphazero.games.batched_game.CompiledGame`.
        tree: empty trees on the CPU, which are copied.
        to_device: copies an array to the GPU.
    """
    num_games, num_nodes, num_actions = tree.children_index.shape
    searches = Searches(
        tree=tree,
        states=np.zeros((num_games, num_nodes, game.state_size), game.state_dtype),
        root_states=np.zeros((num_games, game.state_size), game.state_dtype),
        budgets=np.full(num_games, STOPPED, np.int32),
        finished=np.zeros(num_games, np.bool_),
        nodes=np.full(num_games, UNVISITED, np.int32),
        planes=np.zeros((num_games, *game.planes_shape), np.float32),
        legal_action_mask=np.zeros((num_games, num_actions), np.bool_),
        logits=np.zeros((num_games, num_actions), np.float32),
        values=np.zeros(num_games, np.float32),
        counts=np.zeros((num_games, 3), np.int64),
        kept=np.zeros((2, num_games, num_nodes), np.int32),
    )
    return Searches(Tree(*map(to_device, tree)), *map(to_device, searches[1:]))


@njit
def find_new_leaf(game, searches, b, exploration, plan):
    """Walk to a new node of game ``b`` that the network must evaluate, and add it.

    Args:
        game: the compiled rules.
        searches, b: the searches and the index of the game.
        exploration, plan: as in `alphazero.search.simulate.simulate`.

    Returns:
        The index of the node; UNVISITED if there is none.
    """
    tree = searches.tree
    outputs = searches.planes[b], searches.legal_action_mask[b]
    for _ in range(_MAX_WALKS):
        if searches.budgets[b] == STOPPED or is_finished(tree, b, searches.budgets[b]):
            break
        num_nodes = tree.num_nodes[b]
        depth = 0
        if num_nodes == 0:
            for k in range(searches.states.shape[2]):
                searches.states[b, 0, k] = searches.root_states[b, k]
            leaf = add_leaf(game, tree, searches.states, b, NO_PARENT, NO_PARENT, *outputs)
        else:
            leaf, depth = find_leaf(game, tree, searches.states, b, exploration, plan, *outputs)
        searches.counts[b, 0] += tree.num_nodes[b] - num_nodes
        searches.counts[b, 1] += leaf != UNVISITED
        searches.counts[b, 2] += depth
        if leaf != UNVISITED:
            return leaf
    return UNVISITED


def find_leaves(game, searches, exploration):
    """Find a leaf in each game; see `find_new_leaf`."""
    b = cuda.grid(1)
    if b < len(searches.nodes):
        searches.nodes[b] = find_new_leaf(game, searches, b, exploration, None)


def find_leaves_by_plan(game, searches, exploration, plan):
    """Find a leaf in each game, with sequential halving at the roots; see `find_new_leaf`."""
    b = cuda.grid(1)
    if b < len(searches.nodes):
        searches.nodes[b] = find_new_leaf(game, searches, b, exploration, plan)


def back_up_leaves(searches):
    """Write the network's policy and value into each game's leaf, and back up the value."""
    b = cuda.grid(1)
    if b < len(searches.nodes):
        tree, node, budget = searches.tree, searches.nodes[b], searches.budgets[b]
        if node != UNVISITED:
            value = searches.values[b]
            expand_node(tree, b, node, searches.logits[b], searches.legal_action_mask[b], value)
            back_up(tree, b, node, np.float64(value))
        searches.finished[b] = budget != STOPPED and is_finished(tree, b, budget)


def keep_subtrees(searches, rows, actions):
    """In each game of ``rows``, make the played action's child the root; see `compact_subtree`."""
    i = cuda.grid(1)
    if i < len(rows):
        b = rows[i]
        sources = searches.kept[1, b]
        num_kept = compact_subtree(searches.tree, b, actions[i], searches.kept[0, b], sources)
        for node in range(num_kept):
            for k in range(searches.states.shape[2]):
                searches.states[b, node, k] = searches.states[b, sources[node], k]


@functools.cache
def compiled(kernel):
    """Return a kernel of this module for the GPU; numba compiles it when it is first called."""
    return cuda.jit(kernel)
