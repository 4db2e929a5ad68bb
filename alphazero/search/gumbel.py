"""The Gumbel root: sequential halving over noisy actions, and the improved policy as the target.

In: the statistics of a root and its plan (`alphazero.search.simulate.RootPlan`). Out: the action
that the next simulation visits, the action to play, and the policy target. Nodes below the root use
PUCT.

Source: I. Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022, sections 2 to
4, and its reference code (google-deepmind/mctx, `seq_halving.py`, `qtransforms.py`). The score of
an action a, in the paper's letters and in the code's names:

    g(a) + logits(a) + sigma(q(a)) = gumbels + logits + scale * completed_value

Three things differ from the reference, because trees are reused and results can be proven:

- Values are used as they are, in [-1, 1]. The reference rescales those of a node to [0, 1], which
  magnifies differences that are noise.
- The schedule counts the visits of this search alone. Visits from earlier searches count through
  the values.
- An action that is proven to lose is left out everywhere, and the next best takes its place.
"""

import math

import numpy as np

from alphazero.runtime.jit import njit
from alphazero.search.tree import ILLEGAL, ROOT_INDEX, is_proven_loss, keeps_result

LEAST_PRIOR = 1e-37  # replaces a prior of 0 in logarithms


# --- values of actions ----------------------------------------------------------------------------


@njit
def completion(tree, b, node, exploration):
    """Return (mixed_value, scale), the constants of the completed Q-values of a node.

        completed_value = children_values of a visited action, mixed_value of an unvisited one
        mixed_value = (raw_value + N * sum(prior * value) / sum(prior)) / (1 + N)
        scale = value_scale * (maxvisit_init + largest number of visits of an action)

    Both sums are over the visited actions, and N is the sum of their visits (appendix D; section 3
    for the scale). Actions that are proven to lose are left out.
    """
    num_visits, most_visits, mass, total = 0.0, 0.0, 0.0, 0.0
    for action in range(tree.children_index.shape[2]):
        child = tree.children_index[b, node, action]
        if child < 0 or is_proven_loss(tree, b, node, child):
            continue
        visits = np.float64(tree.children_visits[b, node, action])
        prior = max(np.float64(tree.children_priors[b, node, action]), LEAST_PRIOR)
        num_visits += visits
        most_visits = max(most_visits, visits)
        mass += prior
        total += prior * np.float64(tree.children_values[b, node, action])
    mixed_value = np.float64(tree.raw_values[b, node])
    if num_visits > 0.0:
        mixed_value = (mixed_value + num_visits * total / mass) / (1.0 + num_visits)
    return mixed_value, (exploration.maxvisit_init + most_visits) * exploration.value_scale


@njit
def completed_value(tree, b, node, action, mixed_value):
    """Return the value of an action, ``mixed_value`` if it was never visited."""
    return (
        np.float64(tree.children_values[b, node, action])
        if tree.children_index[b, node, action] >= 0
        else mixed_value
    )


# --- sequential halving ---------------------------------------------------------------------------


@njit
def plan_roots(tree, rows, budgets, plan, max_num_considered_actions, gumbels):
    """Write the plans of searches that start now. Their roots must be evaluated.

    Args:
        rows: int32[M], the games.
        budgets: int32[B], as in `alphazero.search.simulate.simulate`.
        plan: `alphazero.search.simulate.RootPlan`.
        gumbels: float32[M, A], the noise.
    """
    for i in range(rows.shape[0]):
        b = rows[i]
        num_kept, num_open = 0, 0
        for action in range(tree.children_index.shape[2]):
            child = tree.children_index[b, ROOT_INDEX, action]
            plan.gumbels[b, action] = gumbels[i, action]
            plan.logits[b, action] = math.log(
                max(np.float64(tree.children_priors[b, ROOT_INDEX, action]), LEAST_PRIOR)
            )
            plan.kept_visits[b, action] = tree.children_visits[b, ROOT_INDEX, action]
            num_kept += plan.kept_visits[b, action]
            if child != ILLEGAL and not is_proven_loss(tree, b, ROOT_INDEX, child):
                num_open += 1
        plan.num_considered[b] = min(num_open, max_num_considered_actions)
        plan.num_simulations[b] = max(budgets[b] - num_kept, 0)


