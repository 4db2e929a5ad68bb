"""Keep the moves and positions of a game in progress, so that moves can be taken back.

This module does not depend on players, and draws nothing.
"""

from collections.abc import Callable, Iterable

import numpy as np

from alphazero.games.batched_game import Game


class Session:
    """A game in progress, with all its positions so far.

    Args:
        game: the rules of the game.
        actions: moves already played from ``start``.
        start: the position before these moves, an array of K state words; None means the start of
            the game.

    Raises:
        ValueError: if one of the moves is illegal; the message says where in the list it is.
    """

    def __init__(self, game: Game, actions: Iterable[int] = (), start: np.ndarray | None = None):
        actions = list(actions)
        self.game = game
        game.play_moves(actions, start)
        self.actions: list[int] = []
        self.states = [game.initial_states()[0] if start is None else start]
        for action in actions:
            self.play(int(action))

    @property
    def state(self) -> np.ndarray:
        """The current position, an array of K state words."""
        return self.states[-1]

    @property
    def previous_state(self) -> np.ndarray | None:
        """The position before the last move (K state words); None before the first move."""
        return self.states[-2] if self.actions else None

    @property
    def last_action(self) -> int | None:
        """The action of the last move; None before the first move."""
        return self.actions[-1] if self.actions else None

    @property
    def over(self) -> bool:
        """Whether the game is over in the current position."""
        return bool(self.game.over(self.state[None])[0])

    @property
    def player(self) -> int:
        """The player to move: 0 for the player who began the game, or 1."""
        return self.player_at(len(self.actions))

    def player_at(self, ply: int) -> int:
        """Return the player to move, 0 or 1, after the first ``ply`` moves."""
        return int(self.game.players(self.states[ply][None])[0])

    @property
    def result(self) -> float:
        """The result of a finished game for the player who began it, in [-1, 1]."""
        inspected = self.game.inspect(self.state[None])
        sign = 1 if inspected.players[0] == 0 else -1
        return sign * float(inspected.results[0]) + 0.0  # turns -0 into 0

    @property
    def winner(self) -> int | None:
        """The winner of a finished game.

        It is 0 for the player who began the game, 1 for the other, and None for a draw.
        """
        if self.result == 0.0:
            return None
        return int(self.result < 0)

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions in the current position."""
        return self.legal_actions_at(len(self.actions))

    def legal_actions_at(self, ply: int) -> list[int]:
        """Return the legal actions after the first ``ply`` moves."""
        mask = self.game.legal_action_mask(self.states[ply][None])[0]
        return np.flatnonzero(mask).tolist()

    def play(self, action: int) -> None:
        """Play a move, whose resulting position becomes the current one.

        Raises:
            ValueError: if the action is not legal in the current position.
        """
        self.game.check_legal(self.state, action)
        after = self.game.step(self.state[None], np.array([action]))
        self.states.append(after.states[0])
        self.actions.append(action)

    def is_forced_pass(self, ply: int | None = None) -> bool:
        """Return whether the only legal action is a pass, which leaves the board as it is.

        Args:
            ply: number of moves before the position; None means the current position.
        """
        if ply is None:
            ply = len(self.actions)
        legal = self.legal_actions_at(ply)
        if len(legal) != 1:
            return False
        before = self.states[ply]
        after = self.game.step(before[None], np.array(legal)).states[0]
        is_visible = self.game.drawn(before) is not None or bool(self.game.cells(before).any())
        return is_visible and self.game.state_to_text(before) == self.game.state_to_text(after)

    def take_back(self, is_human: Callable[[int], bool]) -> int:
        """Take back moves to the latest position in which a person was to move.

        Positions in which the person could only pass are skipped.

        Args:
            is_human: returns whether a player (0 or 1) is a person.

        Returns:
            The number of moves taken back; 0, with nothing changed, if there is no such position.
        """
        for ply in range(len(self.actions) - 1, -1, -1):
            if is_human(self.player_at(ply)) and not self.is_forced_pass(ply):
                num_taken_back = len(self.actions) - ply
                del self.actions[ply:]
                del self.states[ply + 1 :]
                return num_taken_back
        return 0
