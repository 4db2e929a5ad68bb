"""Make a player from its specification, such as `uct:1000,uct_c=0.7`, `best` or a network's path.

The caller also gives defaults for the settings that the specification leaves open. The grammar of
specifications:

    specification  = kind {"," setting "=" value}
    kind           = "random" | "uct" | "uct:" simulations | "solver" | "best" | "network"
                   | "latest" | "gtp:" command line | [ "network:" ] path | "human"
                   | "hf:" owner "/" name [ "@" revision ]
                   | module ":" class | name of an entry point of the group `alphazero.players`

Settings are fields of `PlayerSettings`. torch is imported only for a network. To add a player to
this package, add a line to `_PLAYERS`.
"""

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from alphazero.config.command_line import parse_overrides
from alphazero.config.settings import from_plain
from alphazero.games.batched_game import Game
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.gtp import GtpPlayer
from alphazero.players.hub import PREFIX, download
from alphazero.players.python_uct import uct_player
from alphazero.players.solver import SolverPlayer
from alphazero.players.without_search import RandomPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.own_code import PLAYERS, announced, is_module_name, load_own, reason_of
from alphazero.storage.pretrained import shipped_network
from alphazero.storage.run_folder import find_network, runs_of

#: Functions that make the players without a network, by the players' names.
_PLAYERS: dict[str, Callable[[Game, PlayerSettings], Player]] = {
    "random": lambda game, settings: RandomPlayer(game, settings.seed),
    "uct": uct_player,
    "solver": lambda game, settings: SolverPlayer(game, settings.seed),
}
_NETWORKS = ("best", "network", "latest")  # names that stand for the path of a network
_NAMED_KINDS = (*_PLAYERS, *_NETWORKS, "human")
_OTHERS = ["gtp:COMMAND", "hf:OWNER/NAME", "PATH.safetensors", "RUN_DIRECTORY", "module:Class"]
#: The attributes and methods that every player has (see `Player`).
_MEMBERS = ("name", "batch_size", "choose", "analyse", "limited")
_ROOT = Path("checkpoints")  #: the folder of trained networks
_LIMITS = ("num_simulations", "time_limit_s")


class PlayerSpec(NamedTuple):
    """A parsed player specification: the kind of player, and its settings."""

    #: The kind of player: a name without a number, such as "uct", or "gtp:COMMAND", or a path.
    kind: str
    #: The caller's default settings, with those given in the specification replaced.
    settings: PlayerSettings


def make_player(spec: str, game: Game, settings: PlayerSettings | None = None) -> Player:
    """Make the player that a specification describes.

    Args:
        spec: one of the following. Settings that apply to this player only may follow after commas,
            as in ``uct:500,uct_c=0.7,rollout=weighted``:

            - ``random``;
            - ``uct``, or ``uct:1000`` for 1000 simulations per move;
            - ``solver``: perfect play;
            - ``best``: the network that ships with the game;
            - ``latest``: the newest network that was trained for the game under checkpoints/;
            - ``network``: the same, or ``best`` if there is none;
            - the path of a network file, or of a run's folder, whose newest network is used;
            - ``hf:owner/name``: the network of a repository (see `alphazero.players.hub`);
            - ``gtp:COMMAND``: another program's engine (see `alphazero.players.gtp`);
            - ``module:Class``, or the name of an entry point: a user-supplied player class, which
              is called with the game and the `PlayerSettings`.
        settings: defaults for the settings that ``spec`` leaves open.

    Raises:
        ConfigError: if there is no such player or setting, a value is invalid, or the player cannot
            be made.
        UnsolvableError: if the player is the solver and the game has none.
        StoredFileError: if the network cannot be read, or plays another game.
    """
    kind, settings = read_spec(spec, settings)
    if kind in _PLAYERS:
        return _PLAYERS[kind](game, settings)
    if is_own_player(kind):
        return _own_player(kind, game, settings)
    if kind.startswith("gtp:"):
        return GtpPlayer(game, kind.removeprefix("gtp:"))
    path = existing_network(kind, spec, game.name, game.rules_digest)
    from alphazero.players.network import load_network_player

    return load_network_player(game, path, settings)


def check_player(
    spec: str, game_name: str, settings: PlayerSettings | None = None, rules_digest: str = ""
) -> None:
    """Raise an error unless a specification describes an existing player; do not make the player.

    Args:
        spec: a specification that `make_player` takes.
        game_name: the name of the game to play; if "", names such as "best" are not checked.
        settings: defaults for the settings that ``spec`` leaves open.
        rules_digest: digest of the game's rules; a run with the same digest is for the same game.

    Raises:
        ConfigError: if there is no such player or setting, or a value is invalid.
    """
    kind, _ = read_spec(spec, settings)
    if is_own_player(kind):
        load_own(kind, PLAYERS, "player")
    elif kind in _NETWORKS and not game_name:
        return
    elif kind not in _PLAYERS and not kind.startswith("gtp:"):
        existing_network(kind, spec, game_name, rules_digest)


def existing_network(kind: str, spec: str, game_name: str, rules_digest: str = "") -> Path:
    """Return the path of the existing network or run that ``kind`` stands for.

    This is `network_path`, but with an error in place of None.

    Args:
        kind: a name such as "best", or a path.
        spec: the whole specification, for the error message.
        game_name: the name of the game to play.
        rules_digest: digest of the game's rules; a run with the same digest is for the same game.

    Raises:
        ConfigError: if ``kind`` does not stand for an existing network.
    """
    path = network_path(kind, game_name, rules_digest)
    if path is None:
        allowed = [*_PLAYERS, "uct:1000", *_NETWORKS, *announced(PLAYERS), *_OTHERS]
        message = f"there is no player '{spec}'. A player is one of {', '.join(allowed)}, "
        message += "and in 'alphazero play' also human (docs/players.md)."
        raise ConfigError(message, value=spec, allowed=allowed)
    return path


