"""Choose the openings of a match: random moves to positions that are not decided, where possible.

From a decided position, two players of some strength each win with the same color, which says
nothing about either. `choose_openings` therefore prefers openings that an exact solver calls drawn.
The same settings always give the same openings. This module does not depend on players or results.
"""

import contextlib
import math
from dataclasses import dataclass

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.runtime.errors import ConfigError, InputError
from alphazero.runtime.random_generators import child_generator, uniform_actions
from alphazero.solvers.base import Solver, values_of
from alphazero.solvers.enumeration import EnumeratedSolver
from alphazero.solvers.registry import make_solver

# Number of candidates in one round of sampling; the position used least often is taken.
_NUM_CANDIDATES = 64
# Maximum number of rounds in the search for a drawn position.
_MAX_ROUNDS = 100
# A solver is quick if each of `_NUM_CANDIDATES` positions takes at most so many nodes, below 0.1 s,
# or the game has at most so many positions, which take plain Python a few seconds.
_MAX_NODES = 200_000
_MAX_POSITIONS = 6_000


@dataclass(frozen=True)
class Openings:
    """Samples random openings that lead to distinct positions as long as the game has enough.

    If the game has fewer positions than openings are needed, each position is used about equally
    often.
    """

    plies: int = 4  #: number of moves in each opening
    seed: int = 0  #: seed of the random moves
    num_used: int = 0  #: number of openings to skip, because earlier matches have used them
    solver: Solver | None = None  #: allow only openings that this solver calls drawn; None: all

    def sample(self, game: Game, num_openings: int) -> list[tuple[int, ...]]:
        """Sample the moves of random openings, none of which ends the game.

        Args:
            num_openings: number of openings to sample.

        Returns:
            The moves of each opening: `plies` actions from the start of the game.

        Raises:
            ConfigError: if no sampled game lasts longer than `plies` moves, or `solver` calls none
                of the positions reached drawn.
            UnsolvableError: if a position is beyond the limits of `solver`.
        """
        generator = child_generator(self.seed, "openings")
        # While unused positions are common, the first candidate is nearly always an unused one.
        rounds = (_NUM_CANDIDATES,) * _MAX_ROUNDS if self.solver else (1, _NUM_CANDIDATES)
        times_used: dict[bytes, float] = {}  # by position; infinity for one that is not allowed
        openings = []
        for _ in range(self.num_used + num_openings):
            fewest = math.inf
            for num in rounds:
                moves, states = _random_openings(game, num, self.plies, generator)
                for line, state in zip(moves.tolist(), states):
                    key = state.tobytes()
                    if key not in times_used:
                        allowed = self.solver is None or _are_drawn(self.solver, state[None])[0]
                        times_used[key] = 0 if allowed else math.inf
                    if times_used[key] < fewest:
                        fewest = times_used[key]
                        best = tuple(line), key
                    if fewest == 0:
                        break
                if fewest < (1 if num == 1 else math.inf):
                    break
            else:
                reason = f"random games of {game.name} end earlier, or none leads to a draw"
                raise ConfigError.of("opening_plies", self.plies, "another number", reason)
            openings.append(best[0])
            times_used[best[1]] += 1
        return openings[self.num_used :]


def choose_openings(
    game: Game, plies: int, seed: int = 0, drawn: bool | None = None, key: str = "opening_plies"
) -> Openings:
    """Choose drawn or random openings.

    Args:
        plies: number of moves in each opening.
        seed: seed of the random moves.
        drawn: True for openings that perfect play draws, False for random ones. None means drawn
            ones if a solver is quick and finds some; there are none in a game without draws, and
            they mean nothing in a one-player game.
        key: the setting that contains the number of moves, for the error message.

    Raises:
        ConfigError: if no sampled game lasts longer than ``plies`` moves.
        UnsolvableError: if ``drawn`` is True and no solver can solve the game.
    """
    states = game.initial_states(0)
    if plies < game.max_plies:
        generator = child_generator(0, "candidates")
        _, states = _random_openings(game, _NUM_CANDIDATES, plies, generator)
    if not len(states):
        raise ConfigError.of(key, plies, "fewer plies", f"random games of {game.name} end earlier")
    if drawn is None and plies and game.num_players == 2:
        with contextlib.suppress(InputError):
            solver = make_solver(game, _MAX_NODES, _MAX_POSITIONS)
            drawn = _are_drawn(solver, states).sum() > 1
            if drawn and isinstance(solver, EnumeratedSolver):  # has no limit
                return Openings(plies, seed, solver=solver)
    return Openings(plies, seed, solver=make_solver(game) if drawn else None)


def _are_drawn(solver: Solver, states: np.ndarray) -> np.ndarray:
    """Return whether perfect play draws from each of N unfinished states, [N, K], as bool[N]."""
    return values_of(solver.scores(states)).max(axis=1) == 0


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
