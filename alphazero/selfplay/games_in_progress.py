"""Holds the games in progress: their current positions and the moves recorded so far.

Moves are recorded in many games at once. A finished game becomes a `GameRecord`, and the unfinished
ones can be stored. This module does not depend on the search or the evaluator.

Shape letters: B games, T plies (at least those of the longest game so far), K words of a state, of
which I identify the position, A actions, M games in one call.
"""

from typing import Any, NamedTuple

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.selfplay.game_record import GameRecord
from alphazero.selfplay.sparse_rows import SparseRows, lengthened

_FIRST_PLIES = 64  # initial capacity in plies; `max_plies` may exceed any real game by far


class Moves(NamedTuple):
    """The recorded data of moves in several games.

    The arrays hold one ply of each of M games, [M, ...], or all T plies of B games, [B, T, ...].
    """

    states: np.ndarray  #: [..., I], the positions before the moves, without earlier moves
    actions: np.ndarray  #: int32[...], the actions played
    #: float32[..., A], the policy targets: an array for one ply, `SparseRows` for all plies
    action_weights: Any
    root_values: np.ndarray  #: float32[...], the search's value in [-1, 1], for the player to move
    players: np.ndarray  #: int8[...], the player to move; 0 began the game
    is_target: np.ndarray  #: bool[...], whether the position becomes a training sample
    #: float32[...], KL divergence of the policy target from the root's priors, in nats
    surprises: np.ndarray


class GamesInProgress:
    """The positions and recorded moves of B games, each at its own ply.

    Args:
        num_games: B, number of games.
        game: the rules of the game that is played.

    Attributes:
        playing: bool[B], True where a game is in progress; elsewhere the other arrays' entries are
            undefined.
        roots: [B, K], the current positions, as states of K words.
        plies: int32[B], number of moves made so far.
        num_finished: number of games that have ended.
        moves: the moves at plies 0 to ``plies - 1``; later entries are left over from earlier
            games.
    """

    def __init__(self, num_games: int, game: Game):
        self._max_plies = game.max_plies
        num_plies = min(game.max_plies, _FIRST_PLIES)
        self.playing = np.zeros(num_games, np.bool_)
        self.roots = np.zeros((num_games, game.state_size), game.state_dtype)
        self.plies = np.zeros(num_games, np.int32)
        self.num_finished = 0
        self.moves = Moves(
            states=np.zeros((num_games, num_plies, game.identity_size), game.state_dtype),
            actions=np.zeros((num_games, num_plies), np.int32),
            action_weights=SparseRows((num_games, num_plies), game.num_actions),
            root_values=np.zeros((num_games, num_plies), np.float32),
            players=np.zeros((num_games, num_plies), np.int8),
            is_target=np.zeros((num_games, num_plies), np.bool_),
            surprises=np.zeros((num_games, num_plies), np.float32),
        )

    def start(self, rows: np.ndarray, states: np.ndarray) -> None:
        """Start a game in each of M rows from the given positions.

        Args:
            rows: int[M], the indices of the games.
            states: [M, K], the positions that the games start from, as states of K words.
        """
        self.playing[rows] = True
        self.roots[rows] = states
        self.plies[rows] = 0

    def move(self, rows: np.ndarray, moves: Moves, states: np.ndarray) -> None:
        """Record one move in each of M games and advance to the positions after the moves.

        Args:
            rows: int[M], the indices of the games.
            moves: one ply of each game, [M, ...].
            states: [M, K], the positions after the moves.
        """
        plies = self.plies[rows]
        self._make_room(int(plies.max(initial=0)) + 1)
        for array, new in zip(self.moves, moves):
            array[rows, plies] = new
        self.roots[rows] = states
        self.plies[rows] += 1

    def finish(self, row: int, last_player: int, last_result: float) -> GameRecord:
        """End a game and return its record.

        Args:
            row: the index of the game.
            last_player: the player to move in the final position.
            last_result: the game's result in [-1, 1], for ``last_player``.
        """
        self.playing[row] = False
        self.num_finished += 1
        num_plies = self.plies[row]
        moves = Moves(*(array[row, :num_plies].copy() for array in self.moves))
        outcomes = np.where(moves.players == last_player, last_result, -last_result) + 0.0  # no -0
        return GameRecord(
            states=moves.states,
            actions=moves.actions,
            action_weights=moves.action_weights,
            root_values=moves.root_values,
            outcomes=outcomes.astype(np.float32),
            is_target=moves.is_target,
            surprises=moves.surprises,
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the games in progress as {name: array}, and the number of finished games.

        The arrays with plies are cut to the length of the longest game.
        """
        rows = np.flatnonzero(self.playing)
        longest = int(self.plies[rows].max(initial=0))
        per_game = {name: array[rows] for name, array in self._per_game().items()}
        per_ply = {name: array[rows, :longest] for name, array in self.moves._asdict().items()}
        return {"num_finished": self.num_finished, "rows": rows, **per_game, **per_ply}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace all games with those in a state that `state_dict` returned."""
        self.num_finished = state["num_finished"]
        rows = state["rows"]
        self.playing[:] = False
        for name, array in self._per_game().items():
            array[rows] = state[name]
        num_plies = state["states"].shape[1]
        self._make_room(num_plies)
        for name, array in self.moves._asdict().items():
            array[rows, :num_plies] = state[name]

    def _make_room(self, num_plies: int) -> None:
        """Lengthen the arrays, if necessary, to hold at least ``num_plies`` plies per game."""
        room = self.moves.actions.shape[1]
        if num_plies > room:
            room = max(min(2 * room, self._max_plies), num_plies)
            self.moves = Moves(*(lengthened(array, room, axis=1) for array in self.moves))

    def _per_game(self) -> dict[str, np.ndarray]:
        """Return the arrays with one entry per game, as {name: array}."""
        return {"playing": self.playing, "roots": self.roots, "plies": self.plies}
