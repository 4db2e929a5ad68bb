"""Measures how far an engine's outputs are from the reference engine's on a sample of positions.

Both engines have the same weights; the result is the mean difference between their outputs. The
same sample calibrates engines that quantize.
"""

from typing import NamedTuple

import numpy as np

from alphazero.runtime.random_generators import uniform_actions


class PositionSample(NamedTuple):
    """M unfinished positions, on which engines are calibrated and compared."""

    planes: np.ndarray  #: float32[M, C, H, W], the network's input
    legal_action_mask: np.ndarray  #: bool[M, A], True for legal actions


class Deviation(NamedTuple):
    """The mean differences between an engine and the reference over a sample of positions."""

    policy_kl: float  #: KL(reference policy || engine's policy) over the legal actions, in nats
    value_error: float  #: mean absolute difference of the values

    def within(self, limits: "Deviation") -> bool:
        """Return whether both differences are at most their ``limits``; False if either is NaN."""
        return self.policy_kl <= limits.policy_kl and self.value_error <= limits.value_error


def deviation(expected, answers, sample: PositionSample) -> Deviation:
    """Measure how far an engine's outputs deviate from the reference engine's.

    Args:
        expected: the reference's outputs for ``sample``: policy logits and values, as returned by
            `Evaluator.evaluate`.
        answers: the outputs of the engine being compared, with the same weights.
        sample: the positions; only legal actions are compared.

    Returns:
        The mean KL divergence of the policies, in nats, and the mean absolute difference of the
        values. A mean is NaN if the outputs compared contain NaN.
    """
    mask = sample.legal_action_mask
    reference_logits, reference_values = expected
    logits, values = answers
    log_p = _log_softmax(reference_logits, mask)
    with np.errstate(invalid="ignore"):  # NaN in the outputs makes the differences NaN
        log_q = _log_softmax(logits, mask)
        terms = np.exp(log_p) * (log_p - log_q)
        policy_kl = terms.sum(axis=1, where=mask).mean()
    value_error = np.abs(reference_values - values).mean()
    return Deviation(float(policy_kl), float(value_error))


def sample_positions(
    game, num_positions: int, generator: np.random.Generator, num_games: int | None = None
) -> PositionSample:
    """Sample unfinished positions from games of random moves, for use before self-play begins.

    Args:
        game: the rules of the game, an `alphazero.games.batched_game.Game`.
        num_positions: M, number of positions to return.
        generator: random generator for the moves.
        num_games: number of games played in parallel; None means ``num_positions // 8``, so that
            the positions come from about the first eight plies.
    """
    states = random_positions(game, num_positions, generator, num_games)
    return PositionSample(game.observe(states), game.legal_action_mask(states))


def random_positions(
    game, num_positions: int, generator: np.random.Generator, num_games: int | None = None
) -> np.ndarray:
    """Return unfinished positions of random games, [M, K]; arguments as in `sample_positions`."""
    starts = game.initial_states(num_games or max(num_positions // 8, 1))
    states = starts
    batches = []
    while len(batches) * len(states) < num_positions:
        batches.append(states)
        actions = uniform_actions(game.legal_action_mask(states), generator)
        after = game.step(states, actions)
        states = np.where(after.over[:, None], starts, after.states)
    return np.concatenate(batches)[:num_positions]


def _log_softmax(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return the log probabilities of the legal actions, float64[M, A], with 0 for illegal ones."""
    logits = np.where(mask, logits.astype(np.float64), -np.inf)
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return np.where(mask, shifted - log_sum, 0.0)
