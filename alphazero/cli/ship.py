"""`alphazero ship`: make a trained network the one that its game is played with (the player `best`), and write its card."""

import dataclasses
from pathlib import Path

from omegaconf import OmegaConf
from rich.console import Console

from alphazero.cli.help_text import print_help
from alphazero.evaluation.model_card import (
    AUTOTUNED_KEYS,
    RUN_FOLDER_KEYS,
    card_text,
    run_facts,
    summary,
)
from alphazero.network.weights import NetworkFile, load_network, network_info, save_network
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import write_atomically
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import option, rows, value_text
from alphazero.storage.pretrained import shipped_folder
from alphazero.storage.run_folder import RunFolder, find_network, folder_name

COMMAND = "alphazero ship"
SUMMARY = (
    "Copy the newest network of a run to where the program looks for the player 'best' of its game, and write a card beside it: how it was made, how strong "
    "it is, how to make it again, all from the files of the run."
)
EXAMPLES = [
    "alphazero ship run=latest replace=true",
    "alphazero ship run=checkpoints/connect_four/RUN replace=true hardware='2 cores of an AMD EPYC, no GPU'",
    "alphazero ship run=latest replace=true measured='[\"On 1,000 fresh positions (seed 7): 99.1 %.\"]'",
]


@dataclasses.dataclass
class ShipSettings:
    """Which network, and what its card says besides what the run knows."""

    run: str = option(
        "latest",
        "folder of the run, whose newest network is taken, or the path of a network, or latest",
    )
    root: str = option("checkpoints", "folder of all runs, where latest is looked for")
    game: str | None = option(
        None, "your own game's file, if the network is of one: a stored file alone never runs it"
    )
    replace: bool = option(
        False,
        "put it in the place of another network, which is then lost unless you have a copy of its file",
    )
    into: str | None = option(
        None,
        "folder to write to; without it the one where 'best' is looked for: checkpoints/best of a clone",
    )
    hardware: str = option("", "the machine that it was trained on, in your words, for the card")
    measured: list[str] = option(
        [], "further lines for the card: what you have measured, and by which command"
    )


def main(words: list[str], console: Console | None = None) -> int:
    """Write the network and its card, and say where they are."""
    if {"-h", "--help"} & set(words):
        print_help("ship", SUMMARY, ShipSettings(), EXAMPLES)
        return 0
    settings = from_overrides(ShipSettings, words, COMMAND)
    source = find_network(
        RunFolder.find("latest", settings.root, None, key="run").path
        if settings.run == "latest"
        else settings.run
    )
    network = with_facts(source, settings)
    path = Path(settings.into or shipped_folder()) / f"{folder_name(network.game)}.safetensors"
    before = (
        _said(network_info(path)) if path.is_file() and path.resolve() != source.resolve() else None
    )
    if before and not settings.replace:
        raise ConfigError(
            f"{path} holds another network of {network.game}: {before}. replace=true puts this one in its place: {_said(network.info)}. "
            "Keep a copy of that file first if you may want it back, or name another folder by into=."
        )
    try:
        save_network(path, network.arrays, network.game, network.settings, network.info)
        write_atomically(path.with_suffix(".md"), card_text(network, path.stat().st_size).encode())
    except OSError as error:
        raise ConfigError(
            f"the network cannot be written to {path.parent} ({error.strerror}): name another folder by into=."
        ) from None
    console = console or Console(highlight=False)
    if path.parent.resolve() == Path(shipped_folder()).resolve():
        said = f"{source} is now the best of {network.game}: {path} ({path.stat().st_size:,} bytes)"
    else:
        said = f"{source} is copied to {path} ({path.stat().st_size:,} bytes); the player 'best' is looked for in {shipped_folder()}."
    console.print(said, markup=False, soft_wrap=True)
    console.print(
        f"Its card: {path.with_suffix('.md')} ({summary(network.info)})",
        markup=False,
        soft_wrap=True,
    )
    if before:
        console.print(f"It took the place of another: {before}.", markup=False, soft_wrap=True)
    return 0


def _said(info: dict) -> str:
    return summary(info) or "its file does not say how strong it is"


def with_facts(source: Path, settings: ShipSettings) -> NetworkFile:
    """Return a stored network with everything that is known of how it was made.

    Raises:
        ValueError: with one plain sentence if it is no network, or one that cannot play its game.
    """
    from alphazero.games.registry import make_stored_game
    from alphazero.players.network import NetworkPlayer

    network = load_network(source)
    game = make_stored_game(network.game, f"the network '{source}'", settings.game)
    NetworkPlayer(game, source)  # refuses weights that do not fit their game
    info = dict(network.info)
    folder = RunFolder(source.parent.parent)
    if source.parent.name == "networks" and "iteration" in info:
        info |= run_facts(folder, info["iteration"])
    if "settings" in info:
        info["recipe"] = recipe(info["settings"], game.name)
    added = {"hardware": settings.hardware, "measured": list(settings.measured)}
    return network._replace(info=info | {key: value for key, value in added.items() if value})


def recipe(settings: dict, game_name: str) -> list[str]:
    """Return the fewest words of `alphazero train` that make a run of these settings; what they leave to be measured is left to that.

    Args:
        settings: those of a run by their keys, see `alphazero.evaluation.model_card.flat_settings`. A key that is missing, since the run is of an older
            version, has its default, which is what older versions did; one that is there no more is passed over.
    """
    from alphazero.training.compose import compose
    from alphazero.training.settings import TrainSettings

    wanted = {
        key: settings.get(key, default)
        for key, default, *_ in rows(TrainSettings())
        if key not in RUN_FOLDER_KEYS
    } | {"game.name": game_name}
    found = []
    for words in _presets(game_name):
        composed = {key: value for key, value, *_ in rows(compose(words))}
        if composed["game.name"] == game_name:
            left_open = [key for key in AUTOTUNED_KEYS if composed[key] in ("auto", 0)]
            differing = [
                key
                for key, value in wanted.items()
                if value != composed[key] and key not in left_open
            ]
            found.append([*words, *(f"{key}={value_text(wanted[key])}" for key in differing)])
    return min(found, key=len) if found else []


def _presets(game_name: str) -> list[list[str]]:
    """Return the words of `alphazero train` to begin with: the game's presets and ready recipes, or those for a game of any name."""
    from alphazero.training.compose import config_folder, game_of_choice, groups

    games = [choice for choice in groups()["game"] if game_of_choice(choice) == game_name]
    if not games:
        return [[f"game={choice}", f"game.name={game_name}"] for choice in ("custom", "connect_x")]
    experiments = []
    for name in groups()["experiment"]:
        defaults = OmegaConf.load(config_folder() / "experiment" / f"{name}.yaml").get(
            "defaults", []
        )
        experiments += [
            name
            for entry in defaults
            if "override /game" in entry and entry["override /game"] in games
        ]
    return [[f"game={choice}"] for choice in games] + [
        [f"experiment={name}"] for name in experiments
    ]
