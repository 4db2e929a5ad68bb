"""Walks through a game on which its rules are checked: random, steered, or every line to a depth.

In: a `Check`, which looks at positions and plays actions. Out: the first list of actions after
which it finds something broken. Random games hardly ever see the rare
ends of a game, such as a player without pieces. Steered games prefer moves that take pieces or that
end the game, or avoid its end; what else steers, such as a search, is passed in.
"""

import random
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from alphazero.own_games.checks.one_position import OnePosition

_AT_RANDOM = 0.1  # fraction of the moves of steered games


class BrokenLaw(Exception):
    """A law that the rules of a game break; the message says which, and what they do."""


class Broken(NamedTuple):
    """A broken law, and where it was seen."""

    text: str
    actions: list[int]  #: that lead to the position


class View(NamedTuple):
    """What the rules say of a position that obeys the laws."""

    player: int
    over: bool
    legal: list[int]  #: ascending
    result: float | None  #: for the player to move, in [-1, 1]; None if the game is not over
    board: np.ndarray  #: int[H, W]


class Check(Protocol):
    """Something that can be broken in a position, or by an action."""

    rules: OnePosition  #: that steer

    def start(self) -> Any:
        """Return the start position."""

    def look(self, state: Any, ply: int) -> View:
        """Check a position after ``ply`` actions; raise `BrokenLaw`."""

    def step(self, state: Any, action: int) -> Any:
        """Return the position after a legal action; raise `BrokenLaw`."""

    def plain(self, state: Any) -> Any:
        """Return the position as ``rules`` takes it."""

    def key(self, state: Any) -> bytes:
        """Return bytes that tell positions apart."""

    def error_text(self, error: Exception) -> str:
        """Return an error that a rule raised, as a sentence."""


class Walk(NamedTuple):
    """One game, or its beginning."""

    actions: list[int]
    states: list  #: one more than actions, unless the last is broken
    views: list[View]  #: of the states
    broken: Broken | None
    repeated: tuple[int, int] | None  #: the numbers of actions before the same position


class TracedRules:
    """The rules for choosers: a position is (state, actions), and the last actions are known.

    A position of these has the actions that led to it, so that an error in a search or a game that
    is tried out can be found again.
    """

    def __init__(self, rules: OnePosition):
        self.rules = rules
        self.last: tuple[int, ...] = ()

    def initial_state(self) -> Any:
        """See `OnePosition`; so are the following methods."""
        return self.rules.initial_state(), ()

    def player_to_move(self, state: Any) -> int:
        return int(self.rules.player_to_move(state[0]))

    def legal_actions(self, state: Any) -> list[int]:
        self.last = state[1]
        return self.rules.legal_actions(state[0])

    def step(self, state: Any, action: int) -> Any:
        if len(state[1]) > self.rules.sizes.max_plies:
            raise BrokenLaw("a game is too long.")
        self.last = (*state[1], action)
        return self.rules.step(state[0], action), self.last

    def is_over(self, state: Any) -> bool:
        self.last = state[1]
        return self.rules.is_over(state[0])

    def result(self, state: Any) -> float:
        self.last = state[1]
        return self.rules.result(state[0])


#: Returns the action to play in a traced position that is not over.
Chooser = Callable[[TracedRules, Any, View, random.Random], int]


def choose_random(rules: TracedRules, state: Any, view: View, rng: random.Random) -> int:
    """Return a random legal action."""
    return rng.choice(view.legal)


def preferring(good: Callable[[TracedRules, Any, View], bool]) -> Chooser:
    """Return a chooser of random actions among those whose next position is good, if any."""

    def choose(rules: TracedRules, state: Any, view: View, rng: random.Random) -> int:
        if rng.random() < _AT_RANDOM:
            return rng.choice(view.legal)
        found = [action for action in view.legal if good(rules, rules.step(state, action), view)]
        return rng.choice(found or view.legal)

    return choose


def _takes_pieces(rules: TracedRules, after: Any, view: View) -> bool:
    return not rules.is_over(after) and _num_pieces(rules, after) < count_pieces(view.board)


def _takes_none(rules: TracedRules, after: Any, view: View) -> bool:
    return not rules.is_over(after) and _num_pieces(rules, after) >= count_pieces(view.board)


