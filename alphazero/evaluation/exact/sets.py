"""Exact evaluation sets: positions with the exact score of every move.

`make_set` builds an `EvaluationSet` from positions and scores, and derives the positions after the
best moves. `alphazero.evaluation.exact.set_file` reads sets from files.

Shapes: N positions, K state words, A actions.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.solvers.base import values_of


@dataclasses.dataclass(frozen=True)
class EvaluationSet:
    """N unfinished positions, in each of which some move gives up the best possible result."""

    game_name: str
    states: np.ndarray  #: [N, K], the positions
    #: int16[N, A], exact scores for the player to move; `ILLEGAL_SCORE` for illegal actions.
    action_scores: np.ndarray
    sources: np.ndarray  #: str[N], each "random" moves or "strong" play, see `make_set`
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
    # The values after the best moves are for whoever is to move there.
    signs = np.where(after.players == game.players(states), 1, -1)
    reply_values = signs * values_of(action_scores.max(axis=1))
    return EvaluationSet(
        game_name=game.name,
        states=states,
        action_scores=action_scores,
        sources=np.array(sources),
        replies=after.states[~after.over],
        reply_values=reply_values[~after.over].astype(np.int8),
        moves=tuple(moves),
        notes=notes,
    )
