"""PUCT's choice of an action at a node, and KataGo's forced playouts at the root with the pruning of the policy target that goes with them.

In: the statistics of a node. Out: an action, or visit shares without the visits that were forced. Silver et al. 2018, supplement; D. Wu,
"Accelerating self-play learning in Go", arXiv 1902.10565, section 3.2. Nothing here knows when a search ends.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search.tree import ILLEGAL, ROOT_INDEX, UNPROVEN, UNVISITED


class Exploration(NamedTuple):
    """The constants of all searches of a batch. PUCT's: pb_c = pb_c_init + ln((visits + pb_c_base + 1) / pb_c_base)."""

    pb_c_init: float
    pb_c_base: float
    first_play_urgency: float  #: an unvisited action is valued at its parent's value less this times sqrt(visited prior mass)
    root_first_play_urgency: float  #: the same at the root
    forced_playouts_k: float = 0.0  #: a root with forced playouts gives each visited child sqrt(this * prior * visits of all children)
    value_scale: float = 0.1  #: of `gumbel.completion`
    maxvisit_init: float = 50.0  #: of `gumbel.completion`


@njit
def select_action(tree, b, node, exploration):
    """Return the legal action with the largest Q + pb_c * P * sqrt(N) / (1 + n); the first of equals."""
    scale = exploration_scale(tree, b, node, exploration)
    urgency = (
        exploration.root_first_play_urgency
        if node == ROOT_INDEX
        else exploration.first_play_urgency
    )
    unvisited_value = np.float64(tree.node_values[b, node]) - urgency * math.sqrt(
        np.float64(tree.visited_priors[b, node])
    )
    unvisited_value = max(unvisited_value, -1.0)
    best_action, best_score = -1, -np.inf
    for action in range(tree.children_index.shape[2]):
        child = tree.children_index[b, node, action]
        if child == ILLEGAL:
            continue
        value = (
            unvisited_value
            if child == UNVISITED
            else np.float64(tree.children_values[b, node, action])
        )
        prior = np.float64(tree.children_priors[b, node, action])
        score = value + scale * prior / (1.0 + np.float64(tree.children_visits[b, node, action]))
        if score > best_score:
            best_action, best_score = action, score
    return best_action


@njit
def exploration_scale(tree, b, node, exploration):
    """Return pb_c * sqrt(N), N the node's visits."""
    visits = np.float64(tree.node_visits[b, node])
    pb_c = exploration.pb_c_init + math.log(
        (visits + exploration.pb_c_base + 1.0) / exploration.pb_c_base
    )
    return pb_c * math.sqrt(visits)


# --- forced playouts at the root --------------------------------------------------------------------------------------------------------


@njit
def select_forced(tree, b, exploration):
    """Return the first visited root action with fewer visits than `forced_visits`, otherwise what `select_action` returns."""
    for action in range(tree.children_index.shape[2]):
        visits = tree.children_visits[b, ROOT_INDEX, action]
        if tree.children_index[b, ROOT_INDEX, action] >= 0 and visits < forced_visits(
            tree, b, action, exploration
        ):
            return action
    return select_action(tree, b, ROOT_INDEX, exploration)


@njit
def forced_visits(tree, b, action, exploration):
    """Return sqrt(k * P * visits of all children): 0 for an action that is proven to lose, whose prior is 0."""
    prior = np.float64(tree.children_priors[b, ROOT_INDEX, action])
    return math.sqrt(
        exploration.forced_playouts_k * prior * (np.float64(tree.node_visits[b, ROOT_INDEX]) - 1.0)
    )


@njit
def prune_forced(tree, rows, exploration, out_weights):
    """Take the forced visits that PUCT alone would not have made out of the visit shares.

    Each action loses up to `forced_visits` of them, as long as its PUCT score, with its value as it is, stays below that of the most visited one,
    which so keeps all of its own; what is reduced to a single visit loses it too.

    Args:
        out_weights: float32[M, A], from `tree.root_policy`; each row sums to 1 again afterwards. A proven root's stay as they are.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        visits, values, priors = (
            tree.children_visits[b, ROOT_INDEX],
            tree.children_values[b, ROOT_INDEX],
            tree.children_priors[b, ROOT_INDEX],
        )
        best = 0
        for action in range(out_weights.shape[1]):
            if out_weights[i, action] > out_weights[i, best]:
                best = action
        if visits[best] == 0 or tree.proven_values[b, ROOT_INDEX] != UNPROVEN:
            continue
        scale = exploration_scale(tree, b, ROOT_INDEX, exploration)
        best_score = np.float64(values[best]) + scale * np.float64(priors[best]) / (
            1.0 + np.float64(visits[best])
        )
        total = 0.0
        for action in range(out_weights.shape[1]):
            if out_weights[i, action] == 0.0:
                continue
            value, bonus = np.float64(values[action]), scale * np.float64(priors[action])
            spare, left = forced_visits(tree, b, action, exploration), np.int64(visits[action])
            while (
                left > 0 and spare >= 1.0 and value + bonus / np.float64(left) < best_score
            ):  # left is 1 + n with one visit less
                left -= 1
                spare -= 1.0
            if left == 1 and visits[action] > 1:
                left = 0
            out_weights[i, action] = left
            total += left
        for action in range(out_weights.shape[1]):
            out_weights[i, action] = np.float64(out_weights[i, action]) / total
