"""`alphazero compare`: the accuracy of several runs on the same positions, in one table."""

import dataclasses
from pathlib import Path

from alphazero.cli.output.help_text import print_help
from alphazero.cli.run_comparison import ComparisonSettings, compare_runs
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import check_outputs
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import option
from alphazero.storage.run_folder import RunFolder

COMMAND = "alphazero compare"
SUMMARY = (
    "Compare the newest networks of several runs with perfect play on the same positions, and each "
    "with the first run. Runs that differ only in their seed count as one configuration. "
    "'alphazero train --multirun' ends with this table if an evaluation set ships with the game."
)
EXAMPLES = [
    "alphazero compare run=checkpoints/connect_four/A,checkpoints/connect_four/B",
    "alphazero make_evaluation_set seed=7 out=fresh.csv",
    "alphazero compare run=A,B,C set=fresh.csv",
    "alphazero train --multirun experiment=ablation/base,ablation/gumbel seed=1,2",
]


@dataclasses.dataclass
class CompareOptions:
    """Which runs."""

    run: str = option("", "two or more run folders, separated by commas; the first is the baseline")


@dataclasses.dataclass
class CompareSettings(ComparisonSettings, CompareOptions):
    """The settings of the command."""


def main(arguments: list[str], console: Console | None = None) -> int:
    """Measure the runs and print the table."""
    if {"-h", "--help"} & set(arguments):
        print_help("compare", SUMMARY, CompareSettings(), EXAMPLES)
        return 0
    settings = from_overrides(CompareSettings, arguments, COMMAND)
    check_outputs(settings, "json")
    paths = [path for path in settings.run.split(",") if path]
    _check_paths(settings.run, paths)
    folders = [RunFolder.find(path, "", None, key="run") for path in paths]
    compare_runs(folders, settings, console or Console(highlight=False, emoji=False))
    return 0


def _check_paths(text: str, paths: list[str]) -> None:
    allowed = "two or more different folders, separated by commas"
    if len(paths) < 2:
        message = f"run={text} is not allowed: run takes {allowed}."
        raise ConfigError(message, key="run", value=text, allowed=allowed)
    places = [Path(path).resolve() for path in paths]
    if twice := sorted({path for path, place in zip(paths, places) if places.count(place) > 1}):
        message = f"run={text} is not allowed: {', '.join(twice)} is the same run."
        raise ConfigError(message, key="run", value=text, allowed=allowed)
