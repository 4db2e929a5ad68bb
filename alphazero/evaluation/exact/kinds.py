"""The kind of a position: a win with the next move, a forced block, or neither.

In: positions of any game. Out: a label for each, from a search two plies deep.
Shapes: N positions, K state words, A actions, M legal moves of all positions.
"""

from typing import NamedTuple

import numpy as np

from alphazero.games.batched_game import Game, Transition

IMMEDIATE = "win at once"  #: some move wins the game
#: No move wins at once, and all moves but one lose at once or let the opponent win with the reply.
FORCED = "forced block"
QUIET = "quiet"  #: all others
KINDS = (QUIET, FORCED, IMMEDIATE)


class _LegalMoves(NamedTuple):
    """All legal moves of some positions, and what follows them."""

    rows: np.ndarray  # int64[M], the position of each move
    following: Transition
    results: np.ndarray  # float32[M], for the player who moved; 0 while the game goes on


def kinds_of(game: Game, states: np.ndarray) -> np.ndarray:
    """Return str[N]: the kind of each of ``states`` ([N, K], none final), one of `KINDS`."""
    legal = game.legal_action_mask(states)
    rows, following, results = _legal_moves(game, states, legal)
    winning = np.zeros(len(states), bool)
    winning[rows[results > 0]] = True
    # The moves after which the opponent is to move: a reply may win. (After a move that makes the
    # opponent pass, the same player moves again.)
    open_moves = np.flatnonzero(~following.over & (following.players != game.players(states)[rows]))
    replies = _legal_moves(
        game, following.states[open_moves], following.legal_action_mask[open_moves]
    )
    losing = results < 0
    losing[open_moves[replies.rows[replies.results > 0]]] = True
    num_safe = np.bincount(rows[~losing], minlength=len(states))
    forced = ~winning & (num_safe == 1) & (legal.sum(axis=1) > 1)
    return np.where(winning, IMMEDIATE, np.where(forced, FORCED, QUIET))


def _legal_moves(game: Game, states: np.ndarray, legal_action_mask: np.ndarray) -> _LegalMoves:
    """Play every legal action of ``states``, [N, K]."""
    rows, actions = np.nonzero(legal_action_mask)
    following = game.step(states[rows], actions)
    signs = np.where(following.players == game.players(states)[rows], 1, -1)
    return _LegalMoves(rows, following, signs * following.results)
