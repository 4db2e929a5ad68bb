"""The player that chooses uniformly at random."""

import math

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, SearchProgress
from alphazero.runtime.random_generators import child_generator, uniform_actions


class RandomPlayer:
    """Plays a uniformly random legal action and estimates nothing; see `Player`."""

    name = "random"
    batch_size = 1

    def __init__(self, game: Game, seed: int = 0):
        self.game = game
        self._seed = seed
        self._generator = child_generator(seed, "random player")

    def choose(self, states: np.ndarray) -> Choice:
        """See `alphazero.players.base.Player.choose`."""
        mask = self.game.legal_action_mask(states)
        weights = mask / mask.sum(axis=1, keepdims=True)
        return Choice(
            actions=uniform_actions(mask, self._generator),
            action_weights=weights.astype(np.float32),
            values=np.full(len(states), np.nan, np.float32),
        )

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """See `alphazero.players.base.Player.analyse`."""
        choice = self.choose(state[None])
        action = int(choice.actions[0])
        return Analysis(
            action=action,
            action_weights=choice.action_weights[0],
            value=math.nan,
            visits=np.zeros(self.game.num_actions, np.int32),
            values=np.full(self.game.num_actions, np.nan, np.float32),
            principal_variation=[action],
            num_simulations=0,
        )

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "RandomPlayer":
        """See `alphazero.players.base.Player.limited`; there is no search to limit."""
        return RandomPlayer(self.game, self._seed)