def default_player(game_name: str) -> str:
    """Return the default player: "best" if a network ships with the game, otherwise "uct".

    Args:
        game_name: the name of the game to play.
    """
    return "best" if shipped_network(game_name) else "uct"


def default_match(game_name: str) -> tuple[str, str]:
    """Return the specifications of the two default players of a match.

    They are "best" and "uct:1000" if a network ships with the game, else "uct:1000" and "random".

    Args:
        game_name: the name of the game to play.
    """
    return ("best", "uct:1000") if shipped_network(game_name) else ("uct:1000", "random")


def read_spec(spec: str, settings: PlayerSettings | None = None) -> PlayerSpec:
    """Parse a player specification: one that `make_player` takes, or ``human``.

    Args:
        spec: the player's specification, such as "uct:500,uct_c=0.7".
        settings: defaults for the settings that ``spec`` leaves open. If ``spec`` sets a search
            limit (a number of simulations or a time), both limits in ``settings`` are dropped.

    Raises:
        ConfigError: if a number follows a player that takes none, or a setting is unknown or has an
            invalid value.
    """
    settings = settings or PlayerSettings()
    kind, *words = re.split(r",(?=\w+=)", spec.removeprefix("network:"))
    named = re.fullmatch(rf"({'|'.join(_NAMED_KINDS)}):(.*)", kind, re.DOTALL)
    if named:
        kind, number = named.groups()
        if kind != "uct":
            raise ConfigError(f"'{spec}' is not a player: {kind} takes no number.", value=spec)
        words.insert(0, f"num_simulations={number}")
    values = parse_overrides(PlayerSettings, words, spec)
    checked = from_plain(PlayerSettings, values)
    own = {key: getattr(checked, key) for key in values}
    if own.keys() & set(_LIMITS):
        own = dict.fromkeys(_LIMITS) | own
    return PlayerSpec(kind, dataclasses.replace(settings, **own))


def is_own_player(kind: str) -> bool:
    """Return whether ``kind`` names a user-supplied player: ``module:Class`` or an entry point."""
    is_known = kind in _NAMED_KINDS or kind.startswith("gtp:")
    return not is_known and (is_module_name(kind) or kind in announced(PLAYERS))


def has_network(kind: str) -> bool:
    """Return whether a player's kind stands for a network.

    That is a name such as "best", or a path.
    """
    return kind in _NETWORKS or is_path(kind)


def is_path(kind: str) -> bool:
    """Return whether a player's kind is taken as the path of a network or a run.

    Any text that does not name a kind of player counts as a path; the path need not exist.
    """
    is_known = kind in _NAMED_KINDS or kind.startswith("gtp:")
    return not is_known and not is_own_player(kind)


def _own_player(kind: str, game: Game, settings: PlayerSettings) -> Player:
    """Make a player of a user-supplied class.

    Args:
        kind: the class as ``module:Class``, or the name of an entry point.
        settings: the settings with which the class is called.

    Raises:
        ConfigError: if the player cannot be made, or lacks an attribute or method of `Player`.
    """
    made_by = load_own(kind, PLAYERS, "player")
    try:
        player = made_by(game, settings)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError.of("player", kind, reason=reason_of(error)) from error
    missing = [name for name in _MEMBERS if not hasattr(player, name)]
    if missing:
        reason = f"it has no {' and no '.join(missing)} (alphazero.players.base.Player)"
        raise ConfigError.of("player", kind, reason=reason)
    return player


def network_path(kind: str, game_name: str, rules_digest: str = "") -> Path | None:
    """Return the path of the network, or of the run, that ``kind`` stands for.

    Args:
        kind: "best", "network", "latest", "hf:owner/name" (which is downloaded), or a path.
        game_name: the name of the game to play.
        rules_digest: digest of the game's rules; a run with the same digest is for the same game.

    Returns:
        The path; None if ``kind`` names a player without a network, or is unknown.

    Raises:
        ConfigError: if ``kind`` looks like a path but does not exist, or is a name and the game has
            no such network.
    """
    if kind in ("network", "latest"):
        newest = _newest_network(game_name, rules_digest)
        if newest is not None:
            return newest
    if kind == "latest":
        message = f"latest: no network of {game_name} was trained under '{_ROOT}'; a run "
        message += "elsewhere is a player by its folder, such as runs/GAME/RUN."
        raise ConfigError(message, value=kind)
    if kind in ("network", "best"):
        shipped = shipped_network(game_name)
        if shipped is not None:
            return shipped
        message = f"{kind}: no network ships with {game_name}; take uct, or train a network "
        message += "(alphazero train) and take latest."
        raise ConfigError(message, value=kind)
    if not is_path(kind):
        return None
    path = download(kind) if kind.startswith(PREFIX) else Path(kind)
    if path.exists() and kind:
        return path
    if path.suffix == ".safetensors" or "/" in kind or "\\" in kind:
        raise ConfigError(f"there is no network at '{kind}'.", value=kind)
    return None


def _newest_network(game_name: str, rules_digest: str) -> Path | None:
    """Return the newest network of the game's newest run under checkpoints/; None without one.

    Args:
        game_name: the game's name.
        rules_digest: digest of the game's rules; a run with the same digest is for the same game.
    """
    runs = runs_of(_ROOT, game_name, rules_digest)
    runs = [run for run in runs if any(run.path.glob("networks/*.safetensors"))]
    if not runs:
        return None
    return find_network(max(runs, key=lambda run: run.trained_at).path)
