"""The Gumbel root: sequential halving over noisy actions, with the improved policy as target.

From the statistics of a root and its plan (`alphazero.search.simulate.RootPlan`), this module
computes the root action of the next simulation, the action to play, and the policy target. Nodes
below the root use PUCT.

Source: I. Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022, sections 2 to
4, and its reference code (google-deepmind/mctx, `seq_halving.py`, `qtransforms.py`). The score of
an action a, in the paper's notation and in the code's names:

    g(a) + logits(a) + sigma(q(a)) = gumbels + logits + scale * completed_value

Three things differ from the reference, because trees are reused and results can be proven:

- Values stay in [-1, 1]. The reference rescales the values of each node to [0, 1], which magnifies
  differences that are only noise.
- The schedule counts only the visits of this search. Visits from earlier searches affect only the
  values.
- An action that is proven to lose is excluded everywhere, and the next best takes its place.
"""

import math

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search.tree import ILLEGAL, ROOT_INDEX, is_proven_loss, keeps_result

MIN_PRIOR = 1e-37  # lower bound of priors before taking logarithms


# --- values of actions ----------------------------------------------------------------------------


@njit
def completion(tree, b, node, exploration):
    """Return the value of a node's unvisited actions, and the scale of all its actions' values.

        completed_value = children_values if the action was visited, else mixed_value
        mixed_value = (raw_value + N * sum(prior * value) / sum(prior)) / (1 + N)
        scale = value_scale * (maxvisit_init + largest number of visits of an action)

    Both sums are over the visited actions, and N is the sum of their visits (appendix D; section 3
    for the scale). Actions proven to lose are excluded. Values are for the player to move at the
    node.

    Args:
        tree, b, node: the search trees, the index of the game, and the index of the node.
        exploration: the constants of the search, `alphazero.search.puct.Exploration`.

    Returns:
        ``(mixed_value, scale)``.
    """
    num_visits = 0.0
    max_visits = 0.0
    mass = 0.0
    total = 0.0
    for action in range(tree.children_index.shape[2]):
        child = tree.children_index[b, node, action]
        if child < 0 or is_proven_loss(tree, b, node, child):
            continue
        visits = np.float64(tree.children_visits[b, node, action])
        prior = max(np.float64(tree.children_priors[b, node, action]), MIN_PRIOR)
        num_visits += visits
        max_visits = max(max_visits, visits)
        mass += prior
        total += prior * np.float64(tree.children_values[b, node, action])
    mixed_value = np.float64(tree.raw_values[b, node])
    if num_visits > 0.0:
        mixed_value = (mixed_value + num_visits * total / mass) / (1.0 + num_visits)
    scale = (exploration.maxvisit_init + max_visits) * exploration.value_scale
    return mixed_value, scale


@njit
def completed_value(tree, b, node, action, mixed_value):
    """Return an action's mean value, or ``mixed_value`` if the action was never visited.

    Both are for the player to move at the node.

    Args:
        tree, b, node: the search trees, the index of the game, and the index of the node.
        action: the action, which must be legal at the node.
        mixed_value: the node's estimate for unvisited actions, from `completion`.
    """
    return (
        np.float64(tree.children_values[b, node, action])
        if tree.children_index[b, node, action] >= 0
        else mixed_value
    )


# --- sequential halving ---------------------------------------------------------------------------


