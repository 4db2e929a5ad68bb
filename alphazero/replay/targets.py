"""Select the plies of a finished game that become training samples."""

import numpy as np

from alphazero.selfplay.game_record import GameRecord


def sample_plies(record: GameRecord, surprise_fraction: float) -> np.ndarray:
    """Return the plies that become training samples, in order: int64[number of samples].

    Without surprise weighting, each ply with a search appears once. With it, the weight of a
    ply is

        1 - surprise_fraction + surprise_fraction * its surprise / the game's mean surprise

    and a ply may appear several times or never: KataGo's policy surprise weighting ("Other methods
    implemented in KataGo since the paper"). Fractional weights are carried over along the game
    instead of rounded at random, so a stored game always gives the same samples.

    Args:
        surprise_fraction: fraction of the samples that are assigned by surprise, in [0, 1].
    """
    plies = np.flatnonzero(record.is_target)
    if surprise_fraction == 0.0 or record.surprises is None or len(plies) == 0:
        return plies
    surprises = record.surprises[plies]
    mean = surprises.sum(dtype=np.float64) / len(plies)
    if not mean > 0.0:
        return plies
    weights = 1.0 - surprise_fraction + surprise_fraction * surprises / mean
    ends = np.floor(np.cumsum(weights) + 0.5).astype(np.int64)
    return np.repeat(plies, np.diff(ends, prepend=0))
