"""A deterministic player for tests of matches: its moves depend on the position alone."""

import zlib

import numpy as np

from alphazero.players.base import Choice


class FixedPlayer:
    """Plays an action that depends on the position alone, differently for each salt; needs no random numbers."""

    def __init__(self, game, salt: int, batch_size: int = 1):
        self.game, self.salt, self.batch_size, self.name = game, salt, batch_size, f"fixed {salt}"
        self.batch_sizes = []

    def choose(self, states):
        self.batch_sizes.append(len(states))
        mask = self.game.legal_action_mask(states)
        keys = np.array(
            [
                [zlib.crc32(state.tobytes() + bytes([self.salt, a])) for a in range(mask.shape[1])]
                for state in states
            ]
        )
        actions = np.where(mask, keys, -1).argmax(axis=1).astype(np.int32)
        return Choice(
            actions,
            np.eye(mask.shape[1], dtype=np.float32)[actions],
            np.full(len(states), np.nan, np.float32),
        )
