"""What a finished game teaches: which of its plies are trained on, and the target of the ownership head."""

import numpy as np

from alphazero.selfplay.game_record import GameRecord


def target_rows(record: GameRecord, surprise_fraction: float) -> np.ndarray:
    """Return the plies that are trained on, int64[number of targets], in order: each once, or the surprising ones more than once and others never.

    A ply counts ``1 - surprise_fraction + surprise_fraction * its surprise / the game's mean surprise``: KataGo's policy surprise weighting ("Other methods
    implemented in KataGo since the paper"). Fractions are settled along the game, not drawn, so that a stored game gives the same rows again.
    """
    plies = np.flatnonzero(record.is_target)
    if (
        surprise_fraction == 0.0
        or record.surprises is None
        or not (mean := record.surprises[plies].sum(dtype=np.float64) / max(len(plies), 1)) > 0.0
    ):
        return plies
    ends = np.floor(
        np.cumsum(1.0 - surprise_fraction + surprise_fraction * record.surprises[plies] / mean)
        + 0.5
    ).astype(np.int64)
    return np.repeat(plies, np.diff(ends, prepend=0))


def owners(record: GameRecord, game) -> np.ndarray:
    """Return for each ply who owns each cell when the game ends: int8[T, H*W], 1 the player to move at that ply, -1 the other, 0 nobody.

    Nothing is stored for it: the last position and the last action lead to the end.
    """
    last = game.step(record.states[-1:], record.actions[-1:]).states[0]
    board = game.cells(last).ravel()
    first = (board == 1).astype(np.int8) - (board == 2)  # of the player who moves first in the game
    return np.where(game.players(record.states)[:, None] == 0, first, -first)
