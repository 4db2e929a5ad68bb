"""The arena: two players meet in paired games, and the report says how sure the result is.

In: a game and two players. Out: a `MatchReport`. Each pair of games starts from one random opening that both players get once with the first
move and once without, so that a lucky opening favours nobody; openings differ from pair to pair as far as the game allows, so that n games
are n different games even between players without any randomness. The arena knows nothing of networks, files or consoles.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from alphazero.evaluation.report import MatchGame, MatchReport
from alphazero.games.batched_game import Game
from alphazero.players.base import Player
from alphazero.runtime.random_generators import child_generator

__all__ = ["MatchGame", "MatchProgress", "MatchReport", "draw_openings", "play_match"]

# Candidates drawn for each opening; the one whose position has served least often is taken.
CANDIDATES = 64
# Draws of so many candidates, where only some of them will do, before it is taken that there are none.
_ROUNDS = 20

#: From positions ([N, K], none finished) to bool[N].
Accept = Callable[[np.ndarray], np.ndarray]
# Games that a match which may end early begins with at once, at most; later as many as have been counted, so that few are played in vain.
FIRST_GAMES = 16


class MatchProgress(NamedTuple):
    """How far a match is."""

    num_finished: int
    num_games: int
    wins: int  #: of player A
    draws: int
    losses: int


def play_match(
    game: Game,
    player_a: Player,
    player_b: Player,
    num_games: int,
    opening_plies: int = 4,
    seed: int = 0,
    progress: Callable[[MatchProgress], None] | None = None,
    decide: Callable[[Sequence[int]], bool] | None = None,
    first_opening: int = 0,
    accept: Accept | None = None,
) -> MatchReport:
    """Play ``num_games`` games between two players, in pairs with colours swapped.

    With ``decide``, a match may end early. Pairs are counted in the order of their openings, not in that of their ends, since games that end
    soon may be won more often than others. Several games run at once, so some are begun in vain: whatever lies behind the deciding pair
    is left out of the report. So the number of games at once has no say in the result, unless the players' answers depend on it.

    Args:
        num_games: even; game 2i and game 2i + 1 share an opening, and player A moves first in the former.
        opening_plies: random legal moves that each opening consists of.
        seed: of the openings; the players bring their own.
        progress: called whenever games have finished.
        decide: asked after every pair, with the number of pairs so far in which player A scored 0, 1/4, 1/2, 3/4 and all of the points;
            True ends the match with that pair.
        first_opening: how many openings of this seed earlier matches have used; this one goes on with the next.
        accept: which positions may be the end of an opening; without it, all that are not finished.

    Raises:
        ValueError: with one plain sentence for an odd number of games, for openings so long that the game is over, or if a player's move is
            not legal.
    """
    if num_games < 2 or num_games % 2:
        raise ValueError(
            f"a match needs an even number of games, 2 or more, since colours alternate: {num_games} is not."
        )
    openings = draw_openings(game, first_opening + num_games // 2, opening_plies, seed, accept)[
        first_opening:
    ]
    table = _Table.of(game, openings)
    batch_size = max(player_a.batch_size, player_b.batch_size)
    active, waiting = np.arange(0), np.arange(num_games)
    while (len(active) or len(waiting)) and not table.decided:
        at_once = (
            batch_size if decide is None else min(batch_size, max(FIRST_GAMES, table.num_counted))
        )
        room = max(0, at_once - len(active))
        active, waiting = np.concatenate([active, waiting[:room]]), waiting[room:]
        active = _play_ply(game, (player_a, player_b), table, active)
        if progress is not None and table.news:
            table.news = False
            progress(table.progress())
        table.count_pairs(decide)
    games = tuple(
        MatchGame(
            tuple(table.moves[index]), index % 2 == 0, float(table.scores[index]), int(index // 2)
        )
        for index in range(table.num_counted)
    )
    return MatchReport(game.name, player_a.name, player_b.name, opening_plies, seed, games)


def draw_openings(
    game: Game, num_openings: int, plies: int, seed: int, accept: Accept | None = None
) -> list[tuple[int, ...]]:
    """Draw openings of ``plies`` random legal moves, none of them finished, that lead to different positions as far as possible.

    Where there are fewer positions than openings, each serves about equally often.

    Args:
        accept: see `play_match`.

    Raises:
        ValueError: if no random game of this length is still unfinished, or none of many is accepted.
    """
    generator = child_generator(seed, "openings")
    served: dict[bytes, int] = {}
    openings = []
    for _ in range(num_openings):
        # One candidate at first: as long as positions are plentiful, the second draw is rarely needed.
        best = None
        for num in (1, CANDIDATES) if accept is None else (CANDIDATES,) * _ROUNDS:
            moves, states = _random_openings(game, num, plies, generator)
            if accept is not None:
                accepted = accept(states)
                moves, states = moves[accepted], states[accepted]
            keys = [state.tobytes() for state in states]
            candidates = sorted((served.get(key, 0), index) for index, key in enumerate(keys))
            if candidates and (best is None or candidates[0][0] < best[0]):
                best = (
                    candidates[0][0],
                    keys[candidates[0][1]],
                    tuple(map(int, moves[candidates[0][1]])),
                )
            if best is not None and best[0] == 0:
                break
        if best is None and accept is not None:
            raise ValueError(
                f"none of {_ROUNDS * CANDIDATES:,} random openings of {plies} plies is of the wanted kind: try other opening_plies."
            )
        if best is None:
            raise ValueError(
                f"opening_plies={plies} is too long: {game.name} is over before {plies} random moves have been made."
            )
        served[best[1]] = best[0] + 1
        openings.append(best[2])
    return openings


def _random_openings(
    game: Game, num: int, plies: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the moves (int32[n, plies]) and positions ([n, K]) of up to ``num`` random games that are unfinished after ``plies`` plies."""
    states, moves = game.initial_states(num), np.zeros((num, 0), np.int32)
    for _ in range(plies):
        mask = game.legal_action_mask(states)
        actions = np.where(mask, generator.random(mask.shape), -1.0).argmax(axis=1).astype(np.int32)
        transition = game.step(states, actions)
        alive = ~transition.over
        states, moves = transition.states[alive], np.column_stack([moves, actions])[alive]
    return moves, states


