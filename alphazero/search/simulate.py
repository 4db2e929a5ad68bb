"""The walk of one simulation, from the root to an edge that has no node yet, in each of B games.

In: trees, and a plan for each root. Out: the edges, for the driver to step the game over and to have evaluated. How an action is chosen stands in
`alphazero.search.puct` and `alphazero.search.gumbel`; each root may be searched in another way, all nodes below the roots by PUCT.
"""

from typing import NamedTuple

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search import gumbel
from alphazero.search.puct import select_action, select_forced
from alphazero.search.tree import NO_PARENT, ROOT_INDEX, UNPROVEN, UNVISITED, back_up

PUCT, FORCED, GUMBEL = 0, 1, 2


class RootPlan(NamedTuple):
    """How each of B roots is searched. All but the first are written by `gumbel.plan_roots` and mean nothing where the kind is not GUMBEL."""

    kinds: np.ndarray  #: int8[B], PUCT, FORCED (PUCT with forced playouts) or GUMBEL
    gumbels: np.ndarray  #: float32[B, A], the noise of this search
    logits: np.ndarray  #: float32[B, A], logarithms of the priors when the search began
    kept_visits: np.ndarray  #: int32[B, A], visits of the root's children when the search began
    num_considered: np.ndarray  #: int32[B], actions that the search begins with
    num_simulations: (
        np.ndarray
    )  #: int32[B], those of this search alone: the budget without the kept visits


def make_root_plan(num_games: int, num_actions: int) -> RootPlan:
    """Return plans of PUCT."""
    by_game, by_action = num_games, (num_games, num_actions)
    return RootPlan(
        kinds=np.full(by_game, PUCT, np.int8),
        gumbels=np.zeros(by_action, np.float32),
        logits=np.zeros(by_action, np.float32),
        kept_visits=np.zeros(by_action, np.int32),
        num_considered=np.zeros(by_game, np.int32),
        num_simulations=np.zeros(by_game, np.int32),
    )


@njit
def simulate(tree, rows, budgets, exploration, plan, out_parents, out_actions, out_depths):
    """Walk in each listed game from the root to an edge that has no node yet.

    A walk that meets a proven node is backed up at once, with the exact value, and the next one begins.

    Args:
        rows: int32[M], the games.
        budgets: int32[B], the number of visits that the root's children may have in all.
        plan: `RootPlan`; None is PUCT at every node and compiles to that alone, which with a plan is some 10 % slower.
        out_parents, out_actions: int32[M], the edge; parent NO_PARENT where the root itself waits, UNVISITED where the game's search is finished.
        out_depths: int32[M], the edge's distance from the root, 1 at the root's own edges.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        out_actions[i] = NO_PARENT
        out_depths[i] = 0
        if tree.num_nodes[b] == 0:
            out_parents[i] = NO_PARENT
            out_actions[i] = 0
            continue
        out_parents[i] = UNVISITED
        while not is_finished(tree, b, budgets[b]):
            node, depth = ROOT_INDEX, 1
            if plan is None:
                action = select_action(tree, b, node, exploration)
            else:
                action = _select_at_root(tree, b, plan, exploration)
            child = tree.children_index[b, node, action]
            while child != UNVISITED and tree.proven_values[b, child] == UNPROVEN:
                node = child
                depth += 1
                action = select_action(tree, b, node, exploration)
                child = tree.children_index[b, node, action]
            if child == UNVISITED:
                out_parents[i] = node
                out_actions[i] = action
                out_depths[i] = depth
                break
            tree.node_visits[b, child] += 1
            back_up(tree, b, child, np.float64(tree.proven_values[b, child]))


@njit
def is_finished(tree, b, budget):
    """Return whether game ``b``'s root is proven or its children have ``budget`` visits."""
    if tree.num_nodes[b] == 0:
        return False
    return (
        tree.proven_values[b, ROOT_INDEX] != UNPROVEN
        or tree.node_visits[b, ROOT_INDEX] - 1 >= budget
    )


@njit
def finished_rows(tree, budgets, out_finished):
    """Write `is_finished` of every game into ``out_finished`` (bool[B])."""
    for b in range(budgets.shape[0]):
        out_finished[b] = is_finished(tree, b, budgets[b])


@njit
def _select_at_root(tree, b, plan, exploration):
    if plan.kinds[b] == PUCT:
        return select_action(tree, b, ROOT_INDEX, exploration)
    if plan.kinds[b] == FORCED:
        return select_forced(tree, b, exploration)
    return gumbel.select_root(tree, b, plan, exploration)
