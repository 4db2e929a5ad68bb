"""Make the players for `alphazero rate`, and choose the names under which they are stored.

Each call of the command adds games to those in ratings.json, so it must give every player the same
name as earlier calls.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from alphazero.evaluation.ratings import RatingFile
from alphazero.games.batched_game import Game
from alphazero.network.weights import load_network, network_info
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.registry import has_network, make_player, network_path, read_spec
from alphazero.runtime.errors import StoredFileError
from alphazero.runtime.random_generators import child_generator
from alphazero.storage.pretrained import is_shipped
from alphazero.storage.run_folder import RunFolder, find_network

_LIMITS = ("num_simulations", "time_limit_s")


def choose_networks(folder: RunFolder, num_networks: int) -> list[Path]:
    """Choose evenly spaced networks of a run and return their paths, oldest first.

    The newest stored network is always chosen, and so is the oldest if at least two are chosen.

    Args:
        folder: the run's folder.
        num_networks: number of networks to choose; if the run has fewer, all are chosen.

    Raises:
        StoredFileError: if the run has no networks.
    """
    paths = sorted((folder.path / "networks").glob("*.safetensors"))
    if not paths:
        message = f"'{folder.path}' holds no networks/*.safetensors to rate."
        raise StoredFileError(message, path=folder.path)
    indices = np.linspace(len(paths) - 1, 0, num_networks).round().astype(int)
    return [paths[index] for index in sorted({*indices})]


def make_players(
    networks: list[Path],
    specs: Sequence[str],
    game: Game,
    settings: PlayerSettings,
    file: RatingFile,
) -> dict[str, Player]:
    """Make the players to rate, and record in ``file`` which of them are networks of the run.

    Args:
        networks: paths of the run's networks to rate.
        specs: specifications of the other players.
        game: the game that they play.
        settings: settings of the networks' players; the seeds of all players are derived from
            ``settings.seed``.
        file: the contents of the run's ratings.json, to which the networks' names are added.

    Returns:
        {name in ratings.json: player}.

    Raises:
        ConfigError: if a player does not exist.
    """
    spec_of = {player_name(spec, game, settings): spec for spec in specs}
    for path in networks:
        info = load_network(path).info
        name = f"network {info.get('iteration', 0)}, {settings.num_simulations} simulations"
        file.networks[name] = {
            "iteration": info.get("iteration", 0),
            "elapsed_s": info.get("elapsed_s", 0),
        }
        spec_of[name] = str(path)
    players = {}
    for name, spec in spec_of.items():
        # The number of games is part of the seed: a later call must not repeat random numbers.
        generator = child_generator(settings.seed, f"{name} after {file.num_games}")
        seed = int(generator.integers(2**62))
        own = dataclasses.replace(_limited(spec, settings), seed=seed)
        players[name] = make_player(spec, game, own)
    return players


def player_name(spec: str, game: Game, settings: PlayerSettings) -> str:
    """Return the name under which ratings.json stores the player that a specification describes.

    All specifications of the same player give the same name. A network's name contains its file and
    its search limits.

    Args:
        spec: the player's specification.
        game: the game to play.
        settings: search limits and other settings for what ``spec`` leaves open.

    Raises:
        ConfigError: if there is no such player.
    """
    kind, own = read_spec(spec, _limited(spec, settings))
    if kind == "uct":
        return make_player(spec, game, own).name
    path = network_path(kind, game.name, game.rules_digest)
    if path is None:
        return spec
    parts = [_network_name(find_network(path))]
    for key in _LIMITS:
        value = getattr(own, key)
        if value is not None:
            parts.append(f"{key}={value}")
    for word in spec.split(",")[1:]:
        if word.partition("=")[0] not in _LIMITS:
            parts.append(word)
    return ",".join(parts)


def _network_name(path: Path) -> str:
    """Return the name under which ratings.json stores the network in a file.

    It is the path of the file. A shipped network, whose file a later version may replace, is named
    after its run and iteration, such as "best (RUN/000012)".
    """
    if not is_shipped(path):
        return str(path)
    info = network_info(path)
    return f"best ({info.get('run', '?')}/{info.get('iteration', 0):06d})"


def _limited(spec: str, settings: PlayerSettings) -> PlayerSettings:
    """Return the settings for a player, without ``num_simulations`` if the player has no network.

    Args:
        spec: the player's specification.
        settings: settings for all players, whose ``num_simulations`` is meant for networks only.
    """
    kind, _ = read_spec(spec)
    if not has_network(kind):
        return dataclasses.replace(settings, num_simulations=None)
    return settings