@dataclass
class _Table:
    """The games of a match while they are played."""

    states: np.ndarray  # [num_games, K]
    moves: list[list[int]]
    scores: np.ndarray  # float64[num_games], player A's points of each finished game, nan before
    news: bool = field(default=False)  # whether a game has finished since the last report
    num_counted: int = field(
        default=0
    )  # games of the pairs that have been counted: all before it have finished
    pair_counts: list[int] = field(
        default_factory=lambda: [0] * 5
    )  # counted pairs in which player A scored 0, 1/4, 1/2, 3/4, 1
    decided: bool = field(default=False)  # whether the match ends with the last counted pair

    @classmethod
    def of(cls, game: Game, openings: list[tuple[int, ...]]) -> "_Table":
        moves = [list(opening) for opening in openings for _ in range(2)]
        states = np.stack([game.play_moves(opening) for opening in openings]).repeat(2, axis=0)
        return cls(states, moves, np.full(len(moves), np.nan))

    def progress(self) -> MatchProgress:
        wins, draws, losses = (int((self.scores == points).sum()) for points in (1.0, 0.5, 0.0))
        return MatchProgress(wins + draws + losses, len(self.scores), wins, draws, losses)

    def count_pairs(self, decide: Callable[[Sequence[int]], bool] | None) -> None:
        """Count the pairs that have finished, in the order of their openings, until ``decide`` ends the match."""
        while not self.decided and self.num_counted < len(self.scores):
            points = self.scores[self.num_counted : self.num_counted + 2].sum()
            if np.isnan(points):
                return
            self.num_counted += 2
            self.pair_counts[round(2 * points)] += 1
            self.decided = decide is not None and decide(tuple(self.pair_counts))


def _play_ply(
    game: Game, players: tuple[Player, Player], table: _Table, active: np.ndarray
) -> np.ndarray:
    """Let each player move in the active games where it is to move; return the indices of those that go on."""
    a_to_move = game.players(table.states[active]) == active % 2
    for player, rows in ((players[0], active[a_to_move]), (players[1], active[~a_to_move])):
        if len(rows):
            _play_rows(game, player, table, rows)
    return active[np.isnan(table.scores[active])]


def _play_rows(game: Game, player: Player, table: _Table, rows: np.ndarray) -> None:
    states = table.states[rows]
    if hasattr(player, "choose_after"):
        choice = player.choose_after([table.moves[index] for index in rows], states)
    else:
        choice = player.choose(states)
    actions = np.asarray(choice.actions)
    legal = game.legal_action_mask(states)
    for row, (index, action) in enumerate(zip(rows, actions)):
        if not (0 <= action < game.num_actions and legal[row, action]):
            raise ValueError(
                f"player {player.name} played {action}, which is not legal after the moves {table.moves[index]}."
            )
        table.moves[index].append(int(action))
    transition = game.step(states, actions)
    table.states[rows] = transition.states
    # The result is the mover's at the end; A's points are (1 + result) / 2 if A is the one to move there, (1 - result) / 2 otherwise.
    sign = np.where(transition.players == rows % 2, 1.0, -1.0)
    over = transition.over
    table.scores[rows[over]] = (1.0 + sign[over] * transition.results[over]) / 2.0
    table.news = table.news or bool(over.any())
