"""Sampling of evaluation sets: positions from random and from strong play, with exact scores.

In: a game, a solver and a seed. Out: an `EvaluationSet`. Half of the positions come from games of
uniformly random moves. The other half come from self-play of UCT in which each move is random with
a small probability, so that games differ and the player to move can punish mistakes. A game gives
at most one position, at the ply that has been used least so far, so that all plies are about
equally frequent. Shapes: T plies, K state words, A actions.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.exact.sets import (
    IMMEDIATE,
    SOURCES,
    EvaluationSet,
    can_be_misplayed,
    canonical_keys,
    kinds_of,
    make_set,
)
from alphazero.games.batched_game import Game
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.random import RandomPlayer
from alphazero.players.uct import UctPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.base import Solver

STRONG_SIMULATIONS = 1000  #: UCT simulations for a move of strong play
RANDOM_MOVE_FRACTION = 0.15  #: of the moves of strong play
#: The largest fraction of positions in which a move wins at once. Without a limit it would be half
#: of them, and such positions say little about a player.
MAX_IMMEDIATE_FRACTION = 0.2

#: How the positions are sampled, for the notes of an evaluation set.
METHOD_NOTES = {
    "source random": "games of uniformly random moves",
    "source strong": (
        f"self-play of UCT with {STRONG_SIMULATIONS} simulations, "
        f"{RANDOM_MOVE_FRACTION:.0%} of the moves random"
    ),
    "positions": (
        "at most one per game, all plies about equally frequent; not final; some move gives up the "
        "best result; all different, mirror images included; "
        f"a win at once in at most {MAX_IMMEDIATE_FRACTION:.0%}"
    ),
}

# After this many games in a row without a new position, we assume that none is left.
_MAX_BARREN_GAMES = 400
# How much a rejected position counts as a use of its ply; an accepted one counts 1.
_REJECTED_USE = 0.1


def sample_set(
    game: Game,
    solver: Solver,
    num_positions: int,
    seed: int,
    max_empties: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> EvaluationSet:
    """Sample ``num_positions`` positions, half from random play, half from strong play.

    All positions are different, including their mirror images.

    Args:
        max_empties: the largest number of empty squares in a position; None allows the whole game.
        progress: called as ``progress(num_found, num_positions)`` after each new position.

    Raises:
        ConfigError: if the game has too few such positions.
    """
    sampler = _Sampler(game, solver, max_empties, MAX_IMMEDIATE_FRACTION * num_positions)
    for source, wanted in (("random", num_positions // 2), ("strong", num_positions)):
        num_barren = 0
        sampler.begin_source(source)
        for moves, states in _games(game, source, seed):
            if len(sampler.samples) >= wanted:
                break
            num_barren = 0 if sampler.take_one(moves, states) else num_barren + 1
            if progress is not None and not num_barren:
                progress(len(sampler.samples), num_positions)
            if num_barren >= _MAX_BARREN_GAMES:
                num_found = len(sampler.samples)
                reason = f"after {num_found} positions, {num_barren} games of {game.name} in a row "
                reason += "held no new one that can be misplayed"
                allowed = f"{num_found} or less"
                raise ConfigError.of("num_positions", num_positions, allowed, reason)
    return sampler.evaluation_set()


class _Sample(NamedTuple):
    """A position of the set."""

    moves: tuple[int, ...]  # from the start of the game
    state: np.ndarray  # [K]
    scores: np.ndarray  # int16[A]
    source: str


class _Sampler:
    """Takes positions from games; remembers those found so far."""

    def __init__(self, game: Game, solver: Solver, max_empties: int | None, max_immediate: float):
        self.samples: list[_Sample] = []
        self._game, self._solver, self._max_empties = game, solver, max_empties
        self._max_immediate = max_immediate / len(SOURCES)  # for each source
        self._seen: set[bytes] = set()

    def begin_source(self, source: str) -> None:
        """Continue with games of another source; the counts of plies and wins start from zero."""
        self._source = source
        self._ply_uses = np.zeros(self._game.max_plies + 1)
        self._num_immediate = 0

    def take_one(self, moves: np.ndarray, states: np.ndarray) -> bool:
        """Add the position of a game whose ply has been used least, if it can be misplayed.

        Args:
            moves: int32[T], of the whole game.
            states: [T, K], the positions in which they were played.

        Returns:
            Whether a position has been added.
        """
        keys = canonical_keys(self._game, states)
        plies = [
            ply
            for ply, key in enumerate(keys)
            if key not in self._seen and self._is_late_enough(states[ply])
        ]
        if not plies:
            return False
        ply = min(plies, key=lambda ply: self._ply_uses[ply])
        self._seen.add(keys[ply])
        scores = self._solver.scores(states[ply : ply + 1])[0]
        immediate = kinds_of(self._game, states[ply : ply + 1])[0] == IMMEDIATE
        has_room = not immediate or self._num_immediate < self._max_immediate
        accepted = has_room and bool(can_be_misplayed(scores[None])[0])
        self._num_immediate += accepted and immediate
        self._ply_uses[ply] += 1 if accepted else _REJECTED_USE
        if accepted:
            line = tuple(map(int, moves[:ply]))
            self.samples.append(_Sample(line, states[ply], scores, self._source))
        return accepted

    def evaluation_set(self) -> EvaluationSet:
        """Return the positions found, the earliest plies first."""
        samples = sorted(self.samples, key=lambda each: (len(each.moves), each.source, each.moves))
        moves, states, scores, sources = zip(*samples)
        return make_set(self._game, np.stack(states), np.stack(scores), sources, moves, {})

    def _is_late_enough(self, state: np.ndarray) -> bool:
        if self._max_empties is None:
            return True
        return int(np.count_nonzero(self._game.cells(state) == 0)) <= self._max_empties


def _games(game: Game, source: str, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the moves (int32[T]) and positions ([T, K]) of games, without end."""
    generator = child_generator(seed, f"{source} games")
    random_player = RandomPlayer(game, int(generator.integers(2**31)))
    strong_seed = int(generator.integers(2**31))
    settings = PlayerSettings(num_simulations=STRONG_SIMULATIONS, seed=strong_seed)
    strong_player = UctPlayer(game, settings)
    while True:
        moves, states, state = [], [], game.initial_states()
        over = False
        while not over:
            is_random = source == "random" or generator.random() < RANDOM_MOVE_FRACTION
            player: Player = random_player if is_random else strong_player
            action = player.choose(state).actions[:1]
            moves.append(int(action[0]))
            states.append(state[0])
            transition = game.step(state, action)
            state, over = transition.states, bool(transition.over[0])
        yield np.array(moves, np.int32), np.stack(states)
