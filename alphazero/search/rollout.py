"""Play a position to its end: uniformly at random, or with moves that an evaluation finds good drawn more often.

In: a game's compiled rules and a position. Out: the points of the player who moves first in the game (see `alphazero.search.uct_tree`). The
evaluation is the game's own (`rules.action_scores`) with weights that `scripts/tune_rollouts.py` can tune; this file does not know its features.
"""

import math

import numpy as np

from alphazero.games import rules
from alphazero.games.game import CompiledGame
from alphazero.jit import njit
from alphazero.rng import random_unit

#: A move is never less likely than the best one by more than a factor of exp(30), 1e13: so its probability stays above zero.
LARGEST_GAP = 30.0


@njit
def rollout(game, state, weighted, weights, mask, probabilities, rng):
    """Play ``state`` to its end, in place, and return the points of the player who moves first in the game: 2, 1 or 0.

    Args:
        weighted: draw moves by `write_probabilities` with ``weights`` (float64[F]), otherwise uniformly.
        mask, probabilities: bool[A], float64[A], scratch space.
    """
    if weighted:
        while not rules.is_over(game, state):
            write_probabilities(game, state, weights, mask, probabilities)
            rules.step(game, state, draw(probabilities, rng))
    else:
        while not rules.is_over(game, state):
            rules.step(game, state, rules.random_action(game, state, rng, mask))
    result = rules.result(game, state)
    return 1 + result if rules.player_to_move(game, state) == 0 else 1 - result


@njit
def write_probabilities(game, state, weights, mask, probabilities):
    """Write the softmax of the evaluation of the legal moves into ``probabilities`` (float64[A]); illegal ones get 0, all others more."""
    rules.legal_actions(game, state, mask)
    rules.action_scores(game, state, weights, probabilities)
    largest = -np.inf
    for action in range(mask.shape[0]):
        if mask[action] and probabilities[action] > largest:
            largest = probabilities[action]
    total = 0.0
    for action in range(mask.shape[0]):
        if mask[action]:
            probabilities[action] = math.exp(max(probabilities[action] - largest, -LARGEST_GAP))
            total += probabilities[action]
        else:
            probabilities[action] = 0.0
    for action in range(mask.shape[0]):
        probabilities[action] /= total


@njit
def draw(probabilities, rng):
    """Return an action with the given probabilities (float64[A]); never one whose probability is 0."""
    remaining = random_unit(rng)
    last = 0
    for action in range(probabilities.shape[0]):
        if probabilities[action] > 0.0:
            last = action
            remaining -= probabilities[action]
            if remaining < 0.0:
                break
    return last


def rollout_probabilities(game: CompiledGame, state: np.ndarray, weights=None) -> np.ndarray:
    """Return the probabilities that a weighted rollout gives to the moves of an unfinished position.

    Args:
        state: [K].
        weights: those of the evaluation, float64[F]; without them the game's own.

    Returns:
        float64[A]: above 0 for every legal action, 0 for the others, 1 in sum.

    Raises:
        ValueError: for weights that do not fit, see `check_weights`, or a finished game.
    """
    if game.over(state[None])[0]:
        raise ValueError("the game is over: there is no move to draw.")
    probabilities = np.zeros(game.num_actions)
    write_probabilities(game.rules, state, check_weights(game, weights), np.zeros(game.num_actions, np.bool_), probabilities)
    return probabilities


def check_weights(game: CompiledGame, weights=None) -> np.ndarray:
    """Return the weights of a game's evaluation, float64[F]: ``weights``, or the game's own where it is None.

    Raises:
        ValueError: with one plain sentence if the game has no evaluation, or for a wrong number of weights, or for one that is not finite.
    """
    own, names = rules.rollout_weights(game.rules), ", ".join(rules.feature_names(game.rules))
    if len(own) == 0:
        raise ValueError(f"{game.name} has no evaluation of moves for weighted rollouts: take random ones.")
    if weights is None:
        return own
    weights = np.asarray(weights, np.float64)
    if weights.shape != own.shape:
        raise ValueError(f"{weights.size} rollout weights do not fit: {game.name} takes {len(own)} ({names}).")
    if not np.isfinite(weights).all():
        raise ValueError(f"the rollout weights must be finite numbers ({names}).")
    return weights
