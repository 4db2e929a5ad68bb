"""Sample moves in proportion to the visit counts of a search, sharpened by a temperature.

In: visit counts or other weights, and temperatures, of several games. Out: actions. An action's
probability is proportional to its visits ** (1 / temperature) (Silver et al. 2017, "Self-play").
`ply_temperatures` in `alphazero.selfplay.settings` returns the temperature of each ply.
"""

import numpy as np


def sample_actions(
    weights: np.ndarray, temperatures: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Sample an action in each row with probability proportional to weight ** (1 / temperature).

    Args:
        weights: float32[M, A], 0 or more, with a positive sum in each row.
        temperatures: float[M]; 0 takes the action with the largest weight.

    Returns:
        int32[M], the actions.
    """
    weights = weights.astype(np.float64)
    weights /= weights.max(axis=1, keepdims=True)
    sharpened = weights ** (1.0 / np.maximum(temperatures, 1e-3))[:, None]
    cumulative = np.cumsum(sharpened, axis=1)
    thresholds = generator.random(len(weights))[:, None] * cumulative[:, -1:]
    # Rounding can put a threshold at the very end, beyond the last action.
    sampled = np.minimum((cumulative <= thresholds).sum(axis=1), weights.shape[1] - 1)
    return np.where(temperatures > 0, sampled, weights.argmax(axis=1)).astype(np.int32)
