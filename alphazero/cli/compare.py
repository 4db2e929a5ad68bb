"""`alphazero compare`: several runs on the same positions, so that what their settings are worth can be read from one table."""

import dataclasses
import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from alphazero.cli.help_text import print_help
from alphazero.evaluation.exact.accuracy import measure_accuracy
from alphazero.evaluation.exact.comparison import Difference, difference
from alphazero.evaluation.exact.sets import EvaluationSet, find_set
from alphazero.games.registry import make_stored_game, same_game
from alphazero.players.base import PlayerSettings
from alphazero.runtime import jit
from alphazero.runtime import settings as config
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import check_folder, option
from alphazero.storage.run_folder import RunFolder
from alphazero.training.settings import TrainSettings

COMMAND = "alphazero compare"
SUMMARY = (
    "Compare the newest networks of several runs with perfect play, on the same positions, and each with the first run. Runs that differ in their seed "
    "alone count as one way of training. 'alphazero train --multirun' ends with this table where an evaluation set ships with the game."
)
EXAMPLES = [
    "alphazero compare run=checkpoints/connect_four/A,checkpoints/connect_four/B",
    "alphazero make_evaluation_set seed=7 out=fresh.csv && alphazero compare run=A,B,C set=fresh.csv",
    "alphazero train --multirun experiment=ablation/base,ablation/adamw,ablation/gumbel seed=1,2",
]
_APART = (
    "seed",
    "resume",
    "run.name",
    "run.root",
    "run.keep_networks",
    "run.retune",
    "run.sample_game_every",
)  # keys that make no other way of training


@dataclasses.dataclass
class CompareSettings:
    """What is compared."""

    run: str = option(
        "",
        "folders of runs, with commas between them; the first is what the others are compared with",
    )
    set: str | None = option(
        None,
        "file of the positions, see 'alphazero make_evaluation_set'; without it those that ship with the game",
    )
    game: str | None = option(
        None, "your own game's file, if a run is of one: a stored file alone never runs it"
    )
    num_simulations: int = option(200, "simulations for a move", 1, 1_000_000)
    engine: str = option(
        "torch", "what runs the networks", choices=("torch", "torch_compile", "openvino")
    )
    precision: str = option(
        "float32", "number format; int8 needs openvino", choices=("float32", "bfloat16", "int8")
    )
    json: str | None = option(None, "write the figures to this file")


@dataclasses.dataclass
class Way:
    """Runs that differ in their seed alone."""

    label: str  #: the settings in which it differs from the first way, as words of a command
    settings: dict
    names: list[str]  #: the folders of its runs
    seconds: list[float]  #: of training, each run's
    iterations: list[int]
    raw_accuracy: list[np.ndarray]  #: bool[N] for each run
    kept: list[np.ndarray]


def main(words: list[str], console: Console | None = None) -> int:
    """Measure the runs and print the table."""
    if {"-h", "--help"} & set(words):
        print_help("compare", SUMMARY, CompareSettings(), EXAMPLES)
        return 0
    settings = from_overrides(CompareSettings, words, COMMAND)
    check_folder(settings, "json")
    paths = [path for path in settings.run.split(",") if path]
    if len(paths) < 2:
        raise ConfigError("run= takes two folders of runs or more, with commas between them.")
    places = [Path(path).resolve() for path in paths]
    if twice := sorted({path for path, place in zip(paths, places) if places.count(place) > 1}):
        raise ConfigError(
            f"run= names {', '.join(twice)} more than once: a run differs in nothing from itself."
        )
    compare(
        [RunFolder.find(path, "", None, key="run") for path in paths],
        settings,
        console or Console(highlight=False),
    )
    return 0


def compare(folders: list[RunFolder], settings: CompareSettings, console: Console) -> None:
    """Measure the newest network of each run, and print how the ways of training differ."""
    stored = [
        config.from_stored(TrainSettings, folder.read_config(), folder.config) for folder in folders
    ]
    game = make_stored_game(stored[0].game.name, f"the run '{folders[0].path}'", settings.game)
    for run in stored:
        if not same_game(game.name, run.game.name):
            raise ConfigError(
                f"runs of {game.name} and {run.game.name} cannot be compared: take runs of one game.",
                key="run",
                value=run.game.name,
                allowed=game.name,
            )
        run.game.name = game.name  # another spelling of a path is no other way of training
    positions = find_set(settings.set, game)
    jit.announce_first_compilation()
    ways: dict[str, Way] = {}
    for folder, run in zip(folders, stored):
        with Console(stderr=True).status(
            f"{folder.path.name} answers {len(positions):,} positions of {game.name} ..."
        ):
            _add(ways, folder, run, game, positions, settings)
    ways = list(ways.values())
    _name(ways)
    console.print(
        f"\n{game.name}: {len(folders)} runs on {len(positions):,} positions: how often the exact result is kept,",
        soft_wrap=True,
    )
    console.print(
        f"by the network alone and by a search of {settings.num_simulations} simulations",
        soft_wrap=True,
    )
    for number, way in enumerate(ways, 1):
        if len(ways) > 1:
            console.print(f"  way {number}: {way.label}", markup=False, soft_wrap=True)
    console.print()
    console.print(table(ways))
    if len(folders) > len(ways):
        console.print()
        console.print(table_of_runs(ways))
    console.print(_notes(ways), soft_wrap=True)
    if settings.json:
        Path(settings.json).write_text(json.dumps(_to_plain(ways, positions), indent=1) + "\n")
        console.print(f"Figures: {settings.json}", markup=False, soft_wrap=True)


