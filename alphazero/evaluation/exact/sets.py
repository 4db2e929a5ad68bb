"""Exact evaluation sets: positions with the exact score of every move.

`make_set` builds an `EvaluationSet` from positions and scores, and derives further properties, such
as whether a position is a win at once, a forced block or quiet.
`alphazero.evaluation.exact.set_file` reads sets from files.

Shapes: N positions, K state words, A actions.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from alphazero.games.batched_game import Game, Transition
from alphazero.solvers.base import values_of

#: Where positions come from: games of random moves, or strong play with some random moves.
SOURCES = ("random", "strong")

IMMEDIATE = "win at once"  #: kind of a position in which some move wins at once
#: Kind of a position in which no move wins at once, and every move except one loses at once or
#: lets the opponent win with the reply.
FORCED = "forced block"
QUIET = "quiet"  #: kind of all other positions
KINDS = (QUIET, FORCED, IMMEDIATE)


@dataclasses.dataclass(frozen=True)
class EvaluationSet:
    """N unfinished positions, in each of which some move gives up the best possible result."""

    game_name: str
    states: np.ndarray  #: [N, K], the positions
    #: int16[N, A], exact scores for the player to move; `ILLEGAL_SCORE` for illegal actions.
    action_scores: np.ndarray
    sources: np.ndarray  #: str[N], each one of `SOURCES`
    kinds: np.ndarray  #: str[N], each one of `KINDS`
    #: [M, K], the unfinished positions after a best move. Values are measured there too, because
    #: the player to move never has a lost position in `states`.
    replies: np.ndarray
    reply_values: np.ndarray  #: int8[M], results of perfect play from `replies`, for their mover
    moves: tuple[tuple[int, ...], ...]  #: the actions that lead to each position
    notes: dict[str, str]  #: {key: value} from the comments in the file, such as the seed

    def __len__(self) -> int:
        return len(self.states)

    @property
    def plies(self) -> np.ndarray:
        """int32[N], the number of moves from the start of the game to each position."""
        return np.array([len(line) for line in self.moves], np.int32)

    @property
    def values(self) -> np.ndarray:
        """int8[N], the result of perfect play for the player to move: 1 win, 0 draw, -1 loss."""
        return values_of(self.action_scores.max(axis=1))


def make_set(
    game: Game,
    states: np.ndarray,
    action_scores: np.ndarray,
    sources: Sequence[str],
    moves: Sequence[tuple[int, ...]],
    notes: dict[str, str],
) -> EvaluationSet:
    """Make an evaluation set from positions and their exact scores, deriving the other fields.

    Args:
        states: [N, K], unfinished positions.
        action_scores: int16[N, A], the exact score of each action for the player to move;
            `ILLEGAL_SCORE` for illegal actions.
        sources: how each position was sampled: "random" moves or "strong" play.
        moves: the actions that lead to each position.
        notes: the notes in the comments of the set's file by key, such as "seed".
    """
    after = game.step(states, action_scores.argmax(axis=1))
    reply_values = _signs(game, states, after) * values_of(action_scores.max(axis=1))
    return EvaluationSet(
        game_name=game.name,
        states=states,
        action_scores=action_scores,
        sources=np.array(sources),
        kinds=kinds_of(game, states),
        replies=after.states[~after.over],
        reply_values=reply_values[~after.over].astype(np.int8),
        moves=tuple(moves),
        notes=notes,
    )


def kinds_of(game: Game, states: np.ndarray) -> np.ndarray:
    """Classify each position as a win at once, a forced block, or quiet.

    Args:
        states: [N, K], unfinished positions.

    Returns:
        str[N], each "win at once", "forced block" or "quiet", as in `KINDS`.
    """
    legal = game.legal_action_mask(states)
    rows, following, results = _after_legal_moves(game, states, legal)
    winning = np.zeros(len(states), bool)
    winning[rows[results > 0]] = True
    # Only after these moves may the opponent's reply win. (After a move that makes the opponent
    # pass, the same player moves again.)
    passes_turn = _signs(game, states[rows], following) < 0
    open_moves = np.flatnonzero(~following.over & passes_turn)
    reply_rows, _, reply_results = _after_legal_moves(
        game, following.states[open_moves], following.legal_action_mask[open_moves]
    )
    losing = results < 0
    losing[open_moves[reply_rows[reply_results > 0]]] = True
    num_safe = np.bincount(rows[~losing], minlength=len(states))
    forced = ~winning & (num_safe == 1) & (legal.sum(axis=1) > 1)
    return np.where(winning, IMMEDIATE, np.where(forced, FORCED, QUIET))


def _after_legal_moves(
    game: Game, states: np.ndarray, legal_action_mask: np.ndarray
) -> tuple[np.ndarray, Transition, np.ndarray]:
    """Play every legal action in each of N positions, and return the M positions that follow.

    Args:
        states: [N, K], unfinished positions.
        legal_action_mask: bool[N, A], True for the legal actions.

    Returns:
        For each of the M moves, the row of its position (int64[M]), the `Transition` after it, and
        the result for the player who moved (float32[M], 0 while the game goes on).
    """
    rows, actions = np.nonzero(legal_action_mask)
    following = game.step(states[rows], actions)
    return rows, following, _signs(game, states[rows], following) * following.results


def _signs(game: Game, states: np.ndarray, following: Transition) -> np.ndarray:
    """Return 1 where the same player is to move before and after a move, otherwise -1.

    The signs convert results after the move to the viewpoint of the player who made it.

    Args:
        states: [N, K], the positions before the moves.
        following: the positions after the moves.

    Returns:
        int[N].
    """
    return np.where(following.players == game.players(states), 1, -1)
