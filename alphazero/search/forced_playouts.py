"""Forced playouts at the root, and their removal from the policy target.

Forced visits make the search explore moves that the noise in the root's priors favours. Removing
those visits from the root's visit fractions keeps this exploration out of the training targets.

Source: D. Wu, "Accelerating self-play learning in Go", arXiv 1902.10565, section 3.2 (KataGo).
"""

import math

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search.puct import exploration_scale, select_action
from alphazero.search.tree import ROOT_INDEX, UNPROVEN


@njit
def select_forced(tree, b, exploration):
    """Choose the first visited root action with too few visits, or else the one that PUCT chooses.

    An action has too few visits if it has fewer than `forced_visits` requires.

    Args:
        tree, b: the search trees and the index of the game.
        exploration: the constants of the search, `alphazero.search.puct.Exploration`.
    """
    for action in range(tree.children_index.shape[2]):
        if tree.children_index[b, ROOT_INDEX, action] < 0:
            continue
        visits = tree.children_visits[b, ROOT_INDEX, action]
        if visits < forced_visits(tree, b, action, exploration):
            return action
    return select_action(tree, b, ROOT_INDEX, exploration, None)


@njit
def forced_visits(tree, b, action, exploration):
    """Return the number of visits, a float, that forced playouts require of a visited root action.

        forced_visits = sqrt(forced_playouts_k * prior * visits of all root actions)

    An action that is proven to lose has a prior of 0 and so needs no visits.

    Args:
        tree, b: the search trees and the index of the game.
        action: the root action.
        exploration: the constants of the search, `alphazero.search.puct.Exploration`.
    """
    prior = np.float64(tree.children_priors[b, ROOT_INDEX, action])
    all_visits = np.float64(tree.node_visits[b, ROOT_INDEX]) - 1.0
    return math.sqrt(exploration.forced_playouts_k * prior * all_visits)


@njit
def prune_forced(tree, rows, exploration, out_weights):
    """Remove the forced visits that PUCT would not have made from the root's visit fractions.

    The most visited action keeps all its visits. Every other action loses up to `forced_visits`
    visits, one by one, as long as its PUCT score with one visit fewer (and the same value) stays
    below the score of the most visited action. An action reduced to a single visit loses that too.
    The visit fractions of proven roots are left unchanged.

    Args:
        tree: the search trees of all games.
        rows: int32[M], the indices of the games whose fractions are changed.
        exploration: the constants of the search, `alphazero.search.puct.Exploration`.
        out_weights: float32[M, A], from `alphazero.search.puct.root_policy`; changed in place, so
            that each row sums to 1 again.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        visits = tree.children_visits[b, ROOT_INDEX]
        values = tree.children_values[b, ROOT_INDEX]
        priors = tree.children_priors[b, ROOT_INDEX]
        best = 0
        for action in range(out_weights.shape[1]):
            if out_weights[i, action] > out_weights[i, best]:
                best = action
        if visits[best] == 0 or tree.proven_values[b, ROOT_INDEX] != UNPROVEN:
            continue
        scale = exploration_scale(tree, b, ROOT_INDEX, exploration, None)
        best_visits = np.float64(visits[best])
        best_bonus = scale * np.float64(priors[best]) / (1.0 + best_visits)
        best_score = np.float64(values[best]) + best_bonus
        total = 0.0
        for action in range(out_weights.shape[1]):
            if out_weights[i, action] == 0.0:
                continue
            value = np.float64(values[action])
            bonus = scale * np.float64(priors[action])
            spare = forced_visits(tree, b, action, exploration)
            left = np.int64(visits[action])
            # With one visit less, the score's denominator is 1 + (left - 1).
            while left > 0 and spare >= 1.0 and value + bonus / np.float64(left) < best_score:
                left -= 1
                spare -= 1.0
            if left == 1 and visits[action] > 1:
                left = np.int64(0)
            out_weights[i, action] = left
            total += left
        for action in range(out_weights.shape[1]):
            out_weights[i, action] = np.float64(out_weights[i, action]) / total
