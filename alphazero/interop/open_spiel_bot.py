"""Our players as OpenSpiel bots, for functions such as `pyspiel.evaluate_bots`.

A bot reads the actions so far from each state, and remembers nothing itself.
"""

from typing import Any

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.own_games.adapters.open_spiel_game import load_game, require_open_spiel
from alphazero.own_games.registry import make_game
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.registry import make_player

require_open_spiel()  # before the import below, to explain what to install

import pyspiel  # noqa: E402


def make_bot(
    game: Any, spec: str, settings: PlayerSettings | None = None, rules: str | None = None
) -> "PlayerBot":
    """Make an OpenSpiel bot that plays as one of our players.

    Args:
        game: OpenSpiel's game object.
        spec, settings: see `alphazero.players.registry.make_player`.
        rules: the name of our version of the game, such as ``connect_four`` or ``othello``, whose
            networks and compiled rules are then used; None uses OpenSpiel's rules.

    Raises:
        ConfigError: if the game does not qualify, or there is no such player.
    """
    own = make_game(rules) if rules else load_game(str(game))
    return PlayerBot(make_player(spec, own, settings), own)


class PlayerBot(pyspiel.Bot):
    """One of our players as an OpenSpiel bot.

    Args:
        player: a player made for ``game``.
        game: ``open_spiel:...``, or our version of the game. Our actions have the same numbers as
            OpenSpiel's, except in Othello, whose columns are mirrored.
    """

    def __init__(self, player: Player, game: Game):
        super().__init__()
        self.player = player
        self.game = game
        self._theirs = _their_actions(game)

    def step(self, state: Any) -> int:
        """Return OpenSpiel's number of the action that the player chooses in a state.

        Raises:
            ValueError: if the state's legal actions contradict the player's rules.
        """
        game = self.game
        position = game.play_moves(self._theirs[state.history()].tolist())
        mask = game.legal_action_mask(position[None])[0]
        legal = np.flatnonzero(mask[self._theirs])
        if legal.tolist() != state.legal_actions():
            raise ValueError(f"the legal actions contradict the rules of {game.name} here.")
        action = self.player.choose(position[None]).actions[0]
        return int(self._theirs[action])

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """Ignore the action: the next state contains it."""

    def restart(self) -> None:
        """Do nothing: the bot keeps no state."""

    def restart_at(self, state: Any) -> None:
        """Do nothing: the bot keeps no state."""


def _their_actions(game: Game) -> np.ndarray:
    """Return OpenSpiel's numbers of our actions, int[A]; the table is its own inverse."""
    actions = np.arange(game.num_actions)
    height, width = game.planes_shape[1:]
    if game.appearance.has_standard_setup:
        squares = actions[: height * width].reshape(height, width)
        squares[:] = squares[:, ::-1].copy()
    return actions
