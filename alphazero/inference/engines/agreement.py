"""How far an engine's answers are from the reference's."""

from typing import NamedTuple

import numpy as np


class PositionSample(NamedTuple):
    """Positions to compare engines on, and to calibrate them with."""

    planes: np.ndarray  #: float32[M, C, H, W]
    legal_action_mask: np.ndarray  #: bool[M, A]


class Agreement(NamedTuple):
    """Means over the positions of a sample."""

    policy_divergence: float  #: Kullback-Leibler divergence of the engine's policy from the reference's over the legal actions, nats
    value_error: float  #: mean |difference of the values|


def agreement(reference, engine, sample: PositionSample) -> Agreement:
    """Compare two engines that hold the same weights."""
    logits, values = reference.evaluate(sample.planes)
    other_logits, other_values = engine.evaluate(sample.planes)
    log_policy, other_log_policy = (
        _log_softmax(rows, sample.legal_action_mask) for rows in (logits, other_logits)
    )
    divergence = (np.exp(log_policy) * (log_policy - other_log_policy)).sum(
        axis=1, where=sample.legal_action_mask
    )
    return Agreement(float(divergence.mean()), float(np.abs(values - other_values).mean()))


def sample_positions(game, num_positions: int, generator: np.random.Generator) -> PositionSample:
    """Return positions of random games, a few plies of each: for a network that has played none yet."""
    states, found = game.initial_states(max(num_positions // 8, 1)), []
    while sum(len(part) for part in found) < num_positions:
        found.append(states)
        mask = game.legal_action_mask(states)
        after = game.step(states, np.where(mask, generator.random(mask.shape), -1.0).argmax(axis=1))
        states = np.where(after.over[:, None], game.initial_states(len(states)), after.states)
    states = np.concatenate(found)[:num_positions]
    return PositionSample(game.observe(states), game.legal_action_mask(states))


def _log_softmax(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    logits = np.where(mask, logits.astype(np.float64), -np.inf)
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.where(mask, shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), 0.0)
