"""What kind of move a position asks for: a win at once, a block, or judgement.

In: positions of any game. Out: a word for each, from a look two moves ahead. Letters for shapes: N positions, K state words, A actions.
"""

import numpy as np

from alphazero.games.game import Game

IMMEDIATE = "win at once"  #: some move wins the game
FORCED = "forced block"  #: no move wins at once, and all but one let the other side win with its next move
QUIET = "quiet"  #: the others: where a player has to know
KINDS = (QUIET, FORCED, IMMEDIATE)


def kinds_of(game: Game, states: np.ndarray) -> np.ndarray:
    """Return str[N]: the kind of each of ``states`` ([N, K], none final), one of `KINDS`."""
    legal = game.legal_action_mask(states)
    rows, following, wins = _wins_at_once(game, states, legal)
    winning = np.zeros(len(states), bool)
    winning[rows[wins]] = True
    # Of the moves that do not end the game, those after which the other side, if it is to move, wins at once.
    open_moves = np.flatnonzero(~following.over & (following.players != game.players(states)[rows]))
    answered, _, wins = _wins_at_once(game, following.states[open_moves], following.legal_action_mask[open_moves])
    losing = np.zeros(len(rows), bool)
    losing[open_moves[answered[wins]]] = True
    num_safe = np.bincount(rows[~losing], minlength=len(states))
    forced = ~winning & (num_safe == 1) & (legal.sum(axis=1) > 1)
    return np.where(winning, IMMEDIATE, np.where(forced, FORCED, QUIET))


def _wins_at_once(game: Game, states: np.ndarray, legal: np.ndarray):
    """Play every legal action: return the rows (int64[M]), what follows, and which actions win the game (bool[M])."""
    rows, actions = np.nonzero(legal)
    following = game.step(states[rows], actions)
    signs = np.where(following.players == game.players(states)[rows], 1, -1)
    return rows, following, following.over & (signs * following.results > 0)
