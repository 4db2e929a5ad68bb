"""Evaluators: functions from a position to the priors of its actions and its value.

    evaluate(game, state) -> (priors, value)

``priors`` has a probability for each legal action, sum 1; ``value`` is the expected result for the
player to move. In AlphaZero both are the answer of a network; the search takes any such function.
"""

import math
import random
from collections.abc import Callable, Iterable

from alphazero.textbook.game import PlainGame, Rules, State
from alphazero.textbook.uct import random_rollout

Evaluator = Callable[[Rules, State], tuple[dict, float]]


def uniform(game: Rules, state: State) -> tuple[dict, float]:
    """Know nothing: the same prior for every action, and the value 0."""
    actions = game.legal_actions(state)
    return dict.fromkeys(actions, 1 / len(actions)), 0.0


def rollouts(num_rollouts: int = 1, rng: random.Random | None = None) -> Evaluator:
    """Return an evaluator whose value is the mean result of random games."""
    rng = rng or random.Random()

    def evaluate(game: Rules, state: State) -> tuple[dict, float]:
        priors, _ = uniform(game, state)
        sign = 1 if game.player_to_move(state) == 0 else -1
        results = [sign * random_rollout(game, state, rng) for _ in range(num_rollouts)]
        return priors, sum(results) / num_rollouts

    return evaluate


def network(evaluator) -> Evaluator:
    """Return the evaluator of a network, for states of a `PlainGame`.

        priors = softmax of the logits over the legal actions

    Args:
        evaluator: as in `alphazero.inference.evaluator`; that of a player ``az.load_player("best",
            game)`` is its attribute ``evaluator``.
    """

    def evaluate(game: PlainGame, state: State) -> tuple[dict, float]:
        logits, values = evaluator.evaluate(game.game.observe(game.to_array(state)))
        actions = game.legal_actions(state)
        largest = max(float(logits[0, action]) for action in actions)
        weights = {action: math.exp(float(logits[0, action]) - largest) for action in actions}
        total = sum(weights.values())
        return {action: weight / total for action, weight in weights.items()}, float(values[0])

    return evaluate


class Table:
    """An evaluator that learns by heart: the mean of all samples of a position.

    It generalises to no other position, so it suits games of some thousand positions. It stands
    where AlphaZero has its network.
    """

    def __init__(self):
        self.samples: dict[State, list] = {}  #: of each position

    def learn(self, samples: Iterable) -> None:
        """Add samples of self-play, see `alphazero.textbook.alphazero.Sample`."""
        for sample in samples:
            self.samples.setdefault(sample.state, []).append(sample)

    def __call__(self, game: Rules, state: State) -> tuple[dict, float]:
        """Return the mean policy target and the mean outcome, `uniform` for a new position."""
        known = self.samples.get(state)
        if not known:
            return uniform(game, state)
        priors = {
            action: sum(sample.action_weights.get(action, 0.0) for sample in known) / len(known)
            for action in game.legal_actions(state)
        }
        return priors, sum(sample.outcome for sample in known) / len(known)
