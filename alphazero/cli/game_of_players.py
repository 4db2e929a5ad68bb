"""The game of a command that names none: the game of the first network among its players."""

from alphazero.players.base import PlayerSettings
from alphazero.players.registry import is_path, network_path, read_spec

DEFAULT_GAME = "connect_four"


def game_of_networks(specs, settings: PlayerSettings) -> str | None:
    """Return the game of the first network file or run among the players, None without one.

    Args:
        specs: players as `alphazero.players.registry.make_player` reads them; None is skipped.
        settings: for what the specs leave open.
    """
    for spec in filter(None, specs):
        kind, _ = read_spec(spec, settings)
        if is_path(kind) and (path := network_path(kind, "")):
            from alphazero.players.network import network_file_game

            return network_file_game(path)
    return None
