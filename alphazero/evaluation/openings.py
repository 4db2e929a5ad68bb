"""Sample random openings: the positions from which the games of a match start.

For a game and an opening length, a seed determines sequences of random legal moves. This module
does not depend on players or results.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator, uniform_actions

#: A filter of positions: maps unfinished states ([N, K]) to bool[N], True for positions to allow.
Accept = Callable[[np.ndarray], np.ndarray]

# Number of candidates in one round of sampling; the position used least often is taken.
_NUM_CANDIDATES = 64
# Maximum number of rounds in the search for a position that `accept` allows.
_MAX_ROUNDS = 20


@dataclass(frozen=True)
class Openings:
    """Samples random openings that lead to distinct positions as long as the game has enough.

    If the game has fewer positions than openings are needed, each position is used about equally
    often. The same settings always give the same openings.
    """

    plies: int = 4  #: number of moves in each opening
    seed: int = 0  #: seed of the random moves
    num_used: int = 0  #: number of openings to skip, because earlier matches have used them
    accept: Accept | None = None  #: which positions an opening may lead to; None allows all

    def sample(self, game: Game, num_openings: int) -> list[tuple[int, ...]]:
        """Sample the moves of random openings, none of which ends the game.

        Args:
            num_openings: number of openings to sample.

        Returns:
            The moves of each opening: `plies` actions from the start of the game.

        Raises:
            ConfigError: if no sampled game lasts longer than `plies` moves, or `accept` allows none
                of the positions reached.
        """
        generator = child_generator(self.seed, "openings")
        times_used: Counter[bytes] = Counter()
        openings = []
        for _ in range(self.num_used + num_openings):
            moves, key = self._least_used(game, generator, times_used)
            times_used[key] += 1
            openings.append(moves)
        return openings[self.num_used :]

    def _least_used(
        self, game: Game, generator: np.random.Generator, times_used: Counter[bytes]
    ) -> tuple[tuple[int, ...], bytes]:
        """Sample several openings and return the one whose position has been used least often.

        Args:
            generator: the source of the random moves.
            times_used: how often each position, keyed by its bytes, has been used.

        Returns:
            The moves of the opening, and the bytes of the position that they lead to.

        Raises:
            ConfigError: if no sampled game lasts longer than `plies` moves, or `accept` allows none
                of the positions reached.
        """
        # While unused positions are common, the first candidate is nearly always an unused one.
        rounds = (1, _NUM_CANDIDATES) if self.accept is None else (_NUM_CANDIDATES,) * _MAX_ROUNDS
        best = None
        fewest = math.inf
        for num_candidates in rounds:
            for moves, key in self._candidates(game, num_candidates, generator):
                if times_used[key] < fewest:
                    best = moves, key
                    fewest = times_used[key]
            if fewest == 0:
                break
        if best is None:
            reason = f"random games of {game.name} end earlier, or no position is accepted"
            raise ConfigError.of("opening_plies", self.plies, "another number of plies", reason)
        return best

    def _candidates(
        self, game: Game, num: int, generator: np.random.Generator
    ) -> Iterator[tuple[tuple[int, ...], bytes]]:
        """Sample openings and yield those that `accept` allows.

        Args:
            num: number of random games from which the openings are taken.
            generator: the source of the random moves.

        Yields:
            The moves of an opening, and the bytes of the position that they lead to.
        """
        moves, states = _random_openings(game, num, self.plies, generator)
        if self.accept is not None:
            accepted = self.accept(states)
            moves = moves[accepted]
            states = states[accepted]
        for line, state in zip(moves.tolist(), states):
            yield tuple(line), state.tobytes()


def check_openings(game: Game, plies: int, key: str) -> None:
    """Raise an error if random games are too short for openings of this length.

    Args:
        plies: number of moves in each opening.
        key: the setting that contains this number, for the error message.

    Raises:
        ConfigError: if no sampled game lasts longer than ``plies`` moves.
    """
    if plies:
        try:
            Openings(plies).sample(game, 1)
        except ConfigError:
            reason = f"random games of {game.name} end earlier"
            raise ConfigError.of(key, plies, "fewer plies", reason) from None


def _random_openings(
    game: Game, num: int, plies: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Play ``num`` random games for ``plies`` plies and drop those that have finished by then.

    Args:
        num: number of games to play.
        plies: number of plies in each game.
        generator: the source of the random moves.

    Returns:
        The moves, int32[n, plies], and the positions after them, [n, K], of the n unfinished games.
    """
    states = game.initial_states(num)
    moves = np.zeros((num, 0), np.int32)
    for _ in range(plies):
        actions = uniform_actions(game.legal_action_mask(states), generator)
        transition = game.step(states, actions)
        alive = ~transition.over
        states = transition.states[alive]
        moves = np.column_stack([moves, actions])[alive]
    return moves, states
