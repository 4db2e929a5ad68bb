"""The player that chooses uniformly at random."""

import math

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, Progress
from alphazero.runtime.random_generators import child_generator


class RandomPlayer:
    """Plays a uniformly random legal action and has no opinion."""

    batch_size = 1

    def __init__(self, game: Game, seed: int = 0, name: str = "random"):
        self.game = game
        self.name = name
        self._seed = seed
        self._generator = child_generator(seed, "random player")

    def choose(self, states: np.ndarray) -> Choice:
        mask = self.game.legal_action_mask(states)
        keys = np.where(mask, self._generator.random(mask.shape), -1.0)
        weights = mask / mask.sum(axis=1, keepdims=True)
        return Choice(
            keys.argmax(axis=1).astype(np.int32),
            weights.astype(np.float32),
            np.full(len(states), np.nan, np.float32),
        )

    def analyse(self, state: np.ndarray, progress: Progress | None = None) -> Analysis:
        choice = self.choose(state[None])
        action, num_actions = int(choice.actions[0]), self.game.num_actions
        unknown = np.full(num_actions, np.nan, np.float32)
        return Analysis(
            action,
            choice.action_weights[0],
            math.nan,
            np.zeros(num_actions, np.int32),
            unknown,
            [action],
            0,
        )

    def limited(self, num_simulations: int | None, time_limit_s: float | None) -> "RandomPlayer":
        return RandomPlayer(self.game, self._seed, self.name)
