"""Play a match of paired games between two players, and return a `MatchReport`.

Both games of a pair start from the same opening; each player moves first in one of them, so that an
unbalanced opening favours neither. In a one-player game, each player plays one game of
the pair alone, and the better result wins the pair. Openings differ from pair to pair, so that
deterministic players do not repeat one game. This module does not depend on networks, files or
consoles.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.openings import Openings
from alphazero.evaluation.report import PAIR_SCORES, MatchGame, MatchReport, count_pair, pair_score
from alphazero.games.batched_game import Game
from alphazero.players.base import RESIGN, Player
from alphazero.runtime.errors import ConfigError

# A match that may stop early starts with at most this many parallel games, or one batch if smaller.
# Later it runs as many as have been counted, so that few games are played and then discarded.
FIRST_GAMES = 16


class MatchProgress(NamedTuple):
    """The state of a match in progress.

    Wins, draws and losses are those of player A in the finished games or, in a one-player game,
    in the pairs counted so far.
    """

    num_finished: int  #: number of games finished so far
    num_games: int  #: number of games in the whole match
    wins: int
    draws: int
    losses: int
    pair_counts: tuple[float, ...]  #: see `MatchReport.pair_counts`, over the pairs counted so far


def play_match(
    game: Game,
    player_a: Player,
    player_b: Player,
    num_games: int,
    openings: Openings,
    *,
    progress: Callable[[MatchProgress], None] | None = None,
    should_stop: Callable[[Sequence[float]], bool] | None = None,
) -> MatchReport:
    """Play a match of paired games, with colours swapped within each pair, and report the results.

    With ``should_stop``, a match may end early. Pairs are counted in the order of their openings,
    not in the order in which they finish, because short games may be won more often than long ones.
    Games after the last counted pair are discarded, so the number of parallel games does not affect
    the report unless the players' moves depend on it.

    Args:
        player_a: the player from whose viewpoint the match is reported.
        player_b: the opponent.
        num_games: maximum number of games to play; must be even. Games 2i and 2i + 1 share an
            opening, and player A moves first in game 2i.
        openings: how to sample the openings; their seed is independent of the players' seeds.
        progress: called with the current state of the match whenever games have finished.
        should_stop: called after each counted pair with the numbers of pairs so far in which player
            A's mean score was 0, 1/4, 1/2, 3/4 and 1; if the result is True, the match ends.

    Returns:
        The results of all counted pairs, from player A's viewpoint.

    Raises:
        ConfigError: if ``num_games`` is odd or less than 2, or no openings can be sampled because
            random games end too early.
        ValueError: if a player chooses an illegal move.
    """
    match = Match(game, player_a, player_b, num_games, openings)
    match.play(progress, should_stop)
    return match.report()


class Match:
    """The games of a match, many of them advancing in lockstep.

    Unlike `play_match`, it can also report a match that an error or Ctrl-C has ended.

    Args:
        player_a, player_b, num_games, openings: as in `play_match`, which raises the same errors.
    """

    def __init__(
        self, game: Game, player_a: Player, player_b: Player, num_games: int, openings: Openings
    ):
        if num_games < 2 or num_games % 2:
            raise ConfigError.of("num_games", num_games, "an even number, 2 or more")
        self.num_finished = 0
        self.num_counted = 0  # number of games in counted pairs; the games before this index
        self._game = game
        self._players = player_a, player_b
        self._openings = openings
        lines = openings.sample(game, num_games // 2)
        self._moves = [list(line) for line in lines for _ in range(2)]
        starts = np.stack([game.play_moves(line) for line in lines])
        self._states = starts.repeat(2, axis=0)
        self._scores = np.full(num_games, np.nan)  # player A's points; nan while a game goes on
        self._pair_counts = [0.0] * len(PAIR_SCORES)
        self._stopped = False  # whether the last counted pair ends the match
        self._active = np.arange(0)  # indices of the games that are played now
        self._waiting = np.arange(num_games)  # indices of the games that have not begun

    def play(
        self,
        progress: Callable[[MatchProgress], None] | None = None,
        should_stop: Callable[[Sequence[float]], bool] | None = None,
    ) -> None:
        """Play all games, or until ``should_stop`` ends the match; arguments as in `play_match`."""
        max_parallel = max(player.batch_size for player in self._players)
        while not self._stopped and len(self._active) + len(self._waiting):
            num_before = self.num_finished
            if should_stop is None:
                self._play_ply(max_parallel)
            else:
                self._play_ply(min(max_parallel, max(FIRST_GAMES, self.num_counted)))
            self._count_pairs(should_stop)
            if progress is not None and self.num_finished > num_before:
                progress(self._progress())

    def report(self) -> MatchReport:
        """Report the pairs counted so far, in the order of their openings."""
        games = []
        for index in range(self.num_counted):
            moves = tuple(self._moves[index])
            score = float(self._scores[index])
            games.append(MatchGame(moves, index % 2 == 0, score, index // 2))
        return MatchReport(
            self._game.name,
            self._players[0].name,
            self._players[1].name,
            self._openings.plies,
            self._openings.seed,
            tuple(games),
            self._game.num_players,
            self._openings.solver is not None,
        )

    def _progress(self) -> MatchProgress:
        scores = self._scores
        counts = tuple(self._pair_counts)
        tally = counts[::-2]
        if self._game.num_players == 2:
            tally = (scores > 0.5).sum(), (scores == 0.5).sum(), (scores < 0.5).sum()
        wins, draws, losses = map(int, tally)
        return MatchProgress(self.num_finished, len(scores), wins, draws, losses, counts)

    def _play_ply(self, max_parallel: int) -> None:
        """Start games until ``max_parallel`` are active, then play one move in each active game."""
        num_new = max(0, max_parallel - len(self._active))
        active = np.concatenate([self._active, self._waiting[:num_new]])
        self._waiting = self._waiting[num_new:]
        # In a one-player game, 0 is always to move: A plays every second game, B the others.
        a_to_move = self._game.players(self._states[active]) == active % 2
        for side, indices in enumerate((active[a_to_move], active[~a_to_move])):
            if len(indices):
                self._move(side, indices)
        self._active = active[np.isnan(self._scores[active])]

    def _count_pairs(self, should_stop: Callable[[Sequence[float]], bool] | None) -> None:
        """Count finished pairs in the order of their openings, up to the first unfinished one.

        Args:
            should_stop: called after each counted pair with the numbers of pairs so far by player
                A's score (see `play_match`); the match ends when the result is True. If None, it
                never ends early.
        """
        while not self._stopped and self.num_counted < len(self._scores):
            points = self._scores[self.num_counted : self.num_counted + 2]
            if np.isnan(points).any():
                return
            self.num_counted += 2
            score = pair_score(points.tolist(), self._game.num_players)
            count_pair(self._pair_counts, score)
            self._stopped = should_stop is not None and should_stop(tuple(self._pair_counts))

    def _move(self, side: int, indices: np.ndarray) -> None:
        """Play one player's move in each of the given games; record the moves and any final scores.

        Args:
            side: the player who moves: 0 for player A, 1 for player B.
            indices: int64[B], the indices of the games in which this player is to move.

        Raises:
            ValueError: if the player chooses an illegal move.
        """
        player = self._players[side]
        states = self._states[indices]
        if hasattr(player, "choose_after"):
            choice = player.choose_after([self._moves[index] for index in indices], states)
        else:
            choice = player.choose(states)
        actions = np.asarray(choice.actions)
        resigns = actions == RESIGN
        self._scores[indices[resigns]] = side
        self.num_finished += int(resigns.sum())
        indices = indices[~resigns]
        states = states[~resigns]
        actions = actions[~resigns]
        self._record_moves(player, indices, actions)
        transition = self._game.step(states, actions)
        self._states[indices] = transition.states
        # Results are from the viewpoint of the player to move at the end; scores are player A's.
        sign = np.where(transition.players == indices % 2, 1.0, -1.0)
        over = transition.over
        self.num_finished += int(over.sum())
        results = sign[over] * transition.results[over]
        self._scores[indices[over]] = (1.0 + results) / 2.0

    def _record_moves(self, player: Player, indices: np.ndarray, actions: np.ndarray) -> None:
        legal = self._game.legal_action_mask(self._states[indices])
        for row, (index, action) in enumerate(zip(indices, actions)):
            is_action = 0 <= action < self._game.num_actions
            if not is_action or not legal[row, action]:
                raise ValueError(
                    f"player {player.name} chose action {action}, "
                    f"which is illegal after the moves {self._moves[index]}."
                )
            self._moves[index].append(int(action))
