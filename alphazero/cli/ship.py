"""Copy the newest network of a run to where the player 'best' of its game is looked for, with a
model card: how it was trained, how strong it is, and how to train it again.

    alphazero ship run=latest replace=true
    alphazero ship run=checkpoints/connect_four/RUN replace=true hardware='2 cores, no GPU'
    alphazero ship run=latest replace=true measured='["On 1,000 new positions: 99.1%."]'

In: a run or a network file. Out: a network file under the folder of shipped networks, and its model
card.
"""

import dataclasses
from pathlib import Path

from alphazero.config.files import read_values
from alphazero.config.settings import option, rows
from alphazero.evaluation.model_card import card_text
from alphazero.evaluation.run_facts import AUTOTUNED_KEYS, RUN_FOLDER_KEYS, run_facts, summary
from alphazero.network.weights import NetworkFile, load_network, network_info, save_network
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError, value_text
from alphazero.runtime.files import write_atomically
from alphazero.storage.pretrained import shipped_folder
from alphazero.storage.run_folder import RunFolder, find_network, folder_name
from alphazero.training.run_config import compose, config_folder, config_groups, game_of_choice
from alphazero.training.settings import TrainSettings


@dataclasses.dataclass
class Settings:
    """Which network, and what its card says besides what the run stored."""

    run: str = option("latest", "a run's folder, the path of a network, or latest")
    root: str = option("checkpoints", "the folder of all runs, for latest")
    replace: bool = option(
        False, "replace another network; it is lost unless you keep a copy of its file"
    )
    into: str | None = option(
        None,
        "folder to write to; by default where 'best' is looked for: checkpoints/best of a clone",
    )
    game: str | None = option(
        None, "your own game's file, if the network is of one; a stored file alone never runs it"
    )
    hardware: str = option("", "for the card: the machine that trained it")
    measured: list[str] = option([], "for the card: further measurements, and their commands")


def run(settings: Settings, console: Console) -> None:
    """Write the network and its card, and print where they are."""
    place = settings.run
    if place == "latest":
        place = RunFolder.find("latest", settings.root, None, key="run").path
    source = find_network(place)
    network = with_facts(source, settings)
    path = Path(settings.into or shipped_folder()) / f"{folder_name(network.game)}.safetensors"
    replaced = None
    if path.is_file() and path.resolve() != source.resolve():
        replaced = _strength_text(network_info(path))
    if replaced and not settings.replace:
        message = f"{path} holds another network of {network.game}: {replaced}. replace=true "
        message += f"replaces it by this one: {_strength_text(network.info)}. Keep a copy of that "
        message += "file if you may want it back, or name another folder by into=."
        raise ConfigError(message, key="replace", value=False)
    try:
        save_network(path, network.arrays, network.game, network.settings, network.info)
        write_atomically(path.with_suffix(".md"), card_text(network, path.stat().st_size).encode())
    except OSError as error:
        reason = f"the network cannot be written there ({error.strerror}); name another folder"
        raise ConfigError.of("into", str(path.parent), reason=reason) from None
    for line in _done_lines(source, path, network, replaced):
        console.print(line, markup=False, soft_wrap=True)


def with_facts(source: Path, settings: Settings) -> NetworkFile:
    """Return a stored network with all that is known of how it was trained.

    Raises:
        ValueError: if it is no network, or its weights do not fit its game.
    """
    from alphazero.games.registry import make_stored_game
    from alphazero.players.base import PlayerSettings
    from alphazero.players.network import load_network_player

    network = load_network(source)
    game = make_stored_game(network.game, f"the network '{source}'", settings.game)
    # Refuses weights that do not fit their game.
    load_network_player(game, source, PlayerSettings(engine="torch"))
    info = dict(network.info)
    if source.parent.name == "networks" and "iteration" in info:
        info |= run_facts(RunFolder(source.parent.parent), info["iteration"])
    if "settings" in info:
        info["recipe"] = recipe(info["settings"], game.name)
    added = {"hardware": settings.hardware, "measured": list(settings.measured)}
    return network._replace(info=info | {key: value for key, value in added.items() if value})


def _done_lines(source: Path, path: Path, network: NetworkFile, replaced: str | None) -> list[str]:
    size = f"{path.stat().st_size:,} bytes"
    place = shipped_folder()
    if path.parent.resolve() == Path(place).resolve():
        done = f"{source} is now the best of {network.game}: {path} ({size})"
    else:
        done = f"{source} is copied to {path} ({size}). The player 'best' is looked for in {place}."
    card = f"Its card: {path.with_suffix('.md')} ({summary(network.info)})"
    return [done, card] + ([f"It replaced another network: {replaced}."] if replaced else [])


def _strength_text(info: dict) -> str:
    return summary(info) or "its file does not say how strong it is"


# --- the command that repeats a training run ------------------------------------------------------


def recipe(settings: dict, game_name: str) -> list[str]:
    """Return the shortest list of arguments that gives a run these settings.

    Settings that the run measured, such as the engine, are left to be measured again where the
    preset leaves them open.

    Args:
        settings: by their keys, see `alphazero.evaluation.run_facts.flat_settings`. A missing key
            has its default, because a run of an older version did what the default does. Keys that
            no longer exist are ignored.
    """
    defaults = {row.key: row.value for row in rows(TrainSettings())}
    wanted = {
        key: settings.get(key, default)
        for key, default in defaults.items()
        if key not in RUN_FOLDER_KEYS
    } | {"game.name": game_name}
    found = []
    for arguments in _presets(game_name):
        composed = {row.key: row.value for row in rows(compose(arguments))}
        if composed["game.name"] != game_name:
            continue
        is_open = {key for key in AUTOTUNED_KEYS if composed[key] in ("auto", 0)}
        changes = [
            f"{key}={value_text(value)}"
            for key, value in wanted.items()
            if value != composed[key] and key not in is_open
        ]
        found.append([*arguments, *changes])
    return min(found, key=len, default=[])


def _presets(game_name: str) -> list[list[str]]:
    """Return the arguments of each preset and experiment of a game, or of presets for any game."""
    groups = config_groups()
    games = [choice for choice in groups["game"] if game_of_choice(choice) == game_name]
    if not games:
        return [[f"game={game_name}"]]
    experiments = [name for name in groups["experiment"] if _game_of_experiment(name) in games]
    return [
        *([f"game={choice}"] for choice in games),
        *([f"experiment={name}"] for name in experiments),
    ]


def _game_of_experiment(name: str) -> str | None:
    """Return the choice of the group ``game`` that an experiment makes, None if it makes none."""
    config = read_values(config_folder() / "experiment" / f"{name}.yaml")
    for entry in config.get("defaults", []):
        if "override /game" in entry:
            return entry["override /game"]
    return None
