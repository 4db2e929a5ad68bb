"""A simulation up to its leaf, in one compiled function that plays the moves itself.

Kernels for games with compiled rules call it: one that also contains the network
(`alphazero.inference.table_search`), and one that runs a thread per game on a GPU
(`alphazero.inference.gpu_kernels`). They evaluate the leaf; the tree's functions do the rest.
"""

import numpy as np

from alphazero.games import rules
from alphazero.runtime.jit import njit
from alphazero.search.simulate import walk_from_root
from alphazero.search.tree import NO_PARENT, UNVISITED, add_node


@njit
def find_leaf(game, tree, states, b, exploration, plan, out_planes, out_mask):
    """Walk from the root to a new position, and add it to the tree.

    Args:
        game: the compiled rules.
        tree: the search trees of all games.
        states: [B, N, K], the position of each node.
        b: the index of the game, whose root has been evaluated.
        exploration, plan: as in `alphazero.search.simulate.simulate`.
        out_planes, out_mask: the leaf's planes and legal actions; see `add_leaf`.

    Returns:
        The leaf to evaluate, and the new node's distance from the root. The leaf is UNVISITED if
        there is none, because the game is over or the walk ended at a proven node; the value is
        then backed up. The distance is 0 if no node was added.
    """
    parent, action, depth = walk_from_root(tree, b, exploration, plan, None)
    if parent == NO_PARENT:
        return UNVISITED, 0
    state = states[b, tree.num_nodes[b]]
    for k in range(len(state)):
        state[k] = states[b, parent, k]
    rules.step(game, state, action)
    return add_leaf(game, tree, states, b, parent, action, out_planes, out_mask), depth


@njit
def add_leaf(game, tree, states, b, parent, action, out_planes, out_mask):
    """Add a node for the position stored in the next entry of ``states``; return the node.

    Args:
        game, tree, states, b: as in `find_leaf`.
        parent, action: the edge to the node; NO_PARENT for a root.
        out_planes: float32[C, H, W], output: what the network sees of the leaf.
        out_mask: bool[A], output: its legal actions.

    Returns:
        The node; UNVISITED if the game is over, in which case the result is backed up.
    """
    state = states[b, tree.num_nodes[b]]
    player = rules.player_to_move(game, state)
    if rules.is_over(game, state):
        result = np.float32(rules.scaled_result(game, state))
        add_node(tree, b, parent, action, player, True, result)
        return UNVISITED
    out_planes[:] = 0.0
    out_mask[:] = False
    rules.observe(game, state, out_planes)
    rules.legal_actions(game, state, out_mask)
    return add_node(tree, b, parent, action, player, False, np.float32(0.0))