@njit
def considered_visits(num_considered, num_simulations, index):
    """Return how many visits an action must have to receive simulation number ``index``.

    Sequential halving has ceil(log2(num_considered)) phases with equal numbers of simulations. In
    each phase the remaining actions are visited in turn; then the better half remains, but at least
    two (Z. Karnin, T. Koren and O. Somekh, "Almost optimal exploration in multi-armed bandits",
    2013).
    """
    if num_considered <= 1:
        return index
    num_phases = 0
    while 1 << num_phases < num_considered:
        num_phases += 1
    visits, left = 0, num_considered
    while True:
        rounds = max(1, num_simulations // (num_phases * left))
        if index < rounds * left:
            return visits + index // left
        index -= rounds * left
        visits += rounds
        left = max(2, left // 2)


@njit
def select_root(tree, b, plan, exploration):
    """Return the best action among those with the number of visits that the schedule asks for.

        score = gumbels + logits + scale * completed_value

    If proofs have left no action with that many visits, those with the next smaller number count,
    then those with the next larger one.
    """
    made = 0
    for action in range(plan.kept_visits.shape[1]):
        made += tree.children_visits[b, ROOT_INDEX, action] - plan.kept_visits[b, action]
    wanted = considered_visits(plan.num_considered[b], plan.num_simulations[b], made)
    mixed_value, scale = completion(tree, b, ROOT_INDEX, exploration)
    best_action, best_rank, best_score = -1, 0, -np.inf
    for action in range(plan.kept_visits.shape[1]):
        child = tree.children_index[b, ROOT_INDEX, action]
        if child == ILLEGAL or is_proven_loss(tree, b, ROOT_INDEX, child):
            continue
        visits = tree.children_visits[b, ROOT_INDEX, action] - plan.kept_visits[b, action]
        rank = visits if visits <= wanted else -visits
        score = np.float64(plan.gumbels[b, action]) + np.float64(plan.logits[b, action])
        score += scale * completed_value(tree, b, ROOT_INDEX, action, mixed_value)
        if best_action < 0 or rank > best_rank or (rank == best_rank and score > best_score):
            best_action, best_rank, best_score = action, rank, score
    return best_action


# --- the finished search --------------------------------------------------------------------------


@njit
def root_policy(tree, rows, plan, exploration, temperatures, out_actions, out_weights):
    """Write the chosen actions and the improved policies of finished searches.

        weights = softmax(logits + scale * completed_value)
        action  = argmax(temperature * gumbels + logits + scale * completed_value)

    The action is one of those that this search visited most. At temperature 1 it is the paper's
    choice, a sample from the improved policy as far as that was searched; at 0 the noise has no
    influence. Only actions that may be played (`alphazero.search.tree.keeps_result`) are chosen or
    have weight.

    Args:
        rows: int32[M], the games.
        temperatures: float64[M].
        out_actions: int32[M].
        out_weights: float32[M, A], each row sums to 1.
    """
    for i in range(rows.shape[0]):
        b, proven = rows[i], tree.proven_values[rows[i], ROOT_INDEX]
        mixed_value, scale = completion(tree, b, ROOT_INDEX, exploration)
        out_actions[i] = 0
        most_visits, best_score, largest = -1, -np.inf, -np.inf
        for action in range(out_weights.shape[1]):
            out_weights[i, action] = 0.0
            if not keeps_result(tree, b, action, proven):
                continue
            logit = np.float64(plan.logits[b, action]) + scale * completed_value(
                tree, b, ROOT_INDEX, action, mixed_value
            )
            score = logit + temperatures[i] * np.float64(plan.gumbels[b, action])
            visits = tree.children_visits[b, ROOT_INDEX, action] - plan.kept_visits[b, action]
            if visits > most_visits or (visits == most_visits and score > best_score):
                out_actions[i], most_visits, best_score = action, visits, score
            largest = max(largest, logit)
        total = 0.0
        for action in range(out_weights.shape[1]):
            if keeps_result(tree, b, action, proven):
                logit = np.float64(plan.logits[b, action]) + scale * completed_value(
                    tree, b, ROOT_INDEX, action, mixed_value
                )
                out_weights[i, action] = math.exp(logit - largest)
                total += np.float64(out_weights[i, action])
        for action in range(out_weights.shape[1]):
            if out_weights[i, action] > 0.0:
                out_weights[i, action] = np.float64(out_weights[i, action]) / total
