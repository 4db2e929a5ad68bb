"""Evaluators: functions from a position to the priors of its actions and its value.

    evaluate(game, state) -> (priors, value)

``priors`` is a dictionary, {action: prior}, with a number from 0 to 1 for each legal action, sum 1;
``value`` is the expected result for the player to move in ``state``, in [-1, 1]. In AlphaZero both
are the answer of a network; the search takes any such function, and checks its answers.
"""

import math
import random
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from alphazero.textbook.game import PlainGame, Rules, State
from alphazero.textbook.uct import random_rollout

Evaluator = Callable[[Rules, State], tuple[dict, float]]
_TOLERANCE = 1e-3  # of sums of rounded numbers


def checked_answer(answer: Any, actions: list, lowest_value: float) -> tuple[Mapping, float]:
    """Return what an evaluator has returned, if it can be searched with.

    Args:
        actions: the legal ones.
        lowest_value: of the game's results; the highest is its negative.

    Raises:
        ValueError: naming what is wrong.
    """
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise _refusal("(priors, value)", answer)
    priors, value = answer
    if not isinstance(priors, Mapping):
        is_swapped = isinstance(value, Mapping)
        hint = ", in this order" if is_swapped else ", with priors = {action: prior}"
        raise _refusal(f"(priors, value){hint}", answer)
    allowed = f"a value from {lowest_value:g} to {-lowest_value:g}, as lowest_value is set"
    value = _number(value, allowed, lowest_value, -lowest_value)
    if missing := [action for action in actions if action not in priors]:
        raise _refusal(f"a prior for each legal action, also for {missing[0]!r}", priors)
    total = sum(
        _number(priors[action], f"a prior of {action!r} from 0 to 1", 0, 1) for action in actions
    )
    if abs(total - 1) > _TOLERANCE:
        raise _refusal(f"priors whose sum over the legal actions is 1, not {total:.4g}", priors)
    return priors, value


def _number(number: Any, allowed: str, lowest: float, highest: float) -> float:
    """Return a number of an answer if it is in its range."""
    try:
        found = float(number)
    except (TypeError, ValueError):
        raise _refusal(allowed, number) from None
    if not lowest - _TOLERANCE <= found <= highest + _TOLERANCE:  # nan is refused as well
        raise _refusal(allowed, number)
    return found


def _refusal(allowed: str, answer: Any) -> ValueError:
    shown = reprlib.repr(answer)
    return ValueError(f"the evaluator has returned {shown}: it must return {allowed}.")


def uniform(game: Rules, state: State) -> tuple[dict, float]:
    """Return the same prior for every legal action, and the value 0."""
    actions = game.legal_actions(state)
    return dict.fromkeys(actions, 1 / len(actions)), 0.0


def rollouts(num_rollouts: int = 1, rng: random.Random | None = None) -> Evaluator:
    """Return an evaluator whose value is the mean result of random games.

    A class in the notebook's form plays them by its own ``run_simulation``.
    """
    rng = rng or random.Random()

    def evaluate(game: Rules, state: State) -> tuple[dict, float]:
        priors, _ = uniform(game, state)
        sign = -1 if game.player_to_move(state) == 1 else 1
        rollout = getattr(game, "rollout", random_rollout)
        results = [sign * rollout(game, state, rng) for _ in range(num_rollouts)]
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
    """A lookup table in place of a network: the mean of all samples of each position.

    It does not generalise to unseen positions, so it suits games of a few thousand positions.
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
