"""The random player, and functions that build the results of players without a search.

Shapes: B positions, A actions.
"""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.players.base import Analysis, Choice, SearchProgress
from alphazero.runtime.random_generators import child_generator, uniform_actions


class RandomPlayer:
    """Plays uniformly random legal actions and gives no values; see `Player`."""

    name = "random"
    batch_size = 1

    def __init__(self, game: Game, seed: int = 0):
        self.game = game
        self._seed = seed
        self._generator = child_generator(seed, "random player")

    def choose(self, states: np.ndarray) -> Choice:
        """Choose a uniformly random legal action in each position; see `Player.choose`."""
        mask = self.game.legal_action_mask(states)
        return equal_choice(mask, np.full(len(states), np.nan), self._generator)

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Choose a random action, with equal weights for all legal ones; see `Player.analyse`."""
        return direct_analysis(self.choose(state[None]))

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> "RandomPlayer":
        """Return a copy restarted from the same seed; there is no search to limit."""
        return RandomPlayer(self.game, self._seed)


def equal_choice(mask: np.ndarray, values: np.ndarray, generator: np.random.Generator) -> Choice:
    """Choose one of several equally good actions at random in each position.

    Args:
        mask: bool[B, A], True for the equally good actions, at least one in each position.
        values: int[B] or float[B], expected results in [-1, 1] for the player to move; NaN if
            unknown.
        generator: the source of the random choices.

    Returns:
        The chosen actions; the equally good actions of a position have equal weights.
    """
    weights = mask / mask.sum(axis=1, keepdims=True)
    return Choice(
        actions=uniform_actions(mask, generator),
        action_weights=weights.astype(np.float32),
        values=values.astype(np.float32),
    )


def direct_analysis(
    choice: Choice, values: np.ndarray | None = None, scores: np.ndarray | None = None
) -> Analysis:
    """Build the `Analysis` of one position from a move that was chosen without a search.

    Args:
        choice: the player's choice in this one position.
        values: float[A], expected result in [-1, 1] after each action, for the player to move, NaN
            if the action is illegal; None if no values are known.
        scores: int16[A], exact score of each action for the player to move, `ILLEGAL_SCORE` if the
            action is illegal; None if unknown.
    """
    action = int(choice.actions[0])
    num_actions = choice.action_weights.shape[1]
    if values is None:
        values = np.full(num_actions, np.nan)
    return Analysis(
        action=action,
        action_weights=choice.action_weights[0],
        value=float(choice.values[0]),
        visits=np.zeros(num_actions, np.int32),
        values=values.astype(np.float32),
        principal_variation=[action],
        num_simulations=0,
        scores=scores,
    )
