"""Check rules by walking through a game: in random games, steered games, or breadth-first.

In: a `Check`, which examines positions and plays actions. Out: the first list of actions after
which it finds a broken law. Random games rarely reach unusual endings, such as a player without
pieces. In steered games, one player takes pieces whenever possible, and games go on if they can.
"""

import random
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np


class BrokenLaw(Exception):
    """The rules of a game break a law; the message names the law and what the rules did."""


class View(NamedTuple):
    """The rules' description of a position that obeys the laws."""

    player: int  #: the player to move
    over: bool  #: whether the game is finished
    legal: list[int]  #: legal actions, ascending
    result: float | None  #: for the player to move, in [-1, 1]; None if the game is not over
    board: np.ndarray  #: int[H, W]


class Broken(NamedTuple):
    """A broken law, and the position in which it was found."""

    error: BrokenLaw
    actions: list[int]  #: actions that lead to the position from the start


class Check(Protocol):
    """The interface to rules that the walks need; its methods raise `BrokenLaw`."""

    def start(self) -> Any:
        """Return the start position."""

    def look(self, state: Any, ply: int) -> View:
        """Check a position after ``ply`` actions; raise `BrokenLaw` if it breaks a law."""

    def step(self, state: Any, action: int) -> Any:
        """Return the position after a legal action; raise `BrokenLaw` if it breaks a law."""

    def key(self, state: Any) -> bytes:
        """Return bytes that are equal only for equal positions."""

    def foresee(self, state: Any, actions: list[int]) -> list[tuple[bool, int]]:
        """For each action, return whether it ends the game, and the number of pieces after it."""


class Walk(NamedTuple):
    """One game, or the beginning of one."""

    actions: list[int]
    views: list[View]  #: one more than the actions, unless the last position breaks a law
    broken: Broken | None
    repeated: tuple[int, int] | None  #: two numbers of actions after which the position is the same


def walk(check: Check, taker: int | None, rng: random.Random, go_on: Callable[[], bool]) -> Walk:
    """Play one game while ``go_on`` returns True, checking its positions.

    Args:
        taker: the player who takes pieces whenever possible; None for a random game.
    """
    actions = list[int]()
    views = list[View]()
    known = dict[bytes, int]()
    repeated = None
    try:
        state = check.start()
        while True:
            views.append(check.look(state, len(actions)))
            before = known.setdefault(check.key(state), len(actions))
            if before < len(actions) and repeated is None:
                repeated = before, len(actions)
            if views[-1].over or not go_on():
                return Walk(actions, views, None, repeated)
            legal = views[-1].legal
            if taker is not None:
                legal = _steered(check, state, legal, takes=views[-1].player == taker)
            action = rng.choice(legal)
            state = check.step(state, action)
            actions.append(action)
    except BrokenLaw as error:
        return Walk(actions, views, Broken(error, actions), repeated)


def _steered(check: Check, state: Any, legal: list[int], takes: bool) -> list[int]:
    """Select the actions that go on with the game if possible, and leave the fewest pieces.

    Args:
        takes: False selects those that leave the most pieces instead.
    """
    sign = 1 if takes else -1
    ranks = [(over, sign * num_pieces) for over, num_pieces in check.foresee(state, legal)]
    return [action for action, rank in zip(legal, ranks) if rank == min(ranks)]


class Breadth(NamedTuple):
    """The result of `breadth_first`."""

    broken: Broken | None  #: no shorter list of actions breaks a law
    plies: int  #: every position after at most this many actions was checked
    num_positions: int  #: number of different positions checked
    num_by_ply: list[int]  #: number of positions first reached after 0, 1, 2, ... actions
    is_whole: bool = False  #: whether every position of the game was checked


def breadth_first(check: Check, max_positions: int, go_on: Callable[[], bool]) -> Breadth:
    """Check every position after 0, 1, 2, ... actions, each position once."""
    level: list[tuple[list[int], Any]] = [([], None)]
    seen = set[bytes]()
    plies = 0
    counts = list[int]()
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
        level = following
        plies += 1
    return Breadth(None, plies - 1, len(seen), counts, is_whole=True)
