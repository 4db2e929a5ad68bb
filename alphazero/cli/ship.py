"""`alphazero ship`: make a trained network the default player of its game, the player ``best``.

In: a run or a network file. Out: a network file under the folder of shipped networks, and its model
card.
"""

import dataclasses
from pathlib import Path

from alphazero.cli.output.help_text import print_help
from alphazero.cli.recipe import recipe
from alphazero.config.command_line import from_overrides
from alphazero.config.settings import option
from alphazero.evaluation.model_card import card_text
from alphazero.evaluation.run_facts import run_facts, summary
from alphazero.network.weights import NetworkFile, load_network, network_info, save_network
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically
from alphazero.storage.pretrained import shipped_folder
from alphazero.storage.run_folder import RunFolder, find_network, folder_name

COMMAND = "alphazero ship"
SUMMARY = (
    "Copy the newest network of a run to where the player 'best' of its game is looked for, with a "
    "model card: how it was trained, how strong it is, and how to train it again."
)
EXAMPLES = [
    "alphazero ship run=latest replace=true",
    "alphazero ship run=checkpoints/connect_four/RUN replace=true hardware='2 cores, no GPU'",
    "alphazero ship run=latest replace=true measured='[\"On 1,000 new positions: 99.1%.\"]'",
]


@dataclasses.dataclass
class ShipSettings:
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


def main(arguments: list[str], console: Console | None = None) -> int:
    """Write the network and its card, and print where they are."""
    if {"-h", "--help"} & set(arguments):
        print_help("ship", SUMMARY, ShipSettings(), EXAMPLES)
        return 0
    settings = from_overrides(ShipSettings, arguments, COMMAND)
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
    _write(path, network)
    console = console or Console(highlight=False, emoji=False)
    for line in _done_lines(source, path, network, replaced):
        console.print(line, markup=False, soft_wrap=True)
    return 0


def with_facts(source: Path, settings: ShipSettings) -> NetworkFile:
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


def _write(path: Path, network: NetworkFile) -> None:
    try:
        save_network(path, network.arrays, network.game, network.settings, network.info)
        write_atomically(path.with_suffix(".md"), card_text(network, path.stat().st_size).encode())
    except OSError as error:
        message = f"the network cannot be written to {path.parent} ({error.strerror}): name "
        message += "another folder by into=."
        raise ConfigError(message, key="into", value=str(path.parent)) from None


def _done_lines(source: Path, path: Path, network: NetworkFile, replaced: str | None) -> list[str]:
    size = f"{path.stat().st_size:,} bytes"
    if path.parent.resolve() == Path(shipped_folder()).resolve():
        done = f"{source} is now the best of {network.game}: {path} ({size})"
    else:
        done = (
            f"{source} is copied to {path} ({size}). The player 'best' is looked for in "
            f"{shipped_folder()}."
        )
    card = f"Its card: {path.with_suffix('.md')} ({summary(network.info)})"
    return [done, card] + ([f"It replaced another network: {replaced}."] if replaced else [])


def _strength_text(info: dict) -> str:
    return summary(info) or "its file does not say how strong it is"
