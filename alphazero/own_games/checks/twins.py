"""Compare two versions of a game's rules, the game and its twin, by playing the same actions."""

import os
from typing import Any

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.own_games.checks.laws import BrokenLaw, Laws, View


class Twin:
    """A second version of a game's rules, compared with the first one position at a time.

    Args:
        laws: checks the second version.
        game: the first version.

    Raises:
        BrokenLaw: if the sizes of the boards or the numbers of actions differ.
    """

    def __init__(self, laws: Laws, game: Game):
        self.game = laws.game
        self._laws = laws
        self._actions = list[int]()
        self._states = [self.game.initial_states()[0]]  # after 0, 1, 2, ... of these actions
        _check_equal(
            ("board (rows, columns)", game.planes_shape[1:], self.game.planes_shape[1:]),
            ("number of actions", game.num_actions, self.game.num_actions),
        )

    def compare(self, actions: list[int], view: View) -> None:
        """Check the twin's position after some actions against the laws and the game's position.

        Args:
            actions: the actions from the start; all but the last have been compared before.
            view: what the rules of the game return for the position after them.

        Raises:
            BrokenLaw: if the twin breaks a law or differs from the game.
        """
        common = len(os.path.commonprefix([self._actions, actions]))
        del self._states[common + 1 :]
        try:
            for action in actions[common:]:
                self._states.append(self._laws.step(self._states[-1], action))
            other = self._laws.look(self._states[-1], actions)
        except BrokenLaw as error:
            raise BrokenLaw(f"in the twin, {error}") from None
        self._actions = actions[:]
        is_elsewhere = view.board != other.board
        squares = np.flatnonzero(is_elsewhere)
        _check_equal(
            (f"pieces on squares {squares}", *(one.board[is_elsewhere] for one in (view, other))),
            ("is the game over", view.over, other.over),
            ("player to move", view.over or view.player, other.over or other.player),
            ("result of the first player", first_result(view), first_result(other)),
            ("legal in one only", self._texts(view, other), self._texts(other, view)),
        )

    def _texts(self, view: View, other: View) -> str:
        """Return the texts of the actions that are legal in ``view`` but not in ``other``."""
        extra = [action for action in view.legal if action not in other.legal]
        texts = (f"{move_text(self.game, action)} (action {action})" for action in extra)
        return ", ".join(texts) or "nothing"


def _check_equal(*parts: tuple[str, Any, Any]) -> None:
    """Check that game and twin have equal parts, each given as (name, game's, twin's).

    Raises:
        BrokenLaw: if a part differs; the message names the first one that does.
    """
    for name, ours, theirs in parts:
        if np.any(ours != theirs):
            raise BrokenLaw(
                f"game and twin differ: {name}: {ours} in the game, {theirs} in the twin."
            )


def first_result(view: View) -> float:
    """Return the result of a finished game for the first player, in [-1, 1]."""
    return -view.result if view.player else view.result


def move_text(game: Game, action: int) -> str:
    """Format an action in the game's own notation, or as its number if the rules raise an error."""
    try:
        return game.action_to_text(action)
    except Exception:
        return str(action)
