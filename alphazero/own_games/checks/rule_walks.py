"""Walks through a game on which its rules are checked: random, steered, or every line to a depth.

In: a `Check`, which looks at positions and plays actions. Out: the first list of actions after
which it finds something broken. Random games hardly ever see the rare ends of a game, such as a
player without pieces. Steered games prefer moves that take pieces or that end the game, or avoid
its end.
"""

import random
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np


class BrokenLaw(Exception):
    """A law that the rules of a game break; the message says which, and what they do."""


class View(NamedTuple):
    """What the rules say of a position that obeys the laws."""

    player: int
    over: bool
    legal: list[int]  #: ascending
    result: float | None  #: for the player to move, in [-1, 1]; None if the game is not over
    board: np.ndarray  #: int[H, W]


class Broken(NamedTuple):
    """A broken law, and where it was seen."""

    error: BrokenLaw
    actions: list[int]  #: that lead to the position


class Check(Protocol):
    """Something that can be broken in a position, or by an action."""

    def start(self) -> Any:
        """Return the start position."""

    def look(self, state: Any, ply: int) -> View:
        """Check a position after ``ply`` actions; raise `BrokenLaw`."""

    def step(self, state: Any, action: int) -> Any:
        """Return the position after a legal action; raise `BrokenLaw`."""

    def key(self, state: Any) -> bytes:
        """Return bytes that tell positions apart."""

    def foresee(self, state: Any, actions: list[int]) -> list[tuple[bool, int]]:
        """Return after each action whether the game is over, and the squares that are not empty."""


class Walk(NamedTuple):
    """One game, or its beginning."""

    actions: list[int]
    views: list[View]  #: one more than actions, unless the last position is broken
    broken: Broken | None
    repeated: tuple[int, int] | None  #: the numbers of actions before the same position


#: Whether a player wants to make a move, after which the game is over or not, and that takes so
#: many pieces; None is any move.
Wish = Callable[[bool, int], bool] | None


def _takes(over: bool, num_taken: int) -> bool:
    return not over and num_taken > 0


def _spares(over: bool, num_taken: int) -> bool:
    return not over and num_taken <= 0


def _ends(over: bool, num_taken: int) -> bool:
    return over


def _goes_on(over: bool, num_taken: int) -> bool:
    return not over


_RANDOM: tuple[Wish, Wish] = (None, None)
#: The wishes of the first and of the second player: every other game is random.
KINDS: list[tuple[Wish, Wish]] = [
    _RANDOM,
    (_takes, _spares),
    _RANDOM,
    (_spares, _takes),
    _RANDOM,
    (_takes, _takes),
    _RANDOM,
    (_goes_on, _goes_on),
    _RANDOM,
    (_ends, _ends),
]


def walk(
    check: Check, wishes: tuple[Wish, Wish], rng: random.Random, go_on: Callable[[], bool]
) -> Walk:
    """Play one game while ``go_on`` says so, and check its positions."""
    actions, views = list[int](), list[View]()
    known, repeated = dict[bytes, int](), None
    try:
        state = check.start()
        while True:
            views.append(check.look(state, len(actions)))
            before = known.setdefault(check.key(state), len(actions))
            if before < len(actions) and repeated is None:
                repeated = before, len(actions)
            if views[-1].over or not go_on():
                return Walk(actions, views, None, repeated)
            action = rng.choice(_wanted(check, state, views[-1], wishes[views[-1].player]))
            state = check.step(state, action)
            actions.append(action)
    except BrokenLaw as error:
        return Walk(actions, views, Broken(error, actions), repeated)


def _wanted(check: Check, state: Any, view: View, wish: Wish) -> list[int]:
    """Return the legal actions that a player wants to play; all if there is none."""
    if wish is None:
        return view.legal
    num_pieces = int(np.count_nonzero(view.board))
    wanted = [
        action
        for action, (over, num_left) in zip(view.legal, check.foresee(state, view.legal))
        if wish(over, num_pieces - num_left)
    ]
    return wanted or view.legal


class Breadth(NamedTuple):
    """What `breadth_first` has seen."""

    broken: Broken | None  #: no shorter list of actions breaks a law
    plies: int  #: every position after at most so many actions was looked at
    num_positions: int
    num_by_ply: list[int]  #: positions that were not seen after fewer actions
    is_whole: bool = False  #: whether the game has no other position


def breadth_first(check: Check, max_positions: int, go_on: Callable[[], bool]) -> Breadth:
    """Look at every position after 0, 1, 2, ... actions, each once."""
    level: list[tuple[list[int], Any]] = [([], None)]
    seen, plies, counts = set[bytes](), 0, list[int]()
    while level:
        following: list[tuple[list[int], Any]] = []
        num_before = len(seen)
        for actions, before in level:
            if len(seen) >= max_positions or not go_on():
                return Breadth(None, plies - 1, len(seen), counts)
            try:
                state = check.step(before, actions[-1]) if actions else check.start()
                key = check.key(state)
                if key in seen:
                    continue
                view = check.look(state, plies)
            except BrokenLaw as error:
                return Breadth(Broken(error, actions), plies, len(seen), counts)
            seen.add(key)
            following += [([*actions, action], state) for action in view.legal]
        counts.append(len(seen) - num_before)
        level, plies = following, plies + 1
    return Breadth(None, plies - 1, len(seen), counts, is_whole=True)
