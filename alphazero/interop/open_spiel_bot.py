"""Use players of this package as OpenSpiel bots, in functions such as `pyspiel.evaluate_bots`.

A bot replays the actions so far from each OpenSpiel state, and remembers nothing between moves.
"""

from typing import Any

import numpy as np

from alphazero.games.batched_game import Game
from alphazero.own_games.adapters.open_spiel_game import load_game
from alphazero.own_games.registry import make_game
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.registry import make_player
from alphazero.runtime.errors import require

require("open_spiel", "pyspiel")  # before the import below, to explain what to install

import pyspiel  # noqa: E402


def make_bot(
    game: Any, spec: str, settings: PlayerSettings | None = None, rules: str | None = None
) -> "PlayerBot":
    """Make one of this package's players and wrap it as an OpenSpiel bot.

    Args:
        game: OpenSpiel's game object.
        spec: the player's specification, such as "uct:500"; see
            `alphazero.players.registry.make_player`.
        settings: the player's settings, such as its number of simulations; None means the defaults.
        rules: the name of this package's version of the game, such as ``connect_four`` or
            ``othello``, whose networks and compiled rules are then used; None means OpenSpiel's
            rules.

    Raises:
        ConfigError: if the game is not supported, or there is no such player.
    """
    own = make_game(rules) if rules else load_game(str(game))
    return PlayerBot(make_player(spec, own, settings), own)


class PlayerBot(pyspiel.Bot):
    """Wraps one of this package's players as an OpenSpiel bot.

    Args:
        player: a player made for ``game``.
        game: an OpenSpiel game, loaded as ``open_spiel:NAME``, or this package's version of it. Its
            actions have the same numbers as OpenSpiel's, except in Othello, whose columns are
            mirrored.
    """

    def __init__(self, player: Player, game: Game):
        super().__init__()
        self.player = player
        self.game = game
        self._theirs = _their_actions(game)

    def step(self, state: Any) -> int:
        """Return OpenSpiel's number of the action that the player chooses in a state.

        Args:
            state: OpenSpiel's state, in which the game is not over.

        Raises:
            ValueError: if the state's moves or legal actions contradict the rules of the player's
                game.
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
        """Do nothing when the opponent has moved, because the next state contains the move."""

    def restart(self) -> None:
        """Do nothing at the start of a game, because the bot keeps no state."""

    def restart_at(self, state: Any) -> None:
        """Do nothing when a game continues from another state, because the bot keeps no state."""


def _their_actions(game: Game) -> np.ndarray:
    """Return OpenSpiel's number of each action, int[A]; the table is its own inverse."""
    actions = np.arange(game.num_actions)
    height, width = game.planes_shape[1:]
    if game.appearance.has_standard_setup:
        squares = actions[: height * width].reshape(height, width)
        squares[:] = squares[:, ::-1].copy()
    return actions
