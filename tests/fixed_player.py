"""A deterministic player for tests of matches: its moves depend on the position alone."""

import zlib

import numpy as np

from alphazero.players.base import Choice


class FixedPlayer:
    """Chooses an action by a hash of the position and ``salt``."""

    def __init__(self, game, salt: int, batch_size: int = 1):
        self.game, self.salt, self.batch_size, self.name = game, salt, batch_size, f"fixed {salt}"
        self.batch_sizes = []

    def choose(self, states):
        self.batch_sizes.append(len(states))
        mask = self.game.legal_action_mask(states)
        keys = np.array([[self._key(state, a) for a in range(mask.shape[1])] for state in states])
        actions = np.where(mask, keys, -1).argmax(axis=1).astype(np.int32)
        action_weights = np.eye(mask.shape[1], dtype=np.float32)[actions]
        return Choice(actions, action_weights, np.full(len(states), np.nan, np.float32))

    def _key(self, state, action: int) -> int:
        return zlib.crc32(state.tobytes() + bytes([self.salt, action]))
