"""Our players as bots of OpenSpiel, such as `pyspiel.evaluate_bots` takes.

In: a game of OpenSpiel and a player specification. Out: a `pyspiel.Bot`. The bot reads the actions
so far from the state that it is asked about, and remembers nothing.
"""

from typing import Any

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.own_games.adapters.open_spiel_game import load_game, require_open_spiel
from alphazero.own_games.registry import make_game
from alphazero.players.base import Choice, Player, PlayerSettings
from alphazero.players.registry import make_player

require_open_spiel()  # before the import below, to say what to install if it would fail

import pyspiel  # noqa: E402


def make_bot(
    game: Any, spec: str, settings: PlayerSettings | None = None, rules: str | None = None
) -> "PlayerBot":
    """Return one of our players as a bot.

    Args:
        game: OpenSpiel's.
        spec, settings: see `alphazero.players.registry.make_player`.
        rules: the name of the same game of ours, such as ``connect_four`` or ``othello``, for its
            networks and compiled rules; None uses OpenSpiel's rules.

    Raises:
        ConfigError: if the game does not qualify, or there is no such player.
    """
    own = make_game(rules) if rules else load_game(str(game))
    return PlayerBot(make_player(spec, own, settings), own)


class PlayerBot(pyspiel.Bot):
    """One of our players as a bot.

    Args:
        player: made for ``game``.
        game: ``open_spiel:...``, or the same game of ours: actions have the same numbers or, where
            the usual set-up is ours with mirrored columns, mirrored ones.
    """

    def __init__(self, player: Player, game: Game):
        super().__init__()
        self.player, self.game = player, game
        self._theirs = _their_actions(game)

    def step(self, state: Any) -> int:
        """Return an action.

        Raises:
            ValueError: if the state's actions contradict the player's rules.
        """
        return self._action(self._choice(state))

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Return the weights of the legal actions, as (action, weight), and an action."""
        choice = self._choice(state)
        return self._policy(state, choice), self._action(choice)

    def provides_policy(self) -> bool:
        return True

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        return self._policy(state, self._choice(state))

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """Ignore the action: the next state names it."""

    def restart(self) -> None:
        """Do nothing: nothing is remembered."""

    def restart_at(self, state: Any) -> None:
        """Do nothing: nothing is remembered."""

    def _choice(self, state: Any) -> Choice:
        game = self.game
        position = game.play_moves(self._theirs[state.history()].tolist())
        legal = np.flatnonzero(game.legal_action_mask(position[None])[0][self._theirs])
        if legal.tolist() != state.legal_actions():
            raise ValueError(f"the legal actions contradict the rules of {game.name} here.")
        return self.player.choose(position[None])

    def _action(self, choice: Choice) -> int:
        return int(self._theirs[choice.actions[0]])

    def _policy(self, state: Any, choice: Choice) -> list[tuple[int, float]]:
        weights = choice.action_weights[0][self._theirs]
        return [(action, float(weights[action])) for action in state.legal_actions()]


def _their_actions(game: Game) -> np.ndarray:
    """Return OpenSpiel's numbers of our actions, int[A]; the same table leads back."""
    actions, (height, width) = np.arange(game.num_actions), game.planes_shape[1:]
    if game.appearance.has_standard_setup:
        squares = actions[: height * width].reshape(height, width)
        squares[:] = squares[:, ::-1].copy()
    return actions
