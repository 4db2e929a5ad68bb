"""Searches that run in one kernel, with the rules and the network, if the network is `LineTables`.

They grow the trees as the steps of `alphazero.search.batched_search` do, but faster: a game's tree
and the tables stay in the processor's cache, and Python is called once for many simulations.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.runtime.jit import njit
from alphazero.search.line_tables import LineTables, Scratch, answer, make_scratch
from alphazero.search.simulate import Edges, is_finished, make_edges, walk_from_root, write_edge
from alphazero.search.tree import NO_PARENT, add_node, back_up, expand_node


class Workspace(NamedTuple):
    """The network, and the memory in which `grow` prepares one node."""

    tables: LineTables
    state: np.ndarray  #: [K]
    planes: np.ndarray  #: float32[C, H, W]
    legal_action_mask: np.ndarray  #: bool[A]
    logits: np.ndarray  #: float32[A]
    scratch: Scratch
    edges: Edges  #: output: the roots that are left to the caller


def make_workspace(game, tables: LineTables, num_games: int) -> Workspace:
    """Allocate the memory for one call of `grow`.

    Args:
        game: an `alphazero.games.batched_game.Game`.
        tables: the network.
        num_games: the largest number of games to search in the call.
    """
    return Workspace(
        tables,
        np.empty(game.state_size, game.state_dtype),
        np.empty(game.planes_shape, np.float32),
        np.empty(game.num_actions, np.bool_),
        np.empty(game.num_actions, np.float32),
        make_scratch(tables, game.planes_shape[1] * game.planes_shape[2]),
        make_edges(num_games),
    )


@njit
def grow(game, tree, states, rows, budgets, exploration, plan, workspace, max_walks):
    """Search in each game of ``rows`` whose root has been evaluated.

    Args:
        game: the compiled rules.
        tree: the search trees of all games.
        states: [B, N, K], the position of each node.
        rows: int32[M], the indices of the games.
        budgets, exploration, plan: as in `alphazero.search.simulate.simulate`.
        workspace: from `make_workspace`.
        max_walks: number of walks in each game after which the call ends anyway.

    Returns:
        The number of roots that the caller must evaluate, which are written to
        ``workspace.edges``; the number of new nodes, how many of them were evaluated, and the sum
        of their depths.
    """
    tables, state, planes, mask, logits, scratch, edges = workspace
    num_roots = 0
    num_nodes = 0
    num_evaluations = 0
    total_depth = 0
    for b in rows:
        if tree.num_nodes[b] == 0:
            write_edge(edges, num_roots, b, NO_PARENT, NO_PARENT)
            num_roots += 1
            continue
        num_walks = 0
        while num_walks < max_walks and not is_finished(tree, b, budgets[b]):
            num_walks += 1
            parent, action, depth = walk_from_root(tree, b, exploration, plan)
            if parent == NO_PARENT:
                continue
            for k in range(len(state)):
                state[k] = states[b, parent, k]
            rules.step(game, state, action)
            over = rules.is_over(game, state)
            num_nodes += 1
            total_depth += depth
            result = np.float32(rules.scaled_result(game, state)) if over else np.float32(0.0)
            player = rules.player_to_move(game, state)
            node = add_node(tree, b, parent, action, player, over, result)
            for k in range(len(state)):
                states[b, node, k] = state[k]
            if over:
                continue
            num_evaluations += 1
            planes[:] = 0.0
            rules.observe(game, state, planes)
            mask[:] = False
            rules.legal_actions(game, state, mask)
            value = answer(tables, planes, scratch, logits)
            expand_node(tree, b, node, logits, mask, value)
            back_up(tree, b, node, np.float64(value))
    return num_roots, num_nodes, num_evaluations, total_depth
