"""Play a position to its end: uniformly at random, or with moves that an evaluation finds good drawn more often.

In: a game's compiled rules and a position. Out: the points of the player who moves first in the game (see `alphazero.search.uct.tree`). The
evaluation is the game's own (`rules.action_scores`) with weights that `scripts/tune_rollouts.py` can tune; this file does not know its features.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.batched_game import CompiledGame
from alphazero.runtime.jit import njit
from alphazero.runtime.random_generators import random_unit

#: A move is never less likely than the best one by more than a factor of exp(30), 1e13: so its probability stays above zero.
LARGEST_GAP = 30.0


class RolloutScratch(NamedTuple):
    """Memory that a rollout writes over."""

    mask: np.ndarray  #: bool[A]
    scores: np.ndarray  #: float64[A]
    legal: np.ndarray  #: int32[A]
    chances: np.ndarray  #: float64[A]


def make_rollout_scratch(num_actions: int) -> RolloutScratch:
    """Return the scratch memory of a game's rollouts."""
    return RolloutScratch(
        np.zeros(num_actions, np.bool_),
        np.zeros(num_actions),
        np.zeros(num_actions, np.int32),
        np.zeros(num_actions),
    )


@njit
def rollout(game, state, weighted, weights, scratch, rng):
    """Play ``state`` to its end, in place, and return the points of the player who moves first in the game: 2, 1 or 0.

    Args:
        weighted: draw moves by `weigh_moves` with ``weights`` (float64[F]), otherwise uniformly.
    """
    if weighted:
        while not rules.is_over(game, state):
            num_legal, total = weigh_moves(game, state, weights, scratch)
            rules.step(game, state, scratch.legal[draw(scratch.chances, num_legal, total, rng)])
    else:
        while not rules.is_over(game, state):
            rules.step(game, state, rules.random_action(game, state, rng, scratch.mask))
    result = rules.result(game, state)
    return 1 + result if rules.player_to_move(game, state) == 0 else 1 - result


@njit
def weigh_moves(game, state, weights, scratch):
    """List the legal moves in ``scratch.legal`` and the exponentials of their evaluations in ``scratch.chances``.

    Divided by their sum, the chances are the softmax of the evaluation.

    Returns:
        The number of legal moves, and the sum of their chances.
    """
    mask, scores, legal, chances = scratch.mask, scratch.scores, scratch.legal, scratch.chances
    rules.legal_actions(game, state, mask)
    rules.action_scores(game, state, weights, scores)
    # The list makes what follows a loop over some 8 moves of Othello in place of 65: twice as many rollouts/s.
    num_legal = 0
    for action in range(mask.shape[0]):
        if mask[action]:
            legal[num_legal] = action
            num_legal += 1
    largest = -np.inf
    for i in range(num_legal):
        largest = max(largest, scores[legal[i]])
    total = 0.0
    for i in range(num_legal):
        chances[i] = math.exp(max(scores[legal[i]] - largest, -LARGEST_GAP))
        total += chances[i]
    return num_legal, total


@njit
def draw(chances, num, total, rng):
    """Return an index below ``num``, each with the probability ``chances[index] / total``."""
    remaining = random_unit(rng) * total
    for index in range(num - 1):
        remaining -= chances[index]
        if remaining < 0.0:
            return index
    return num - 1


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
    scratch = make_rollout_scratch(game.num_actions)
    num_legal, total = weigh_moves(game.rules, state, check_weights(game, weights), scratch)
    probabilities = np.zeros(game.num_actions)
    probabilities[scratch.legal[:num_legal]] = scratch.chances[:num_legal] / total
    return probabilities


def check_weights(game: CompiledGame, weights=None) -> np.ndarray:
    """Return the weights of a game's evaluation, float64[F]: ``weights``, or the game's own where it is None.

    Raises:
        ValueError: with one plain sentence if the game has no evaluation, or for a wrong number of weights, or for one that is not finite.
    """
    own, names = rules.rollout_weights(game.rules), ", ".join(rules.feature_names(game.rules))
    if len(own) == 0:
        raise ValueError(
            f"{game.name} has no evaluation of moves for weighted rollouts: take random ones."
        )
    if weights is None:
        return own
    weights = np.asarray(weights, np.float64)
    if weights.shape != own.shape:
        raise ValueError(
            f"{weights.size} rollout weights do not fit: {game.name} takes {len(own)} ({names})."
        )
    if not np.isfinite(weights).all():
        raise ValueError(f"the rollout weights must be finite numbers ({names}).")
    return weights
