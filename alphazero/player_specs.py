"""The words by which a person names a player: `random`, `uct:1000,uct_c=0.7`, `solver`, `runs/x/best.safetensors`.

In: such words, and the settings of a command for whatever they leave open. Out: a player. torch is loaded only for a network.
"""

import dataclasses
import re
from pathlib import Path

from alphazero import config
from alphazero.config import ConfigError
from alphazero.exact.solver_player import SolverPlayer
from alphazero.games.game import Game
from alphazero.players import Player, PlayerSettings, RandomPlayer, UctPlayer

KINDS = ("human", "random", "uct", "uct:1000", "solver", "network", "PATH.safetensors", "RUN_DIRECTORY")


def make_player(spec: str, game: Game, settings: PlayerSettings | None = None) -> Player:
    """Return the player that the words ``spec`` name.

    Args:
        spec: ``random``, ``uct``, ``uct:SIMULATIONS``, ``solver`` (perfect play), ``network`` (the newest one of this game under
            checkpoints/), or the path of a network or of a run's directory; then, after commas, settings of this player alone:
            ``uct:500,uct_c=0.7,rollout=weighted``.
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
    if kind == "human":
        raise ConfigError("a human plays in 'alphazero play' only: here take random, uct, solver or a network.")
    path = network_path(kind, game.name)
    if path is None:
        raise ConfigError(f"there is no player '{spec}'; a player is one of {', '.join(KINDS)} (docs/PLAY.md).")
    from alphazero.engines import EngineChoice
    from alphazero.network_player import NetworkPlayer

    limits = {"time_limit_s": settings.time_limit_s}
    if settings.num_simulations is not None:
        limits["num_simulations"] = settings.num_simulations
    choice = EngineChoice(settings.engine, settings.precision)
    return NetworkPlayer(game, path, with_search=settings.with_search, seed=settings.seed, device=settings.device, choice=choice, **limits)


def read_spec(spec: str, settings: PlayerSettings | None = None) -> tuple[str, PlayerSettings]:
    """Split the words that name a player into its kind (or path) and its settings.

    Raises:
        ConfigError: for a setting that does not exist or an impossible value.
    """
    settings = settings or PlayerSettings()
    kind, *own = re.split(r",(?=\w+=)", spec)
    known = [field.name for field in dataclasses.fields(PlayerSettings)]
    kind, colon, count = kind.partition(":") if re.match(r"(uct|random|solver|human|network):", kind) else (kind, "", "")
    if colon and kind == "network":
        kind = count
    elif colon and kind != "uct":
        raise ConfigError(f"'{spec}' is not a player: {kind} takes no number.")
    elif colon:
        own.insert(0, f"num_simulations={count}")
        if not re.fullmatch(r"[0-9]{1,9}", count):
            raise ConfigError(f"'{spec}' is not a player: after 'uct:' comes the number of simulations, such as uct:1000.")
    own_settings = dataclasses.asdict(config.from_overrides(PlayerSettings, own, spec))
    changed = {key: own_settings[key] for key in known if any(word.startswith(key + "=") for word in own)}
    if changed.keys() & {"num_simulations", "time_limit_s"}:  # a player's own limits replace the command's, they do not add to them
        changed = {"num_simulations": None, "time_limit_s": None} | changed
    return kind, dataclasses.replace(settings, **changed)


def network_path(kind: str, game_name: str) -> Path | None:
    """Return the path of the network that a player's kind names, None if it names none.

    Raises:
        ConfigError: if it looks like a path and nothing is there.
    """
    if kind == "network":
        folder_name = Path(game_name).stem if game_name.endswith(".py") else game_name.replace(":", "_")
        runs = Path("checkpoints") / folder_name
        found = sorted(runs.glob("*/networks/*.safetensors"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        if not found:
            raise ConfigError(f"there is no network of {game_name} under {runs}: train one, or give the path of one.")
        return found[-1]
    path = Path(kind)
    if path.exists() and kind:
        return path
    if path.suffix == ".safetensors" or "/" in kind or "\\" in kind:
        raise ConfigError(f"there is no network at '{kind}'.")
    return None
