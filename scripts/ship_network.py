"""Make the newest network of a run the player 'best' of its game, and write its model card.

    python scripts/ship_network.py run=latest replace=true
    python scripts/ship_network.py run=checkpoints/connect_four/RUN replace=true hardware='2 cores'
    python scripts/ship_network.py run=latest replace=true measured='["On new positions: 99.1%."]'

In: a run or a network file. Out: a copy of the network in the folder of shipped networks, and a
model card: how it was trained, how strong it is, and how to train it again.
"""

import dataclasses
import re
import sys
from pathlib import Path
from typing import Any

from model_card import AUTOTUNED_KEYS, RUN_FOLDER_KEYS, card_text
from script_command import exit_status

from alphazero.config.command_line import from_overrides
from alphazero.config.settings import option, rows
from alphazero.evaluation.run_facts import flat_settings, summary
from alphazero.network.weights import NetworkFile, network_info, save_network
from alphazero.players.base import NETWORK_KIND_HELP
from alphazero.players.network import game_of_network, load_module
from alphazero.runtime.errors import ConfigError, value_text
from alphazero.runtime.files import parse_object, read_text, write_atomically
from alphazero.storage.pretrained import is_shipped, shipped_folder
from alphazero.storage.run_folder import RunFolder, find_network, folder_name
from alphazero.training.run_config import compose, config_folder, config_groups, game_of_choice
from alphazero.training.settings import TrainSettings

_SUMS = {  # metrics that are summed over all iterations up to the network's
    "num_games": "selfplay.num_games",
    "num_positions": "selfplay.num_positions",
    "measure_s": "measure_s",
}
_MEASUREMENTS = ("strength", "exact", "proof")


@dataclasses.dataclass
class Settings:
    """The network to ship, and facts for its card that the run did not store."""

    run: str = option("latest", "a run's folder, the path of a network, or latest")
    root: str = option("checkpoints", "the folder of all runs, for latest")
    replace: bool = option(
        False, "replace another network, which is lost unless you keep a copy of its file"
    )
    into: str | None = option(
        None,
        "folder to write to; by default the folder of 'best': checkpoints/best in a clone",
    )
    game: str | None = option(
        None, "your own game's file, if the network plays one; the name stored with it never runs"
    )
    network_kind: str | None = option(None, NETWORK_KIND_HELP)
    hardware: str = option("", "for the card: the machine that trained it")
    measured: list[str] = option([], "for the card: further measurements, and their commands")


