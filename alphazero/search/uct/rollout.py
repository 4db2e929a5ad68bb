"""Rollouts: play a position to its end, with uniformly random moves or with a softmax policy.

The result is counted in points for the player who moves first in the game: 2 for a win, 1 for a
draw, 0 for a loss. The softmax policy is over the game's own evaluation of its moves
(`rules.action_scores`), a weighted sum of features that each game defines.
`scripts/tune_rollouts.py` tunes the weights.
"""

import math
from typing import NamedTuple

import numpy as np

from alphazero.games import rules
from alphazero.games.batched_game import CompiledGame
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.jit import njit
from alphazero.runtime.random_generators import random_unit

#: Evaluations are clipped to at most this far below the best one. The likeliest move is then at
#: most exp(30), about 1e13, times as likely as any other, and no legal move has probability 0.
MAX_GAP = 30.0


class RolloutScratch(NamedTuple):
    """Scratch memory that lets a rollout run without allocating."""

    mask: np.ndarray  #: bool[A], True for legal actions
    scores: np.ndarray  #: float64[A], the game's evaluation of each action
    legal: np.ndarray  #: int32[A], the legal actions, listed from the start
    chances: np.ndarray  #: float64[A], unnormalized probability of each action in ``legal``


class RolloutPolicy(NamedTuple):
    """The policy by which rollouts choose moves.

    It is uniformly random, or the softmax of the game's own evaluation of its moves.
    """

    weighted: bool  #: True: by the softmax of the game's evaluation; False: uniformly at random
    weights: np.ndarray  #: float64[F], the weights of the evaluation's features
    scratch: RolloutScratch  #: memory that is overwritten with each move


def make_rollout_scratch(num_actions: int) -> RolloutScratch:
    """Allocate the scratch memory for rollouts of a game with ``num_actions`` actions."""
    return RolloutScratch(
        mask=np.zeros(num_actions, np.bool_),
        scores=np.zeros(num_actions),
        legal=np.zeros(num_actions, np.int32),
        chances=np.zeros(num_actions),
    )


@njit
def rollout(game, state, policy, rng):
    """Play from ``state`` to the end of the game, and return the first player's points.

    Args:
        game: the game's compiled rules.
        state: [K], the position to start from, as a state of K words; overwritten by the final one.
        policy: a `RolloutPolicy`, which chooses the moves.
        rng: uint64[1], the random state, which is advanced in place.

    Returns:
        2 if the player who moves first in the game wins, 1 for a draw, 0 for a loss, and
        intermediate values for other results.
    """
    scratch = policy.scratch
    if policy.weighted:
        while not rules.is_over(game, state):
            num_legal, total = weigh_moves(game, state, policy.weights, scratch)
            index = sample_index(scratch.chances, num_legal, total, rng)
            rules.step(game, state, scratch.legal[index])
    else:
        while not rules.is_over(game, state):
            action = rules.random_action(game, state, rng, scratch.mask)
            rules.step(game, state, action)
    result = rules.scaled_result(game, state)
    return 1 + result if rules.player_to_move(game, state) == 0 else 1 - result


@njit
def weigh_moves(game, state, weights, scratch):
    """List the legal moves in ``scratch.legal`` and their softmax weights in ``scratch.chances``.

    A move's weight is exp(its evaluation - the best evaluation), at least exp(-`MAX_GAP`). Under
    the softmax policy, the probability of ``legal[i]`` is ``chances[i] / total``.

    Args:
        state: the position, as a state of K words.
        weights: float64[F], the weights of the evaluation's features.
        scratch: the `RolloutScratch` to write to.

    Returns:
        The number of legal moves, and the total of their weights.
    """
    mask = scratch.mask
    scores = scratch.scores
    legal = scratch.legal
    chances = scratch.chances
    rules.legal_actions(game, state, mask)
    rules.action_scores(game, state, weights, scores)
    # With this list, the loops below run over about 8 legal moves in Othello instead of 65 actions,
    # which doubles the number of rollouts/s.
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
        chances[i] = math.exp(max(scores[legal[i]] - largest, -MAX_GAP))
        total += chances[i]
    return num_legal, total


@njit
def sample_index(chances, num, total, rng):
    """Sample an index below ``num`` with probability ``chances[index] / total``.

    Args:
        chances: float64[A], of which the first ``num`` entries are used.
        num: number of entries to choose from.
        total: the sum of these entries.
        rng: uint64[1], the random state, which is advanced in place.
    """
    remaining = random_unit(rng) * total
    for index in range(num - 1):
        remaining -= chances[index]
        if remaining < 0.0:
            return index
    return num - 1


def check_weights(game: CompiledGame, weights=None) -> np.ndarray:
    """Check the weights of a game's move evaluation and return them, or the default, as float64[F].

    Args:
        weights: one number per feature of the game's evaluation; None means the game's default
            weights.

    Raises:
        ConfigError: if the game has no evaluation of moves, the number of weights is wrong, or a
            weight is not finite.
    """
    own = rules.rollout_weights(game.rules)
    names = ", ".join(rules.feature_names(game.rules))
    if len(own) == 0:
        raise ConfigError.of("rollout", "weighted", ("random",), f"{game.name} has no evaluation")
    if weights is None:
        return own
    weights = np.asarray(weights, np.float64)
    allowed = f"{len(own)} finite numbers ({names})"
    if weights.shape != own.shape or not np.isfinite(weights).all():
        message = f"rollout_weights={weights.tolist()} is not allowed: {game.name} takes {allowed}."
        raise ConfigError(message, key="rollout_weights", value=weights, allowed=allowed)
    return weights
