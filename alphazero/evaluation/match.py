"""A match: paired games between two players.

In: a game and two players. Out: a `MatchReport`. Both games of a pair start from the same random
opening; each player moves first in one of them, so that an unbalanced opening favours nobody. In a
game of one player, each plays one of them alone, and the better result wins the pair.
Openings differ from pair to pair, so that deterministic players do not repeat one game. This file
does not depend on networks, files or consoles.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.openings import Openings
from alphazero.evaluation.report import (
    MatchGame,
    MatchReport,
    Tally,
    pair_score,
)
from alphazero.games.batched_game import Game
from alphazero.players.base import RESIGN, Player
from alphazero.runtime.errors import ConfigError

DEFAULT_OPENINGS = Openings()


class MatchProgress(NamedTuple):
    """The state of a match while it is played; results are player A's.

    They are results of finished games; in a game of one player, of finished pairs.
    """

    num_finished: int
    num_games: int
    wins: int
    draws: int
    losses: int


def play_match(
    game: Game,
    player_a: Player,
    player_b: Player,
    num_games: int = 100,
    openings: Openings = DEFAULT_OPENINGS,
    *,
    progress: Callable[[MatchProgress], None] | None = None,
) -> MatchReport:
    """Play ``num_games`` games between two players, in pairs with colours swapped.

    Args:
        num_games: even; games 2i and 2i + 1 share an opening, and player A moves first in game 2i.
        openings: how the openings are sampled; their seed is not that of the players.
        progress: called whenever games have finished.

    Raises:
        ConfigError: for an odd number of games, or if there are no openings of that length.
        ValueError: if a player chooses an illegal move.
    """
    check_num_games(num_games)
    lines = openings.sample(game, num_games // 2)
    match = _Match(game, (player_a, player_b), lines)
    max_parallel = max(player_a.batch_size, player_b.batch_size)
    num_reported = 0
    while not match.is_over:
        match.play_ply(max_parallel)
        if progress is not None and match.num_finished > num_reported:
            num_reported = match.num_finished
            progress(match.progress())
    return MatchReport(
        game.name,
        player_a.name,
        player_b.name,
        openings.plies,
        openings.seed,
        match.games(),
        game.num_players,
    )


def check_num_games(num_games: int, key: str = "num_games", low: int = 2) -> None:
    """Refuse a number of games that is odd or less than ``low``.

    Args:
        key: the setting that gave the number.

    Raises:
        ConfigError: if it is refused.
    """
    if num_games < low or num_games % 2:
        allowed = f"an even number, {low} or more"
        raise ConfigError.of(key, num_games, allowed, "games come in pairs")


class _Match:
    """The games of a match while they are played, many of them in lockstep."""

    def __init__(self, game: Game, players: tuple[Player, Player], openings: list[tuple[int, ...]]):
        num_games = 2 * len(openings)
        self.num_finished = 0
        self._game = game
        self._players = players
        self._moves = [list(opening) for opening in openings for _ in range(2)]
        self._states = np.stack([game.play_moves(line) for line in openings]).repeat(2, axis=0)
        self._scores = np.full(num_games, np.nan)  # player A's points; nan while a game goes on
        self._active = np.arange(0)  # indices of the games being played
        self._waiting = np.arange(num_games)  # indices of the games not yet started

    @property
    def is_over(self) -> bool:
        return not (len(self._active) or len(self._waiting))

    def progress(self) -> MatchProgress:
        scores = self._scores[~np.isnan(self._scores)].tolist()
        if self._game.num_players == 1:
            pairs = self._scores.reshape(-1, 2)
            finished = pairs[~np.isnan(pairs).any(axis=1)].tolist()
            scores = [pair_score(pair, 1) for pair in finished]
        return MatchProgress(self.num_finished, len(self._scores), *Tally.of(scores))

    def games(self) -> tuple[MatchGame, ...]:
        """Return the games, in the order of their openings."""
        return tuple(
            MatchGame(tuple(moves), index % 2 == 0, float(score), index // 2)
            for index, (moves, score) in enumerate(zip(self._moves, self._scores))
        )

    def play_ply(self, max_parallel: int) -> None:
        """Make one move in each active game, after starting games up to ``max_parallel``."""
        num_new = max(0, max_parallel - len(self._active))
        active = np.concatenate([self._active, self._waiting[:num_new]])
        self._waiting = self._waiting[num_new:]
        # In a game of one player, where 0 is always to move, this gives A every other game alone.
        a_to_move = self._game.players(self._states[active]) == active % 2
        for side, indices in enumerate((active[a_to_move], active[~a_to_move])):
            if len(indices):
                self._move(side, indices)
        self._active = active[np.isnan(self._scores[active])]

    def _move(self, side: int, indices: np.ndarray) -> None:
        """Let a player, 0 for A, move in the games at ``indices``."""
        player, states = self._players[side], self._states[indices]
        if hasattr(player, "choose_after"):
            choice = player.choose_after([self._moves[index] for index in indices], states)
        else:
            choice = player.choose(states)
        actions = np.asarray(choice.actions)
        resigns = actions == RESIGN
        self._scores[indices[resigns]] = side
        self.num_finished += int(resigns.sum())
        indices, states, actions = (each[~resigns] for each in (indices, states, actions))
        self._record_moves(player, indices, actions)
        transition = self._game.step(states, actions)
        self._states[indices] = transition.states
        # Results are the viewpoint of the player to move at the end; scores are player A's.
        sign = np.where(transition.players == indices % 2, 1.0, -1.0)
        over = transition.over
        self.num_finished += int(over.sum())
        self._scores[indices[over]] = (1.0 + sign[over] * transition.results[over]) / 2.0

    def _record_moves(self, player: Player, indices: np.ndarray, actions: np.ndarray) -> None:
        legal = self._game.legal_action_mask(self._states[indices])
        for row, (index, action) in enumerate(zip(indices, actions)):
            if not (0 <= action < self._game.num_actions and legal[row, action]):
                raise ValueError(
                    f"player {player.name} chose action {action}, "
                    f"which is illegal after the moves {self._moves[index]}."
                )
            self._moves[index].append(int(action))
