"""Compare the newest networks of several runs with perfect play on the same positions, and each
with the first run. Runs that differ only in their seed count as one configuration. 'alphazero train
--multirun' ends with this table if an evaluation set ships with the game.

    alphazero compare run=checkpoints/connect_four/A,checkpoints/connect_four/B
    alphazero make_evaluation_set seed=7 out=fresh.csv
    alphazero compare run=A,B,C set=fresh.csv
    alphazero train --multirun experiment=ablation/base,ablation/gumbel seed=1,2

In: the folders of runs of one game. Out: a table on the console; if asked for, the figures as JSON.
Runs with the same settings apart from the seed belong to one configuration. The first configuration
is the baseline of the others, see `alphazero.evaluation.exact.accuracy`.
"""

import dataclasses
import glob
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text

from alphazero.cli.command import figures_table, write_figures
from alphazero.config.settings import from_stored, option, rows
from alphazero.evaluation.exact.accuracy import difference, measure_accuracy
from alphazero.evaluation.exact.set_file import find_set
from alphazero.evaluation.exact.sets import EvaluationSet
from alphazero.evaluation.run_facts import RUN_FOLDER_KEYS, duration_text
from alphazero.games.batched_game import Game
from alphazero.inference.engines.registry import ENGINES, PRECISIONS
from alphazero.network.weights import network_info
from alphazero.own_games.registry import make_stored_game, same_game
from alphazero.players.base import PlayerSettings
from alphazero.runtime import jit
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError, value_text
from alphazero.runtime.files import split_paths
from alphazero.storage.run_folder import STATE_FILE, RunFolder, find_network
from alphazero.training.settings import TrainSettings

#: Settings in which runs of one configuration may differ.
_NOT_COMPARED = ("seed", *RUN_FOLDER_KEYS)


@dataclasses.dataclass
class Settings:
    """Which runs, and how they are measured."""

    run: str = option(
        "",
        "two or more run folders, separated by commas; the first is the baseline. Patterns such as "
        "checkpoints/othello/* and latest are understood",
    )
    root: str = option("checkpoints", "the folder of all runs, for latest")
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


class Run(NamedTuple):
    """A run measured on N positions."""

    name: str  #: of its folder
    seconds: float  #: its training time
    iterations: int
    #: bool[N], whether the network alone, and the search, keep the exact result.
    alone: np.ndarray
    searched: np.ndarray


@dataclasses.dataclass
class Configuration:
    """R runs that differ only in their seed, measured on N positions."""

    settings: dict[str, Any]
    runs: list[Run] = dataclasses.field(default_factory=list)

    def correct(self, kind: str) -> np.ndarray:
        """Return the answers of the kind "alone" or "searched", bool[R, N], see `Run`."""
        return np.stack([getattr(run, kind) for run in self.runs])


def run(settings: Settings, console: Console) -> None:
    """Measure the runs and print the table."""
    compare_runs(_folders(settings.run, settings.root), settings, console)


def _folders(text: str, root: str) -> list[RunFolder]:
    """Return the folders of the runs that ``run=`` names."""
    found = [path for name in filter(None, split_paths(text)) for path in _matches(name)]
    folders = [RunFolder.find(path, root, None, key="run") for path in found]
    num_different = len({folder.path.resolve() for folder in folders})
    if num_different < max(2, len(folders)):
        raise ConfigError.of("run", text, "two or more different folders, separated by commas")
    return folders


def _matches(name: str) -> list[str]:
    """Return the runs that a pattern such as "checkpoints/othello/2026*" matches, else the name."""
    found = sorted(path for path in glob.glob(name) if (Path(path) / STATE_FILE).is_file())
    return found or [name]


