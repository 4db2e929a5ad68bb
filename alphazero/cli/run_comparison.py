"""A comparison of training runs by the accuracy of their newest networks.

In: the folders of runs of one game. Out: tables on the console; if asked for, the figures as JSON.
Runs with the same settings apart from the seed belong to one configuration. The first configuration
is the baseline of the others, see `alphazero.evaluation.exact.accuracy`.
"""

import dataclasses
import json
from pathlib import Path

from rich.text import Text

from alphazero.cli.output.comparison_table import (
    Configuration,
    configurations_table,
    note,
    runs_table,
    to_plain,
)
from alphazero.config.settings import from_stored, option, rows
from alphazero.evaluation.exact.accuracy import measure_accuracy
from alphazero.evaluation.exact.set_file import find_set
from alphazero.evaluation.exact.sets import EvaluationSet
from alphazero.evaluation.run_facts import RUN_FOLDER_KEYS
from alphazero.games.batched_game import Game
from alphazero.games.registry import make_stored_game, same_game
from alphazero.inference.engines.registry import ENGINES, PRECISIONS
from alphazero.players.base import PlayerSettings
from alphazero.runtime import jit
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError, value_text
from alphazero.storage.run_folder import RunFolder
from alphazero.training.settings import TrainSettings

#: Settings in which runs of one configuration may differ.
_NOT_COMPARED = ("seed", *RUN_FOLDER_KEYS)


@dataclasses.dataclass
class ComparisonSettings:
    """How runs are measured."""

    game: str | None = option(
        None, "your own game's file, if the runs are of one; a stored file alone never runs it"
    )
    set: str | None = option(
        None,
        "file of positions made by 'alphazero make_evaluation_set'; by default those that ship "
        "with the game",
    )
    num_simulations: int = option(200, "simulations per move", 1, 1_000_000)
    engine: str = option("torch", "what runs the networks", choices=ENGINES)
    precision: str = option("float32", "number format; int8 needs openvino", choices=PRECISIONS)
    json: str | None = option(None, "file to write the figures to")


def compare_runs(folders: list[RunFolder], settings: ComparisonSettings, console: Console) -> None:
    """Measure the newest network of each run, and print how the configurations differ.

    Raises:
        ConfigError: if the runs are of different games, or there are no positions for the game.
    """
    stored = [from_stored(TrainSettings, folder.read_config(), folder.config) for folder in folders]
    game = make_stored_game(stored[0].game.name, f"the run '{folders[0].path}'", settings.game)
    for run in stored:
        _check_game(run, game)
        run.game.name = game.name  # another spelling of a path is no other configuration
    positions = find_set(settings.set, game)
    jit.announce_first_compilation()
    configurations = _measure_all(folders, stored, game, positions, settings)
    title = (
        f"\n{game.name}: accuracy of {len(folders)} runs on {len(positions):,} positions, of the "
        f"network alone\nand of a search with {settings.num_simulations} simulations"
    )
    _print_tables(configurations, title, console)
    if settings.json:
        ways = to_plain(configurations)
        figures = {"num_positions": len(positions), "set": positions.notes, "ways": ways}
        Path(settings.json).write_text(json.dumps(figures, indent=1) + "\n")
        console.print(f"Figures: {settings.json}", markup=False, soft_wrap=True)


def _print_tables(configurations: list[Configuration], title: str, console: Console) -> None:
    console.print(title, markup=False, soft_wrap=True)
    if len(configurations) > 1:
        for number, configuration in enumerate(configurations, 1):
            role = " (the baseline)" if number == 1 else ""
            text = f"  {number}: {configuration.label}{role}"
            console.print(text, markup=False, soft_wrap=True)
    console.print()
    console.print(configurations_table(configurations))
    if any(len(configuration.names) > 1 for configuration in configurations):
        console.print()
        console.print(runs_table(configurations))
    console.print(note(configurations), soft_wrap=True)


def _check_game(run: TrainSettings, game: Game) -> None:
    name = run.game.name
    if not same_game(game.name, name):
        message = f"runs of {game.name} and {name} cannot be compared: name runs of one game."
        raise ConfigError(message, key="run", value=name, allowed=game.name)


def _measure_all(
    folders: list[RunFolder],
    stored: list[TrainSettings],
    game: Game,
    positions: EvaluationSet,
    settings: ComparisonSettings,
) -> list[Configuration]:
    """Return the configurations with the measurements of their runs."""
    found: dict[str, Configuration] = {}
    for folder, run in zip(folders, stored):
        values = {row.key: row.value for row in rows(run) if row.key not in _NOT_COMPARED}
        key = json.dumps(values, default=str)
        configuration = found.setdefault(key, Configuration("", values))
        text = f"{folder.path.name} answers {len(positions):,} positions of {game.name} ..."
        with Console(stderr=True, emoji=False).status(Text(text)):
            _measure(configuration, folder, game, positions, settings)
    configurations = list(found.values())
    for configuration in configurations:
        configuration.label = _label(configuration, configurations)
    return configurations


def _measure(
    configuration: Configuration,
    folder: RunFolder,
    game: Game,
    positions: EvaluationSet,
    settings: ComparisonSettings,
) -> None:
    """Measure a run and add it to its configuration."""
    from alphazero.network.weights import load_network
    from alphazero.players.network import NetworkPlayer
    from alphazero.storage.run_folder import find_network

    player_settings = PlayerSettings(
        num_simulations=settings.num_simulations,
        engine=settings.engine,
        precision=settings.precision,
    )
    player = NetworkPlayer(game, folder.path, player_settings)
    info = load_network(find_network(folder.path)).info
    configuration.names.append(folder.path.name)
    configuration.seconds.append(info.get("elapsed_s", float("nan")))
    configuration.iterations.append(info.get("iteration", 0))
    for one, results in (
        (player.limited(0, None), configuration.alone),
        (player, configuration.searched),
    ):
        report = measure_accuracy(one.choose, positions, with_values=False)
        results.append(report.keeps_result)


def _label(configuration: Configuration, configurations: list[Configuration]) -> str:
    """Return the settings by which a configuration differs from the first, with their values.

    Of the first, return the values of all settings in which another differs.
    """
    first = configurations[0]
    others = configurations[1:] if configuration is first else [configuration]
    changed = [
        f"{key}={value_text(value)}"
        for key, value in configuration.settings.items()
        if any(other.settings[key] != first.settings[key] for other in others)
    ]
    return " ".join(changed) or "the baseline"
