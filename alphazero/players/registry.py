"""The words by which a person names a player: `random`, `uct:1000,uct_c=0.7`, `solver`, `best`, `runs/x/000012.safetensors`.

In: such words, and the settings of a command for whatever they leave open. Out: a player. torch is loaded only for a network.
"""

import dataclasses
import re
from pathlib import Path

from alphazero.games.batched_game import Game
from alphazero.players.base import Player, PlayerSettings
from alphazero.players.gtp import GtpPlayer
from alphazero.players.random import RandomPlayer
from alphazero.players.solver import SolverPlayer
from alphazero.players.uct import UctPlayer
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.overrides import from_overrides
from alphazero.storage.pretrained import shipped_network
from alphazero.storage.run_folder import folder_name

KINDS = (
    "random",
    "uct",
    "uct:1000",
    "solver",
    "best",
    "network",
    "gtp:COMMAND",
    "PATH.safetensors",
    "RUN_DIRECTORY",
)


def make_player(spec: str, game: Game, settings: PlayerSettings | None = None) -> Player:
    """Return the player that the words ``spec`` name.

    Args:
        spec: ``random``, ``uct``, ``uct:SIMULATIONS``, ``solver`` (perfect play), ``best`` (the network that ships with this game),
            ``network`` (the newest one of this game under checkpoints/, or else the one that ships), ``gtp:COMMAND`` (another program's
            engine, see `alphazero.players.gtp`), or the path of a network or of a run's directory; then, after commas, settings of this
            player alone: ``uct:500,uct_c=0.7,rollout=weighted``.
        settings: those of the command, for whatever ``spec`` leaves open.

    Raises:
        ConfigError: with one plain sentence if there is no such player.
        ValueError: the same for a solver of a game that has none.
    """
    kind, settings = read_spec(spec, settings)
    if kind == "random":
        return RandomPlayer(game, settings.seed)
    if kind == "uct":
        return UctPlayer(game, settings)
    if kind == "solver":
        return SolverPlayer(game, settings.seed)
    if kind.startswith("gtp:"):
        return GtpPlayer(game, kind.removeprefix("gtp:"))
    if kind == "human":
        raise ConfigError(
            "a human plays in 'alphazero play' only: here take random, uct, solver, best or a network."
        )
    path = network_path(kind, game.name)
    if path is None:
        raise ConfigError(
            f"there is no player '{spec}'; a player is one of {', '.join(KINDS)}, in 'alphazero play' also human (docs/PLAY.md)."
        )
    from alphazero.inference.engines.engine import EngineChoice
    from alphazero.players.network import NetworkPlayer

    limits = {"time_limit_s": settings.time_limit_s}
    if settings.num_simulations is not None:
        limits["num_simulations"] = settings.num_simulations
    choice = EngineChoice(settings.engine, settings.precision)
    return NetworkPlayer(
        game,
        path,
        with_search=settings.with_search,
        seed=settings.seed,
        device=settings.device,
        choice=choice,
        **limits,
    )


def default_player(game_name: str) -> str:
    """Return the words of the player who plays where nobody is named: the network that ships with the game, otherwise uct."""
    return "best" if shipped_network(game_name) else "uct"


def default_match(game_name: str) -> tuple[str, str]:
    """Return the words of the two who meet where nobody is named: the network that ships with the game against uct, otherwise uct against random."""
    return ("best", "uct:1000") if shipped_network(game_name) else ("uct:1000", "random")


def read_spec(spec: str, settings: PlayerSettings | None = None) -> tuple[str, PlayerSettings]:
    """Split the words that name a player into its kind (or path) and its settings.

    Raises:
        ConfigError: for a setting that does not exist or an impossible value.
    """
    settings = settings or PlayerSettings()
    kind, *own = re.split(r",(?=\w+=)", spec)
    known = [field.name for field in dataclasses.fields(PlayerSettings)]
    kind, colon, count = (
        kind.partition(":")
        if re.match(r"(uct|random|solver|human|best|network):", kind)
        else (kind, "", "")
    )
    if colon and kind == "network":
        kind = count
    elif colon and kind != "uct":
        raise ConfigError(f"'{spec}' is not a player: {kind} takes no number.")
    elif colon:
        own.insert(0, f"num_simulations={count}")
        if not re.fullmatch(r"[0-9]{1,9}", count):
            raise ConfigError(
                f"'{spec}' is not a player: after 'uct:' comes the number of simulations, such as uct:1000."
            )
    own_settings = dataclasses.asdict(from_overrides(PlayerSettings, own, spec))
    changed = {
        key: own_settings[key] for key in known if any(word.startswith(key + "=") for word in own)
    }
    if changed.keys() & {
        "num_simulations",
        "time_limit_s",
    }:  # a player's own limits replace the command's, they do not add to them
        changed = {"num_simulations": None, "time_limit_s": None} | changed
    return kind, dataclasses.replace(settings, **changed)


def is_path(kind: str) -> bool:
    """Return whether a player's kind names a network's file or a run, and is none of the words."""
    return kind not in (
        "human",
        "random",
        "uct",
        "solver",
        "best",
        "network",
    ) and not kind.startswith("gtp:")


def network_path(kind: str, game_name: str) -> Path | None:
    """Return the path of the network that a player's kind names, None if it names none.

    Raises:
        ConfigError: if it looks like a path and nothing is there, or the game has no such network.
    """
    if kind == "best":
        shipped = shipped_network(game_name)
        if shipped is None:
            raise ConfigError(
                f"there is no best: no network ships with {game_name}; take uct, or train one (alphazero train) and take network."
            )
        return shipped
    if kind == "network":
        runs = Path("checkpoints") / folder_name(game_name)
        found = sorted(
            runs.glob("*/networks/*.safetensors"),
            key=lambda path: (path.stat().st_mtime_ns, path.name),
        )
        newest = found[-1] if found else shipped_network(game_name)
        if newest is None:
            raise ConfigError(
                f"there is no network of {game_name} under {runs}, and none ships with it: train one, or give the path of one."
            )
        return newest
    path = Path(kind)
    if path.exists() and kind:
        return path
    if path.suffix == ".safetensors" or "/" in kind or "\\" in kind:
        raise ConfigError(f"there is no network at '{kind}'.")
    return None