def table(ways: list[Way]) -> Table:
    """Return the ways as rows: how long, shares of moves that keep the result, and the difference from the first."""
    result = Table(box=None, pad_edge=False, header_style="bold")
    for heading in (
        "\nway",
        "\nruns",
        "training,\nminutes",
        "alone,\nkept %",
        "less the\nfirst",
        "search,\nkept %",
        "less the\nfirst",
    ):
        result.add_column(heading, justify="right")
    first = ways[0]
    for number, way in enumerate(ways, 1):
        figures = []
        for kept, baseline in ((way.raw_accuracy, first.raw_accuracy), (way.kept, first.kept)):
            figures.append(f"{100 * np.mean(kept):.1f}")
            figures.append(
                "" if way is first else _text(difference(np.stack(kept), np.stack(baseline)))
            )
        result.add_row(
            str(number), str(len(way.kept)), f"{np.mean(way.seconds) / 60:.1f}", *figures
        )
    return result


def table_of_runs(ways: list[Way]) -> Table:
    """Return each run of the ways as a row: how far its seed alone takes it from the others of its way."""
    result = Table(box=None, pad_edge=False, header_style="bold")
    result.add_column("\nrun", overflow="fold")
    for heading in (
        "\nway",
        "\niterations",
        "training,\nminutes",
        "alone,\nkept %",
        "search,\nkept %",
    ):
        result.add_column(heading, justify="right")
    for number, way in enumerate(ways, 1):
        for name, iterations, seconds, raw_accuracy, kept in zip(
            way.names, way.iterations, way.seconds, way.raw_accuracy, way.kept
        ):
            result.add_row(
                name,
                str(number),
                str(iterations),
                f"{seconds / 60:.1f}",
                f"{100 * raw_accuracy.mean():.1f}",
                f"{100 * kept.mean():.1f}",
            )
    return result


def _add(
    ways: dict[str, Way],
    folder: RunFolder,
    run: TrainSettings,
    game,
    positions: EvaluationSet,
    settings: CompareSettings,
) -> None:
    """Measure a run and put it to the runs of its way."""
    from alphazero.network.weights import load_network
    from alphazero.players.network import NetworkPlayer
    from alphazero.storage.run_folder import find_network

    values = {key: value for key, value, *_ in config.rows(run) if key not in _APART}
    way = ways.setdefault(json.dumps(values, default=str), Way("", values, [], [], [], [], []))
    player_settings = PlayerSettings(
        num_simulations=settings.num_simulations,
        engine=settings.engine,
        precision=settings.precision,
    )
    player = NetworkPlayer(game, folder.path, player_settings)
    info = load_network(find_network(folder.path)).info
    way.names.append(folder.path.name)
    way.seconds.append(info.get("elapsed_s", float("nan")))
    way.iterations.append(info.get("iteration", 0))
    way.raw_accuracy.append(
        measure_accuracy(player.limited(0, None).choose, positions, with_values=False).keeps_result
    )
    way.kept.append(measure_accuracy(player.choose, positions, with_values=False).keeps_result)


def _name(ways: list[Way]) -> None:
    """Label each way by the settings in which it differs from the first."""
    for way in ways:
        changed = [
            f"{key}={config.value_text(value)}"
            for key, value in way.settings.items()
            if value != ways[0].settings.get(key)
        ]
        way.label = " ".join(changed) or "the one that the others are compared with"


def _notes(ways: list[Way]) -> str:
    told = (
        "positions and seeds"
        if all(len(way.kept) > 1 for way in ways)
        else "the positions alone: runs of other seeds would differ too"
    )
    if len(ways) == 1:
        return "\nOne way of training: the settings of these runs are alike but for the seed."
    return f"\nDifferences in percentage points with 95 % intervals, over {told}."


def _text(found: Difference) -> str:
    return f"{100 * found.mean:+.1f} [dim]({100 * found.low:+.1f} to {100 * found.high:+.1f})[/]"


def _to_plain(ways: list[Way], positions: EvaluationSet) -> dict:
    first = ways[0]
    rows = [
        {
            "way": way.label,
            "runs": way.names,
            "seconds": way.seconds,
            "iterations": way.iterations,
            "raw_accuracy": [float(kept.mean()) for kept in way.raw_accuracy],
            "accuracy": [float(kept.mean()) for kept in way.kept],
            "raw_difference": difference(
                np.stack(way.raw_accuracy), np.stack(first.raw_accuracy)
            )._asdict(),
            "difference": difference(np.stack(way.kept), np.stack(first.kept))._asdict(),
        }
        for way in ways
    ]
    return {"num_positions": len(positions), "set": positions.notes, "ways": rows}