@njit
def plan_roots(tree, rows, budgets, plan, max_num_considered_actions, gumbels):
    """Write the sequential-halving plans of new searches, whose roots must be evaluated already.

    Args:
        tree: the search trees of all B games.
        rows: int32[M], the indices of the games.
        budgets: int32[B], total visits of the root's actions at which each search ends.
        plan: `alphazero.search.simulate.RootPlan`, written in place.
        max_num_considered_actions: maximum number of actions with which sequential halving starts.
        gumbels: float32[M, A], the Gumbel noise; zeros for a search without noise.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        num_kept = 0
        num_open = 0
        for action in range(tree.children_index.shape[2]):
            child = tree.children_index[b, ROOT_INDEX, action]
            plan.gumbels[b, action] = gumbels[i, action]
            prior = np.float64(tree.children_priors[b, ROOT_INDEX, action])
            plan.logits[b, action] = math.log(max(prior, MIN_PRIOR))
            plan.kept_visits[b, action] = tree.children_visits[b, ROOT_INDEX, action]
            num_kept += plan.kept_visits[b, action]
            if child != ILLEGAL and not is_proven_loss(tree, b, ROOT_INDEX, child):
                num_open += 1
        plan.num_considered[b] = min(num_open, max_num_considered_actions)
        plan.num_simulations[b] = max(budgets[b] - num_kept, 0)


@njit
def considered_visits(num_considered, num_simulations, index):
    """Return how many visits an action must have to receive the next simulation.

    Sequential halving divides the simulations equally among ceil(log2(num_considered)) phases. Each
    phase visits the remaining actions in turn, then keeps the better half, but at least two (Z.
    Karnin, T. Koren and O. Somekh, "Almost optimal exploration in multi-armed bandits", 2013).

    Args:
        num_considered: number of actions with which sequential halving starts.
        num_simulations: total number of simulations of the search.
        index: number of simulations made so far.
    """
    if num_considered <= 1:
        return index
    num_phases = 0
    while 1 << num_phases < num_considered:
        num_phases += 1
    visits = 0
    num_left = num_considered
    while True:
        rounds = max(1, num_simulations // (num_phases * num_left))
        if index < rounds * num_left:
            return visits + index // num_left
        index -= rounds * num_left
        visits += rounds
        num_left = max(2, num_left // 2)


@njit
def select_root(tree, b, plan, exploration):
    """Choose the root action with the best score among those that the schedule visits next.

        score = gumbels + logits + scale * completed_value

    The schedule next visits an action with exactly `considered_visits` visits. If proofs leave no
    such action, those with the next smaller number of visits are candidates, then those with the
    next larger one.

    Args:
        tree, b: the search trees and the index of the game.
        plan: `alphazero.search.simulate.RootPlan`, written by `plan_roots`.
        exploration: the constants of the search, `alphazero.search.puct.Exploration`.
    """
    made = 0
    for action in range(plan.kept_visits.shape[1]):
        made += tree.children_visits[b, ROOT_INDEX, action] - plan.kept_visits[b, action]
    wanted = considered_visits(plan.num_considered[b], plan.num_simulations[b], made)
    mixed_value, scale = completion(tree, b, ROOT_INDEX, exploration)
    best_action = -1
    best_rank = 0
    best_score = -np.inf
    for action in range(plan.kept_visits.shape[1]):
        child = tree.children_index[b, ROOT_INDEX, action]
        if child == ILLEGAL or is_proven_loss(tree, b, ROOT_INDEX, child):
            continue
        visits = tree.children_visits[b, ROOT_INDEX, action] - plan.kept_visits[b, action]
        rank = visits if visits <= wanted else -visits
        score = np.float64(plan.gumbels[b, action]) + np.float64(plan.logits[b, action])
        score += scale * completed_value(tree, b, ROOT_INDEX, action, mixed_value)
        if best_action < 0 or rank > best_rank or (rank == best_rank and score > best_score):
            best_action = action
            best_rank = rank
            best_score = score
    return best_action


# --- the finished search --------------------------------------------------------------------------


@njit
def root_policy(tree, rows, plan, exploration, temperatures, out_actions, out_weights):
    """Write the chosen actions and the improved policies of finished searches.

        weights = softmax(logits + scale * completed_value)
        action  = argmax(temperature * gumbels + logits + scale * completed_value)

    The action is chosen among those that this search visited most. At temperature 1 it is the
    paper's choice, a sample from the improved policy of the actions searched; at 0 the noise has no
    effect. Only actions that may be played (`alphazero.search.tree.keeps_result`) are chosen or get
    any weight.

    Args:
        tree: the search trees of all games.
        rows: int32[M], the indices of the games.
        plan: `alphazero.search.simulate.RootPlan` with which the searches were run.
        exploration: the constants of the search, `alphazero.search.puct.Exploration`.
        temperatures: float64[M], factors by which the Gumbel noise is multiplied.
        out_actions: int32[M], output: the chosen actions.
        out_weights: float32[M, A], output: the improved policies; each row sums to 1.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        proven = tree.proven_values[b, ROOT_INDEX]
        mixed_value, scale = completion(tree, b, ROOT_INDEX, exploration)
        out_actions[i] = 0
        max_visits = -1
        best_score = -np.inf
        largest = -np.inf
        for action in range(out_weights.shape[1]):
            out_weights[i, action] = 0.0
            if not keeps_result(tree, b, action, proven):
                continue
            value = completed_value(tree, b, ROOT_INDEX, action, mixed_value)
            logit = np.float64(plan.logits[b, action]) + scale * value
            score = logit + temperatures[i] * np.float64(plan.gumbels[b, action])
            visits = tree.children_visits[b, ROOT_INDEX, action] - plan.kept_visits[b, action]
            if visits > max_visits or (visits == max_visits and score > best_score):
                out_actions[i] = action
                max_visits = visits
                best_score = score
            largest = max(largest, logit)
        total = 0.0
        for action in range(out_weights.shape[1]):
            if keeps_result(tree, b, action, proven):
                value = completed_value(tree, b, ROOT_INDEX, action, mixed_value)
                logit = np.float64(plan.logits[b, action]) + scale * value
                out_weights[i, action] = math.exp(logit - largest)
                total += np.float64(out_weights[i, action])
        for action in range(out_weights.shape[1]):
            if out_weights[i, action] > 0.0:
                out_weights[i, action] = np.float64(out_weights[i, action]) / total
