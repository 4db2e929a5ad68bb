"""Tell apart positions of a game in plain Python that its rules take for one.

Positions with equal `alphazero.games.batched_game.Game.identity` count as one, though different
moves may have led to them. That is wrong if a position's object remembers something that changes
what follows but is in neither `observe` nor `key`, such as a count of repetitions. The solver
(`alphazero.solvers.enumeration`) and the check of the rules (`alphazero.own_games.checks`)
therefore compare positions whose objects differ in their `contents`.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.runtime.errors import InputError

_MAX_VARIANTS = 10_000  # most states that are compared with another of the same identity
_ATOMS = (int, float, str, bytes, np.generic, type, type(None))


def contents(value: Any) -> Hashable:
    """Return what an object holds, equal for two objects only if they behave the same.

    The order of dicts and sets does not matter. The parts of other objects are those that pickle
    would store; an object that cannot be pickled equals only itself.

    Raises:
        TypeError: if a part can be neither pickled nor hashed.
    """
    if isinstance(value, _ATOMS):
        return value
    if isinstance(value, dict):
        return frozenset((contents(key), contents(entry)) for key, entry in value.items())
    if isinstance(value, set | frozenset):
        return frozenset(map(contents, value))
    if type(value) in (list, tuple):
        return tuple(map(contents, value))
    try:
        parts = value.__reduce_ex__(4)
        return contents([list(part) if isinstance(part, Iterator) else part for part in parts])
    except TypeError:
        hash(value)
        return value


class MergedPositions:
    """Compares all states that a game takes for one position, up to `_MAX_VARIANTS`.

    Attributes:
        are_all_compared: whether there were not more of them.
    """

    def __init__(self, game: Game):
        self.are_all_compared = True
        self._game = game
        self._first_states: dict[bytes, np.ndarray] = {}  # by identity
        self._known = set[Hashable]()
        self.add(game.initial_states())

    def add(self, states: np.ndarray) -> None:
        """Compare states, and those that follow, with the first state of the same identity.

        Args:
            states: [B, K], the states after all actions in a position that is new; or in several.

        Raises:
            InputError: if an action leads to different positions.
        """
        game = self._game
        waiting = deque((state, False) for state in states)
        while waiting:
            state, is_followed = waiting.popleft()  # those with the fewest moves first
            identity = game.identity(state[None]).tobytes()
            key = identity, game.variant(state)
            if key in self._known:
                continue
            self._known.add(key)
            first = self._first_states.setdefault(identity, state)
            if first is state and not is_followed:  # the caller follows it
                continue
            if len(self._known) - len(self._first_states) > _MAX_VARIANTS:
                self.are_all_compared = False
                continue
            pair = np.stack([first, state])
            action = differing_action(game, pair, game.identity)
            if action is not None:
                text = merged_text(game.moves_of(first), game.moves_of(state), action)
                raise InputError(f"{game.name} cannot be solved: {text}.")
            legal = np.flatnonzero(game.legal_action_mask(state[None])[0])
            following = game.step(np.repeat(state[None], len(legal), axis=0), legal).states
            waiting += [(after, True) for after in following]


def differing_action(
    game: Game, pair: np.ndarray, look: Callable[[np.ndarray], np.ndarray]
) -> int | None:
    """Return an action that is legal in one position only, or is followed by different positions.

    Args:
        pair: [2, K], two positions.
        look: returns what is compared of positions, an array with a row for each.
    """
    masks = game.legal_action_mask(pair)
    differs = masks[0] != masks[1]
    if masks.any() and not differs.any():
        legal = np.flatnonzero(masks[0])
        parts = []
        for state, player in zip(pair, game.players(pair)):
            after = game.step(np.repeat(state[None], len(legal), axis=0), legal)
            seen = look(after.states).reshape(len(legal), -1)
            parts.append(np.c_[seen, after.over, after.results, after.players == player])
        differs[legal] = (parts[0] != parts[1]).any(axis=1)
    return int(differs.argmax()) if differs.any() else None


def merged_text(first: list[int], second: list[int], action: int) -> str:
    """Return a clause that says how two positions differ that the rules take for one.

    Args:
        first: the actions that lead to one position.
        second: the actions that lead to the other.
        action: the action that leads to different positions.
    """
    return (
        f"the positions after {first} and after {second} count as one, but action {action} leads "
        "to different ones: show what differs in 'observe', or return it from 'key'"
    )
