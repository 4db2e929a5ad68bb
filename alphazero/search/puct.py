"""PUCT: the choice of an action at a node, the root noise, and the policy of a finished search.

These kernels need only the statistics of the node concerned; the caller decides when a search ends.

Source: D. Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and
Go through self-play", 2018, supplement ("Search") and its pseudocode.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search.tree import (
    ILLEGAL,
    ROOT_INDEX,
    UNPROVEN,
    UNVISITED,
    is_proven_loss,
    keeps_result,
)


class Exploration(NamedTuple):
    """The search settings that the compiled kernels read, as floats.

    `alphazero.search.settings.SearchSettings` explains those that have no comment here.
    """

    pb_c_init: float
    pb_c_base: float
    first_play_urgency: float
    root_first_play_urgency: float
    #: 1: the value of an unvisited action is based on its node's mean value; 0: on the value 0
    parent_weight: float = 1.0
    forced_playouts_k: float = 0.0  #: see `forced_visits` in `alphazero.search.forced_playouts`
    value_scale: float = 0.1  #: see `completion` in `alphazero.search.gumbel`
    maxvisit_init: float = 50.0  #: see `completion` in `alphazero.search.gumbel`


@njit
def select_action(tree, b, node, exploration, in_flight):
    """Choose the legal action with the largest PUCT score; on ties, the first one.

        score = value + pb_c * prior * sqrt(node_visits) / (1 + children_visits)
        pb_c  = pb_c_init + ln((node_visits + pb_c_base + 1) / pb_c_base)

    ``value`` is the action's mean value, for the player to move. For an unvisited action it is the
    node's value or 0 (``parent_weight``), reduced by first-play urgency (D. Wu, arXiv 1902.10565),
    but at least -1:

        value = parent_weight * node_values - first_play_urgency * sqrt(visited_priors)

    ``visited_priors`` is the sum of the priors of the visited actions.

    Args:
        tree, b, node: the search trees, the index of the game, and the index of the node.
        exploration: the constants of the search, `Exploration`.
        in_flight: `alphazero.search.in_flight.InFlight`, whose visits are added to the tree's, or
            None, for which numba compiles a separate variant.
    """
    scale = exploration_scale(tree, b, node, exploration, in_flight)
    urgency = (
        exploration.root_first_play_urgency
        if node == ROOT_INDEX
        else exploration.first_play_urgency
    )
    node_value = exploration.parent_weight * np.float64(tree.node_values[b, node])
    unvisited_value = node_value - urgency * math.sqrt(np.float64(tree.visited_priors[b, node]))
    unvisited_value = max(unvisited_value, -1.0)
    best_action = -1
    best_score = -np.inf
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
        visits = np.float64(tree.children_visits[b, node, action])
        if in_flight is not None:
            visits += np.float64(in_flight.edges[b, node, action])
        score = value + scale * prior / (1.0 + visits)
        if score > best_score:
            best_action = action
            best_score = score
    return best_action


@njit
def exploration_scale(tree, b, node, exploration, in_flight):
    """Return the factor that all exploration terms at a node share, pb_c * sqrt(node_visits).

    The arguments are those of `select_action`.
    """
    visits = np.float64(tree.node_visits[b, node])
    if in_flight is not None:
        visits += np.float64(in_flight.nodes[b, node])
    pb_c = exploration.pb_c_init + math.log(
        (visits + exploration.pb_c_base + 1.0) / exploration.pb_c_base
    )
    return pb_c * math.sqrt(visits)


# --- the root -------------------------------------------------------------------------------------


@njit
def mix_root_priors(tree, rows, noise, fraction, temperature):
    """Apply the root temperature to the priors of evaluated roots and mix noise into them.

        prior = (1 - fraction) * prior ** (1 / temperature) / sum + fraction * noise / sum

    Both sums are over the legal actions. An action that is proven to lose keeps its prior of 0.

    Args:
        tree: the search trees of all games, whose root priors are changed in place.
        rows: int32[M], the indices of the games.
        noise: float32[M, A], Gamma samples; dividing them by their sum makes them Dirichlet noise.
        fraction: fraction of noise in the new priors, in [0, 1].
        temperature: root temperature, above 0; larger values make the priors more equal.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        priors = tree.children_priors[b, ROOT_INDEX]
        children = tree.children_index[b, ROOT_INDEX]
        prior_total = 0.0
        noise_total = 0.0
        for action in range(priors.shape[0]):
            if children[action] != ILLEGAL:
                prior_total += math.pow(np.float64(priors[action]), 1.0 / temperature)
                noise_total += np.float64(noise[i, action])
        visited = 0.0
        for action in range(priors.shape[0]):
            if children[action] != ILLEGAL and prior_total > 0.0:
                prior = math.pow(np.float64(priors[action]), 1.0 / temperature) / prior_total
                if noise_total > 0.0:
                    noise_part = fraction * np.float64(noise[i, action]) / noise_total
                    prior = (1.0 - fraction) * prior + noise_part
                if not is_proven_loss(tree, b, ROOT_INDEX, children[action]):
                    priors[action] = prior
                if children[action] != UNVISITED:
                    visited += prior
        tree.visited_priors[b, ROOT_INDEX] = visited


@njit
def root_policy(tree, rows, out_weights, out_values):
    """Write the visit fractions of each root's actions, and each root's value.

        weight = children_visits / sum of children_visits, over the actions that may be played

    `keeps_result` decides which actions may be played. Without any visits, these all have the same
    weight. The value of a proven root is its result; otherwise it is the mean of the simulations.

    Args:
        tree: the search trees of all games.
        rows: int32[M], the indices of the games whose roots are read.
        out_weights: float32[M, A], output: the visit fractions; each row sums to 1.
        out_values: float32[M], output: the values in [-1, 1], for the player to move.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        proven = tree.proven_values[b, ROOT_INDEX]
        total = 0.0
        num_allowed = 0
        for action in range(out_weights.shape[1]):
            out_weights[i, action] = 0.0
            if keeps_result(tree, b, action, proven):
                out_weights[i, action] = tree.children_visits[b, ROOT_INDEX, action]
                total += np.float64(out_weights[i, action])
                num_allowed += 1
        for action in range(out_weights.shape[1]):
            if total > 0.0:
                out_weights[i, action] = np.float64(out_weights[i, action]) / total
            elif keeps_result(tree, b, action, proven):
                out_weights[i, action] = 1.0 / num_allowed
        out_values[i] = tree.node_values[b, ROOT_INDEX] if proven == UNPROVEN else proven