def main(arguments: list[str]) -> int:
    """Read the arguments and ship the network; return the exit status."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    return exit_status(lambda: ship(from_overrides(Settings, arguments, "ship_network.py")))


def ship(settings: Settings) -> None:
    """Write the network and its card, and print where they are."""
    path: str | Path = settings.run
    if path == "latest":
        path = RunFolder.find("latest", settings.root, None, key="run").path
    source = find_network(path)
    network = with_facts(source, settings)
    path = Path(settings.into or shipped_folder()) / f"{folder_name(network.game)}.safetensors"
    replaced = None
    if path.is_file() and path.resolve() != source.resolve():
        old = network_info(path)
        replaced = _strength_text(old)
    # Writing the same network again loses nothing; perhaps only its card could not be written.
    if replaced and not settings.replace and old != network.info:
        reason = f"{path} holds another network ({replaced}), which would be lost. replace=true "
        reason += f"replaces it with this one ({_strength_text(network.info)})"
        raise ConfigError.of("replace", False, reason=reason)
    save_network(path, network.arrays, network.game, network.settings, network.info)
    write_atomically(path.with_suffix(".md"), card_text(network, path.stat().st_size).encode())
    size = f"{path.stat().st_size:,} bytes"
    done = f"Copied {source} to {path} ({size}), with its card ({_strength_text(network.info)})."
    if not is_shipped(path):
        done += f" The player 'best' is loaded from {shipped_folder()}."
    if replaced:
        done += f" It replaced another network ({replaced})."
    print(done)


def with_facts(source: Path, settings: Settings) -> NetworkFile:
    """Return a stored network with all known facts about its training.

    Raises:
        ValueError: if the file is not a network, or its weights do not fit its game.
    """
    game = game_of_network(source, settings.game)
    network = load_module(game, source, settings.network_kind).file
    info = dict(network.info)
    if source.parent.name == "networks" and "iteration" in info:
        info |= run_facts(RunFolder(source.parent.parent), info["iteration"])
    if "settings" in info:
        info["recipe"] = recipe(info["settings"], game.name)
    added = {"hardware": settings.hardware, "measured": list(settings.measured)}
    return network._replace(info=info | {key: value for key, value in added.items() if value})


def run_facts(folder: RunFolder, iteration: int) -> dict[str, Any]:
    """Return the facts about an iteration's network that the run's folder contains.

    Returns:
        Plain data, without missing facts. ``elapsed_s`` is the training time up to this iteration
        and ``measure_s`` the time of evaluations; ``num_games`` and ``num_positions`` count
        self-play. ``engine`` is the last iteration's. ``strength``, ``exact`` and ``proof`` have
        the fields of `alphazero.training.events`. ``settings`` are flat; ``versions`` are the
        packages' versions.
    """
    facts: dict[str, Any] = {}
    metrics = folder.read_metrics() if folder.metrics.is_file() else []
    rows = [row for row in metrics if row["iteration"] <= iteration]
    for key, column in _SUMS.items():
        if rows and all(row.get(column) is not None for row in rows):
            facts[key] = round(sum(row[column] for row in rows), 1)
    if rows and rows[-1]["iteration"] == iteration:
        facts |= _iteration_facts(rows[-1])
    if folder.config.is_file():
        settings = flat_settings(folder.read_config())
        facts["settings"] = {
            key: value for key, value in settings.items() if key not in RUN_FOLDER_KEYS
        }
    versions = folder.path / "versions.json"
    if versions.is_file():
        facts["versions"] = parse_object(read_text(versions), versions, "its contents")
    return facts


def _iteration_facts(row: dict[str, Any]) -> dict[str, Any]:
    """Return the facts in one iteration's metrics."""
    facts: dict[str, Any] = {"elapsed_s": round(row["elapsed_s"], 1)}
    if row.get("engine.name"):
        facts["engine"] = row["engine.name"]
    for key, value in row.items():
        section, _, name = key.partition(".")
        if section in _MEASUREMENTS:
            facts.setdefault(section, {})[name] = value
    return facts


def _strength_text(info: dict[str, Any]) -> str:
    return summary(info) or "strength unknown"


# --- the command that repeats a training run ------------------------------------------------------


def recipe(settings: dict[str, Any], game_name: str) -> list[str]:
    """Return the shortest list of arguments that gives a run these settings.

    Settings that the run measured, such as the engine, are omitted if the preset leaves them open,
    so that a new run measures them again.

    Args:
        settings: values by key, see `alphazero.evaluation.run_facts.flat_settings`. A missing key
            has its default, because runs of older versions behaved like the default. Keys that no
            longer exist are ignored.
    """
    defaults = {row.key: row.value for row in rows(TrainSettings())}
    wanted = {
        key: settings.get(key, default)
        for key, default in defaults.items()
        if key not in RUN_FOLDER_KEYS
    } | {"game.name": game_name}
    recipes = []
    for preset in _presets(game_name):
        composed = {row.key: row.value for row in rows(compose([preset]))}
        is_open = {key for key in AUTOTUNED_KEYS if composed[key] in ("auto", 0)}
        changes = [
            f"{key}={value_text(value)}"
            for key, value in wanted.items()
            if value != composed[key] and key not in is_open
        ]
        recipes.append([preset, *changes])
    return min(recipes, key=len)


def _presets(game_name: str) -> list[str]:
    """Return the arguments that choose the game's preset, or an experiment with that game."""
    presets = [f"game={game_name}"]
    for name in config_groups()["experiment"]:
        text = (config_folder() / "experiment" / f"{name}.yaml").read_text("utf-8")
        match = re.search(r"override /game: (\S+)", text)
        if match and game_of_choice(match[1]) == game_name:
            presets.append(f"experiment={name}")
    return presets


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
