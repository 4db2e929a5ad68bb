"""What kind of move a position asks for: a win at once, a block, or judgement.

In: positions of any game. Out: a word for each, from a look two moves ahead. Letters for shapes: N positions, K state words, A actions.
"""

import numpy as np

from alphazero.games.batched_game import Game

IMMEDIATE = "win at once"  #: some move wins the game
FORCED = "forced block"  #: no move wins at once, and all but one lose at once or let the other side win with its next move
QUIET = "quiet"  #: the others: where a player has to know
KINDS = (QUIET, FORCED, IMMEDIATE)


def kinds_of(game: Game, states: np.ndarray) -> np.ndarray:
    """Return str[N]: the kind of each of ``states`` ([N, K], none final), one of `KINDS`."""
    legal = game.legal_action_mask(states)
    rows, following, results = _results_at_once(game, states, legal)
    winning = np.zeros(len(states), bool)
    winning[rows[results > 0]] = True
    # Of the moves that do not end the game, those after which the other side, if it is to move, wins at once.
    open_moves = np.flatnonzero(~following.over & (following.players != game.players(states)[rows]))
    answered, _, answers = _results_at_once(
        game, following.states[open_moves], following.legal_action_mask[open_moves]
    )
    losing = results < 0
    losing[open_moves[answered[answers > 0]]] = True
    num_safe = np.bincount(rows[~losing], minlength=len(states))
    forced = ~winning & (num_safe == 1) & (legal.sum(axis=1) > 1)
    return np.where(winning, IMMEDIATE, np.where(forced, FORCED, QUIET))


def _results_at_once(game: Game, states: np.ndarray, legal: np.ndarray):
    """Play every legal action: return the rows (int64[M]), what follows, and the results of the games that end so for who played (float32[M], else 0)."""
    rows, actions = np.nonzero(legal)
    following = game.step(states[rows], actions)
    signs = np.where(following.players == game.players(states)[rows], 1, -1)
    return rows, following, signs * following.results
