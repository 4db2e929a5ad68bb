"""Define evaluators: functions that estimate the priors of a position's actions and its value.

    evaluate(game, state) -> (priors, value)

``priors`` is a dictionary, {action: prior}, with a number from 0 to 1 for each legal action; these
numbers add up to 1. ``value`` is the expected result for the player to move in ``state``, in
[-1, 1]. AlphaZero computes both with a network; the textbook's search accepts any such function and
checks what it returns.
"""

import math
import random
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from alphazero.textbook.game import PlainGame, Rules, State
from alphazero.textbook.uct import random_rollout

Evaluator = Callable[[Rules, State], tuple[dict, float]]
_TOLERANCE = 1e-3  # deviation allowed for rounded numbers


def checked_answer(answer: Any, actions: list, lowest_value: float) -> tuple[Mapping, float]:
    """Check that an evaluator's answer is valid, and return it as (priors, value).

    Args:
        answer: what the evaluator returned.
        actions: the legal actions.
        lowest_value: the lowest result of the game; the highest is its negative.

    Raises:
        ValueError: if the answer is not a pair (dict, number), a legal action lacks a prior, the
            priors do not add up to 1, or a number is out of range; the message shows what was
            returned and what is allowed.
    """
    is_pair = isinstance(answer, tuple) and len(answer) == 2
    if not (is_pair and isinstance(answer[0], Mapping)):
        raise _refusal("(priors, value), with priors = {action: prior}", answer)
    priors, value = answer
    allowed = f"a value from {lowest_value:g} to {-lowest_value:g}, as lowest_value is set"
    value = _number(value, allowed, lowest_value, -lowest_value)
    total = 0.0
    for action in actions:
        allowed = f"a prior from 0 to 1 for the legal action {action!r}"
        total += _number(priors.get(action), allowed, 0, 1)
    if abs(total - 1) > _TOLERANCE:
        raise _refusal(f"priors whose sum over the legal actions is 1, not {total:.4g}", priors)
    return priors, value


def _number(number: Any, allowed: str, lowest: float, highest: float) -> float:
    """Convert a prior or a value that an evaluator returned to a float.

    Args:
        number: what the evaluator returned.
        allowed: description of the allowed numbers, for the error message.
        lowest, highest: the smallest and the largest number allowed.

    Raises:
        ValueError: if ``number`` is not a number from ``lowest`` to ``highest``; rounding errors up
            to 0.001 are accepted.
    """
    try:
        value = float(number)
    except (TypeError, ValueError):
        raise _refusal(allowed, number) from None
    if not lowest - _TOLERANCE <= value <= highest + _TOLERANCE:  # nan is refused too
        raise _refusal(allowed, number)
    return value


def _refusal(allowed: str, answer: Any) -> ValueError:
    shown = reprlib.repr(answer)
    return ValueError(f"the evaluator has returned {shown}: it must return {allowed}.")


def uniform(game: Rules, state: State) -> tuple[dict, float]:
    """Evaluate a position without knowledge: return equal priors, {action: prior}, and 0."""
    actions = game.legal_actions(state)
    return dict.fromkeys(actions, 1 / len(actions)), 0.0


def rollouts(num_rollouts: int = 1, rng: random.Random | None = None) -> Evaluator:
    """Make an evaluator with equal priors, whose value is the mean result of random games.

    The random games start at the evaluated position, and the value is for the player to move there.
    For a game in notebook form, its own ``run_simulation`` plays them.

    Args:
        num_rollouts: number of random games per position.
        rng: the random generator; None means a new one with a random seed.
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
    """Make an evaluator from a neural network of this package, for the states of a `PlainGame`.

        priors = softmax of the logits over the legal actions

    Args:
        evaluator: an `alphazero.inference.evaluator` object, which computes logits and values of a
            batch of positions; such as the attribute ``evaluator`` of a player loaded with
            ``az.load_player("best", game)``.
    """

    def evaluate(game: PlainGame, state: State) -> tuple[dict, float]:
        planes = game.game.observe(game.to_array(state))
        all_logits, values = evaluator.evaluate(planes)
        logits = {action: float(all_logits[0, action]) for action in game.legal_actions(state)}
        largest = max(logits.values())
        weights = {action: math.exp(logit - largest) for action, logit in logits.items()}
        total = sum(weights.values())
        priors = {action: weight / total for action, weight in weights.items()}
        return priors, float(values[0])

    return evaluate


class Table:
    """An evaluator that averages the training samples of each position, in place of a network.

    It does not generalise to unseen positions, so it suits games with a few thousand positions.
    """

    def __init__(self):
        self.samples: dict[State, list] = {}  #: the samples learned so far, by position

    def learn(self, samples: Iterable) -> None:
        """Add training samples, such as those of a self-play game, to the table.

        Args:
            samples: `alphazero.textbook.alphazero.Sample` objects; ``state``, ``action_weights``
                and ``outcome`` are used.
        """
        for sample in samples:
            self.samples.setdefault(sample.state, []).append(sample)

    def __call__(self, game: Rules, state: State) -> tuple[dict, float]:
        """Return the priors, {action: prior}, and the value of a position as means of its samples.

        The priors are the mean policy target; the value is the mean outcome for the player to move
        in ``state``. A position without samples is evaluated by `uniform`.
        """
        known = self.samples.get(state)
        if not known:
            return uniform(game, state)
        priors = {}
        for action in game.legal_actions(state):
            total = sum(sample.action_weights.get(action, 0.0) for sample in known)
            priors[action] = total / len(known)
        outcome = sum(sample.outcome for sample in known) / len(known)
        return priors, outcome
