"""Draw a new exact evaluation set: positions that random play and strong play meet, with the score of every move.

In: a game, a solver and a seed. Out: an `EvaluationSet`. Half of the positions come from games between uniformly random players, half from games of the UCT
search against itself in which each move is random with a small probability, so that the games differ and good play is asked to use mistakes. At
most one position is taken from a game, at the ply that has served least often so far, so that early and late positions are about equally many.
Letters for shapes: K state words, A actions.
"""

from collections.abc import Callable, Iterator

import numpy as np

from alphazero.evaluation.exact.kinds import IMMEDIATE, kinds_of
from alphazero.evaluation.exact.sets import (
    SOURCES,
    EvaluationSet,
    can_be_misplayed,
    canonical_keys,
    make_set,
)
from alphazero.games.batched_game import Game
from alphazero.players.base import PlayerSettings
from alphazero.players.random import RandomPlayer
from alphazero.players.uct import UctPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.random_generators import child_generator
from alphazero.solvers.solver import Solver

#: Simulations for a move of the strong player, and the share of its moves that are random all the same.
STRONG_SIMULATIONS = 1000
RANDOM_SHARE = 0.15
#: The largest share of positions in which a move wins at once; left to chance it would be half of them, and they tell little.
IMMEDIATE_SHARE = 0.2
_BARREN_GAMES = 400  # in a row without a new position: then there are no more to be found
_REJECTED = 0.1  # of a position: what one that is not taken counts for its ply

#: ``progress(found, wanted)``
Progress = Callable[[int, int], None]


def draw_set(
    game: Game,
    solver: Solver,
    num_positions: int,
    seed: int,
    max_empties: int | None = None,
    progress: Progress | None = None,
) -> EvaluationSet:
    """Draw ``num_positions`` positions, half of them from random and half from strong play, none like another or its mirror image.

    Args:
        max_empties: the most empty squares of a position; without it the whole game.
        progress: called after each new position.

    Raises:
        ConfigError: with one plain sentence if the game does not have so many.
    """
    drawn = _Drawn(game, solver, max_empties, IMMEDIATE_SHARE * num_positions / len(SOURCES))
    for source, wanted in (("random", num_positions // 2), ("strong", num_positions)):
        barren = 0
        drawn.begin_source()
        for moves, states in _games(game, source, seed):
            if len(drawn.rows) >= wanted:
                break
            barren = 0 if drawn.add_one_of(moves, states, source) else barren + 1
            if progress is not None and not barren:
                progress(len(drawn.rows), num_positions)
            if barren >= _BARREN_GAMES:
                raise ConfigError(
                    f"num_positions={num_positions} is too many for {game.name}: {_BARREN_GAMES} {source} games in a row held no new position that can be "
                    f"misplayed, after {len(drawn.rows)} had been found."
                )
    return drawn.evaluation_set()


class _Drawn:
    """The positions found so far."""

    def __init__(self, game: Game, solver: Solver, max_empties: int | None, most_immediate: float):
        self.rows = []  # (moves, state, scores, source)
        self._game, self._solver, self._max_empties = game, solver, max_empties
        self._seen = set()
        self._most_immediate = most_immediate  # of a source
        self.begin_source()

    def begin_source(self) -> None:
        """Count anew how often each ply has served, and how often a move won at once."""
        self._served = np.zeros(self._game.max_plies + 1)
        self._num_immediate = 0

    def add_one_of(self, moves: np.ndarray, states: np.ndarray, source: str) -> bool:
        """Take the position of a game whose ply has served least, if it can be misplayed.

        Args:
            moves: int32[T], of the whole game.
            states: [T, K], the positions in which they were played.
        """
        keys = canonical_keys(self._game, states)
        plies = [
            ply
            for ply, key in enumerate(keys)
            if key not in self._seen and self._is_late_enough(states[ply])
        ]
        if not plies:
            return False
        ply = min(plies, key=lambda ply: self._served[ply])
        self._seen.add(keys[ply])
        scores = self._solver.scores(states[ply : ply + 1])[0]
        immediate = kinds_of(self._game, states[ply : ply + 1])[0] == IMMEDIATE
        taken = bool(can_be_misplayed(scores[None])[0]) and not (
            immediate and self._num_immediate >= self._most_immediate
        )
        self._num_immediate += taken and immediate
        self._served[ply] += 1 if taken else _REJECTED
        if taken:
            self.rows.append((tuple(map(int, moves[:ply])), states[ply], scores, source))
        return taken

    def evaluation_set(self) -> EvaluationSet:
        """Return what was found, the earliest plies first."""
        rows = sorted(self.rows, key=lambda row: (len(row[0]), row[3], row[0]))
        moves, states, scores, sources = zip(*rows)
        return make_set(self._game, np.stack(states), np.stack(scores), sources, moves, {})

    def _is_late_enough(self, state: np.ndarray) -> bool:
        return (
            self._max_empties is None
            or np.count_nonzero(self._game.cells(state) == 0) <= self._max_empties
        )


def _games(game: Game, source: str, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the moves (int32[T]) and positions ([T, K]) of games without end."""
    generator = child_generator(seed, f"{source} games")
    random_player = RandomPlayer(game, int(generator.integers(2**31)))
    settings = PlayerSettings(
        num_simulations=STRONG_SIMULATIONS, seed=int(generator.integers(2**31))
    )
    strong_player = UctPlayer(game, settings) if source == "strong" else None
    while True:
        moves, states, state = [], [], game.initial_states()
        over = False
        while not over:
            by_chance = strong_player is None or generator.random() < RANDOM_SHARE
            action = (random_player if by_chance else strong_player).choose(state).actions[:1]
            moves.append(int(action[0]))
            states.append(state[0])
            transition = game.step(state, action)
            state, over = transition.states, bool(transition.over[0])
        yield np.array(moves, np.int32), np.stack(states)
