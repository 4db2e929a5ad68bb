"""The player that chooses its moves uniformly at random."""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, SearchProgress
from alphazero.players.without_search import direct_analysis, equal_choice
from alphazero.runtime.random_generators import child_generator


class RandomPlayer:
    """Plays a uniformly random legal action and estimates nothing; see `Player`."""

    name = "random"
    batch_size = 1

    def __init__(self, game: Game, seed: int = 0):
        self.game = game
        self._seed = seed
        self._generator = child_generator(seed, "random player")

    def choose(self, states: np.ndarray) -> Choice:
        """Choose a random legal action in each position; see `Player.choose`."""
        mask = self.game.legal_action_mask(states)
        return equal_choice(mask, np.full(len(states), np.nan), self._generator)

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Analyse a position: all legal actions have equal weights; see `Player.analyse`."""
        return direct_analysis(self.choose(state[None]))

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "RandomPlayer":
        """Return a copy of this player, seeded afresh; there is no search to limit."""
        return RandomPlayer(self.game, self._seed)