def compare_runs(folders: list[RunFolder], settings: Settings, console: Console) -> None:
    """Measure the newest network of each run, and print how the configurations differ.

    Raises:
        ConfigError: if the runs are of different games, or there are no positions for the game.
    """
    stored = [from_stored(TrainSettings, folder.read_config(), folder.config) for folder in folders]
    digests = [folder.rules_digest for folder in folders]
    source = f"the run '{folders[0].path}'"
    game = make_stored_game(stored[0].game.name, source, settings.game, digest=digests[0])
    for run, digest in zip(stored, digests):
        if not same_game(game.name, run.game.name, game.rules_digest, digest):
            names = f"{game.name} and {run.game.name}"
            message = f"runs of {names} cannot be compared: name runs of one game."
            raise ConfigError(message, key="run", value=run.game.name, allowed=game.name)
        run.game.name = game.name  # another spelling of a path is no other configuration
    positions = find_set(settings.set, game)
    jit.announce_first_compilation()
    found: dict[str, Configuration] = {}
    for folder, run in zip(folders, stored):
        values = {row.key: row.value for row in rows(run) if row.key not in _NOT_COMPARED}
        configuration = found.setdefault(json.dumps(values, default=str), Configuration(values))
        text = f"{folder.path.name} answers {len(positions):,} positions of {game.name} ..."
        with Console(stderr=True, emoji=False).status(Text(text)):
            configuration.runs.append(_measure(folder, game, positions, settings))
    configurations = list(found.values())
    title = (
        f"\n{game.name}: accuracy of {len(folders)} runs on {len(positions):,} positions, of the "
        f"network alone\nand of a search with {settings.num_simulations} simulations"
    )
    text = "\n".join([title, *_run_lines(configurations)])
    console.print(text, markup=False, soft_wrap=True)
    console.print(configurations_table(configurations))
    console.print(_note(configurations), soft_wrap=True)
    if settings.json:
        plain = [_figures(each, configurations) for each in configurations]
        figures = {"num_positions": len(positions), "set": positions.notes, "configurations": plain}
        write_figures(settings.json, figures, console)


def _measure(folder: RunFolder, game: Game, positions: EvaluationSet, settings: Settings) -> Run:
    """Measure the newest network of a run."""
    from alphazero.players.network import load_network_player

    player_settings = PlayerSettings(
        num_simulations=settings.num_simulations,
        engine=settings.engine,
        precision=settings.precision,
    )
    player = load_network_player(game, folder.path, player_settings)
    info = network_info(find_network(folder.path))
    alone, searched = (
        measure_accuracy(one.choose, positions, with_values=False).keeps_result
        for one in (player.limited(0, None), player)
    )
    seconds, iterations = info.get("elapsed_s", 0.0), info.get("iteration", 0)
    return Run(folder.path.name, seconds, iterations, alone, searched)


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


# --- the output -----------------------------------------------------------------------------------


def _run_lines(configurations: list[Configuration]) -> Iterator[str]:
    """Yield the configurations and their runs, which show how much the seed alone changes."""
    for number, each in enumerate(configurations, 1):
        yield f"\n{number}: {_label(each, configurations)}"
        for run in each.runs:
            trained = f"{run.iterations} iterations in {duration_text(run.seconds)}"
            alone, searched = _percent(run.alone), _percent(run.searched)
            yield f"   {run.name}: {trained}, {alone}% alone, {searched}% with search"
    yield ""


def configurations_table(configurations: list[Configuration]) -> Table:
    """Return a row for each configuration: accuracies and their differences from the first."""
    first = configurations[0]
    headings = ("alone, %", "minus the first", "search, %", "minus the first")
    table = figures_table("config", "runs", *headings)
    for number, each in enumerate(configurations, 1):
        cells = [str(number), str(len(each.runs))]
        for kind in ("alone", "searched"):
            cells.append(_percent(each.correct(kind)))
            cells.append("" if each is first else _difference_text(each, first, kind))
        table.add_row(*cells)
    return table


def _note(configurations: list[Configuration]) -> str:
    """Return what the intervals of the differences cover."""
    if len(configurations) == 1:
        return "\nOne configuration: the settings of these runs differ only in the seed."
    covered = "positions and seeds"
    if any(len(configuration.runs) == 1 for configuration in configurations):
        covered = "the positions alone: runs with other seeds would differ too"
    return f"\nDifferences are percentage points with 95% intervals over {covered}."


def _figures(each: Configuration, configurations: list[Configuration]) -> dict[str, Any]:
    """Return the figures of a configuration as plain data for JSON."""
    first, alone, searched = configurations[0], each.correct("alone"), each.correct("searched")
    return {
        "label": _label(each, configurations),
        "runs": [run.name for run in each.runs],
        "seconds": [run.seconds for run in each.runs],
        "iterations": [run.iterations for run in each.runs],
        "raw_accuracy": alone.mean(axis=1).tolist(),
        "accuracy": searched.mean(axis=1).tolist(),
        "raw_difference": difference(alone, first.correct("alone"))._asdict(),
        "difference": difference(searched, first.correct("searched"))._asdict(),
    }


def _percent(correct: np.ndarray) -> str:
    return f"{100 * np.mean(correct):.1f}"


def _difference_text(each: Configuration, first: Configuration, kind: str) -> str:
    found = difference(each.correct(kind), first.correct(kind))
    return f"{100 * found.mean:+.1f} [dim]({100 * found.low:+.1f} to {100 * found.high:+.1f})[/]"
