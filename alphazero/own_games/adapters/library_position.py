"""What games of OpenSpiel and PettingZoo have in common: the library's state as a position."""

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from alphazero.runtime.errors import ConfigError


class LibraryPosition(abc.ABC):
    """A library's state wrapped as an `alphazero.own_games.python_game.Position`.

    Subclasses convert between the library's state and numbers. Player 0 begins the game. The start
    position belongs to a subclass with the data that all positions share: those that
    `alphazero.own_games.python_game.Position` lists, and these:

    adds_player             whether a plane shows the player to move, because the library shows both
                            players the same planes
    has_key                 whether the moves so far distinguish positions with equal planes: the
                            planes and the player to move may not determine everything that follows

    Args:
        start: the start position.
        state: the library's state, which `step` changes in place.
        player: the player to move.
        plies: the number of actions from the start to this position.
        over: whether the game is finished.
    """

    is_determined = True  # by `observe` and `key`

    def __init__(self, start: Any, state: Any, player: int = 0, plies: int = 0, over: bool = False):
        self._start = start
        self._state = state
        self._player = player
        self._plies = plies
        self._over = over

    @property
    @abc.abstractmethod
    def moves(self) -> Sequence[int]:
        """The actions from the start to this position."""

    @abc.abstractmethod
    def play(self, action: int) -> None:
        """Play a legal action in the library's state."""

    @abc.abstractmethod
    def turn(self) -> int | None:
        """Return the player whom the library's state lets move; None if its game has ended."""

    @abc.abstractmethod
    def planes(self) -> np.ndarray:
        """Return the planes that the player to move observes, [C, H, W].

        The array is only valid until the next call, which may overwrite it.
        """

    def step(self, action: int) -> None:
        self.play(action)
        self._plies += 1
        turn = self.turn()
        self._over = turn is None or self._plies >= self._start.max_plies
        # The result is for whoever would be next, whom libraries do not always name.
        self._player = (self._player + 1) % self._start.num_players if turn is None else turn

    def player_to_move(self) -> int:
        return self._player

    def is_over(self) -> bool:
        return self._over

    def observe(self) -> np.ndarray:
        planes = self.planes()
        if self._start.adds_player:
            planes = np.concatenate([planes, planes[:1]])
            planes[-1] = self._player
        return planes

    def key(self) -> bytes:
        return np.array(self.moves, np.int32).tobytes() if self._start.has_key else b""


def limit_plies(max_plies: Any, longest: int | None) -> int:
    """Return the maximum game length in plies: the smaller of the user's and the library's.

    Args:
        max_plies: the user's limit; None if there is none.
        longest: the library's limit; None if it is not known.

    Raises:
        ConfigError: if both limits are None, or either is not a positive integer.
    """
    limits = [limit for limit in (max_plies, longest) if limit is not None]
    if not limits or not all(isinstance(limit, int) and limit >= 1 for limit in limits):
        allowed = "a whole number from 1: NAME(max_plies=100), or an attribute of the environment"
        raise ConfigError.of("max_plies", max_plies, allowed)
    return min(limits)
