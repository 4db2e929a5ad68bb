"""Compare an engine's outputs with the reference engine's on a sample of positions.

Both have the same weights, and the result is the mean difference of their outputs. The sample also
calibrates engines that quantize.
"""

from typing import NamedTuple

import numpy as np

from alphazero.runtime.random_generators import uniform_actions


class PositionSample(NamedTuple):
    """Unfinished positions to compare engines on and to calibrate them with."""

    planes: np.ndarray  #: float32[M, C, H, W]
    legal_action_mask: np.ndarray  #: bool[M, A]


class Deviation(NamedTuple):
    """The mean differences between an engine and the reference over a sample of positions."""

    policy_kl: float  #: KL(reference policy || engine's policy) over the legal actions, in nats
    value_error: float  #: mean absolute difference of the values

    def within(self, limits: "Deviation") -> bool:
        """Return whether both differences are within their limits; False if one is NaN."""
        return self.policy_kl <= limits.policy_kl and self.value_error <= limits.value_error


def deviation(expected, answers, sample: PositionSample) -> Deviation:
    """Measure how far an engine's outputs deviate from the reference's.

    Args:
        expected, answers: the reference's and the engine's (prior logits, values) for ``sample``,
            with the same weights, see `alphazero.inference.evaluator.Evaluator.evaluate`.
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
    """Sample unfinished positions from random games, for use before any game has been played.

    Args:
        num_positions: M, number of positions to return.
        num_games: games played in parallel. None means ``num_positions // 8``, so that the
            positions come from about the first eight plies.
    """
    starts = game.initial_states(num_games or max(num_positions // 8, 1))
    states = starts
    batches = []
    while len(batches) * len(states) < num_positions:
        batches.append(states)
        actions = uniform_actions(game.legal_action_mask(states), generator)
        after = game.step(states, actions)
        states = np.where(after.over[:, None], starts, after.states)
    states = np.concatenate(batches)[:num_positions]
    return PositionSample(game.observe(states), game.legal_action_mask(states))


def _log_softmax(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return the log-probabilities of the legal actions, and 0 for illegal ones."""
    logits = np.where(mask, logits.astype(np.float64), -np.inf)
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return np.where(mask, shifted - log_sum, 0.0)
