"""The game of a command: the one the user names, else that of its first network."""

import sys

from alphazero.games.batched_game import Game
from alphazero.games.registry import make_game, make_stored_game
from alphazero.players.base import PlayerSettings
from alphazero.players.registry import is_path, network_path, read_spec

DEFAULT_GAME = "connect_four"


def choose_game(named: str | None, specs, settings: PlayerSettings) -> Game:
    """Return the game of a command that takes players.

    Args:
        named: the game that the user names, None if they name none.
        specs, settings: see `game_of_networks`.
    """
    if named is not None:
        game = make_game(named)
        print_notes(game)
        return game
    return game_of_networks(specs, settings) or make_game(DEFAULT_GAME)


def print_notes(game: Game) -> None:
    """Print what looks wrong in the rules of a game of one's own."""
    for note in game.notes:
        print(f"note: {note}", file=sys.stderr)


def game_of_networks(specs, settings: PlayerSettings) -> Game | None:
    """Return the game of the first network file or run among the players, None without one.

    Args:
        specs: players as `alphazero.players.registry.make_player` reads them; None is skipped.
        settings: for what the specs leave open.

    Raises:
        ConfigError: if the network is of a game file, which only the user may name.
    """
    for spec in filter(None, specs):
        kind, _ = read_spec(spec, settings)
        if is_path(kind) and (path := network_path(kind, "")):
            from alphazero.players.network import network_file_game

            return make_stored_game(network_file_game(path), f"the network '{path}'")
    return None
