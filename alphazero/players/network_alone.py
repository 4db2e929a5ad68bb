"""A player without a search, which plays the most likely move of a network's policy."""

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.inference.evaluator import Evaluator
from alphazero.players.base import Analysis, Choice, Player, SearchProgress, engine_of, joined
from alphazero.players.without_search import direct_analysis

#: Maximum number of positions to evaluate together.
MAX_BATCH_SIZE = 256


class NetworkAlone:
    """Plays the action to which a network's policy gives the highest probability; see `Player`.

    Args:
        evaluator: evaluates positions with the network.
        searcher: a player that searches with the same network; `limited` derives players from it.
    """

    method = "network alone"
    batch_size = MAX_BATCH_SIZE

    def __init__(self, game: Game, evaluator: Evaluator, searcher: Player):
        self.game = game
        self.name = searcher.name
        self.evaluator = evaluator
        self._searcher = searcher

    @property
    def engine(self) -> str:
        """The engine that runs the network, such as "openvino int8"; "" if it is not known."""
        return engine_of(self._searcher)

    def choose(self, states: np.ndarray) -> Choice:
        """Choose the policy's most likely move in each position; see `Player.choose`."""
        starts = range(0, len(states), MAX_BATCH_SIZE)
        return joined(self._choose(states[start : start + MAX_BATCH_SIZE]) for start in starts)

    def analyse(self, state: np.ndarray, progress: SearchProgress | None = None) -> Analysis:
        """Analyse one position with a single evaluation of the network; see `Player.analyse`."""
        return direct_analysis(self._choose(state[None]))

    def limited(
        self, num_simulations: int | None = None, time_limit_s: float | None = None
    ) -> Player:
        """Return a player that searches with the same network within the given limits.

        Args:
            num_simulations: maximum simulations per move; None if only the time is limited. With 0,
                the returned player does not search.
            time_limit_s: maximum seconds per move; None means no limit.

        Returns:
            The searching player; this player itself if no time limit is given and
            ``num_simulations`` is None or 0.
        """
        if not num_simulations and time_limit_s is None:
            return self
        return self._searcher.limited(num_simulations, time_limit_s)

    def _choose(self, states: np.ndarray) -> Choice:
        mask = self.game.legal_action_mask(states)
        return choice_by_policy(self.game, self.evaluator, states, mask)


def choice_by_policy(
    game: Game, evaluator: Evaluator, states: np.ndarray, mask: np.ndarray
) -> Choice:
    """Choose the most likely action of an evaluator's policy, among some of the legal actions.

    Args:
        evaluator: computes the policies and the values of the choice.
        states: [B, K], one position of K state words per row.
        mask: bool[B, A], True for the actions to choose from, at least one in each position.
    """
    logits, values = evaluator.evaluate(game.observe(states))
    logits = np.where(mask, logits, -np.inf)
    largest = logits.max(axis=1, keepdims=True)
    weights = np.exp(logits.astype(np.float64) - largest)
    weights /= weights.sum(axis=1, keepdims=True)
    actions = logits.argmax(axis=1).astype(np.int32)
    return Choice(actions, weights.astype(np.float32), values)