def _num_pieces(rules: TracedRules, state: Any) -> int:
    return count_pieces(rules.rules.board(state[0]))


def count_pieces(board: np.ndarray) -> int:
    """Return how many squares are not empty."""
    return int(np.count_nonzero(board))


choose_captures = preferring(_takes_pieces)
choose_peace = preferring(_takes_none)
choose_ends = preferring(lambda rules, after, view: rules.is_over(after))
choose_no_ends = preferring(lambda rules, after, view: not rules.is_over(after))

#: Who steers the first and the second player, by name, in the games after the random ones.
STEERED: dict[str, tuple[Chooser, Chooser]] = {
    "first player takes pieces": (choose_captures, choose_peace),
    "second player takes pieces": (choose_peace, choose_captures),
    "both take pieces": (choose_captures, choose_captures),
    "ends are avoided": (choose_no_ends, choose_no_ends),
    "ends are taken": (choose_ends, choose_ends),
}


def walk(
    check: Check, choosers: tuple[Chooser, Chooser], rng: random.Random, go_on: Callable[[], bool]
) -> Walk:
    """Play one game while ``go_on`` says so, and check its positions."""
    traced, seen, repeated = TracedRules(check.rules), dict[bytes, int](), None
    actions, states, views = [], [], []
    try:
        state = check.start()
        while go_on():
            view = check.look(state, len(actions))
            states.append(state)
            views.append(view)
            before = seen.setdefault(check.key(state), len(actions))
            if before < len(actions) and repeated is None:
                repeated = before, len(actions)
            if view.over:
                break
            position = check.plain(state), tuple(actions)
            try:
                action = choosers[view.player](traced, position, view, rng)
            except Exception as error:  # of the rules, in what the chooser tried out
                broken = first_broken(check, traced.last)
                broken = broken or Broken(check.error_text(error), list(traced.last))
                return Walk(actions, states, views, broken, repeated)
            state = check.step(state, action)
            actions.append(action)
    except BrokenLaw as error:
        broken = Broken(str(error) + _repeated_text(check, actions, repeated), list(actions))
        return Walk(actions, states, views, broken, repeated)
    return Walk(actions, states, views, None, repeated)


def _repeated_text(check: Check, actions: list[int], repeated: tuple[int, int] | None) -> str:
    if repeated is None or len(actions) < check.rules.sizes.max_plies:
        return ""
    before, after = repeated
    return f" The position after {after:,} actions was the one after {before:,}."


def first_broken(check: Check, actions: Iterable[int]) -> Broken | None:
    """Play a list of actions as far as they are legal; return what is broken first, if anything."""
    state, played = None, []
    try:
        state = check.start()
        for action in actions:
            if action not in check.look(state, len(played)).legal:
                return None
            state = check.step(state, action)
            played.append(action)
        check.look(state, len(played))
    except BrokenLaw as error:
        return Broken(str(error), played)
    return None


class Breadth(NamedTuple):
    """What `breadth_first` has seen."""

    broken: Broken | None  #: no shorter list of actions breaks a law
    plies: int  #: every position after at most so many actions was looked at
    num_positions: int
    num_by_ply: list[int]  #: positions that were not seen after fewer actions
    is_whole: bool = False  #: whether the game has no other position


def breadth_first(check: Check, max_positions: int, go_on: Callable[[], bool]) -> Breadth:
    """Look at every position after 0, 1, 2, ... actions, each once."""
    level: list[tuple[tuple[int, ...], Any]] = [((), None)]
    seen, plies, counts = set[bytes](), 0, list[int]()
    while level:
        following: list[tuple[tuple[int, ...], Any]] = []
        num_before = len(seen)
        for actions, before in level:
            if len(seen) >= max_positions or not go_on():
                return Breadth(None, plies - 1, len(seen), counts)
            try:
                state = check.start() if not actions else check.step(before, actions[-1])
                key = check.key(state)
                if key in seen:
                    continue
                view = check.look(state, plies)
            except BrokenLaw as error:
                return Breadth(Broken(str(error), list(actions)), plies, len(seen), counts)
            seen.add(key)
            following += [((*actions, action), state) for action in view.legal]
        counts.append(len(seen) - num_before)
        level, plies = following, plies + 1
    return Breadth(None, plies - 1, len(seen), counts, is_whole=True)
