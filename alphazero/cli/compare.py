"""`alphazero compare`: the accuracy of several runs on the same positions, in one table."""

import dataclasses
import glob
from pathlib import Path

from alphazero.cli.run_comparison import ComparisonSettings, compare_runs
from alphazero.config.command_line import from_overrides
from alphazero.config.help import print_help
from alphazero.config.settings import option
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.files import check_outputs
from alphazero.storage.run_folder import STATE_FILE, RunFolder

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

    run: str = option(
        "",
        "two or more run folders, separated by commas; the first is the baseline. Patterns such as "
        "checkpoints/othello/* and latest are understood",
    )
    root: str = option("checkpoints", "the folder of all runs, for latest")


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
    folders = _folders(settings.run, settings.root)
    compare_runs(folders, settings, console or Console(highlight=False, emoji=False))
    return 0


def _folders(text: str, root: str) -> list[RunFolder]:
    """Return the folders of the runs that ``run=`` names."""
    allowed = "two or more different folders, separated by commas"
    if not text:
        message = f"{COMMAND} takes run=A,B: {allowed}."
        raise ConfigError(message, key="run", value=text, allowed=allowed)
    found = [path for name in filter(None, text.split(",")) for path in _matches(name)]
    if len(found) < 2:
        raise ConfigError.of("run", text, allowed)
    folders = [RunFolder.find(path, root, None, key="run") for path in found]
    places = [folder.path.resolve() for folder in folders]
    if twice := sorted({path for path, place in zip(found, places) if places.count(place) > 1}):
        raise ConfigError.of("run", text, allowed, f"{', '.join(twice)} is the same run")
    return folders


def _matches(name: str) -> list[str]:
    """Return the runs that a pattern such as "checkpoints/othello/2026*" matches."""
    if not glob.has_magic(name) or Path(name).exists():
        return [name]
    found = sorted(path for path in glob.glob(name) if (Path(path) / STATE_FILE).is_file())
    if not found:
        message = f"run={name}: no folder of a run matches this pattern."
        raise ConfigError(message, key="run", value=name)
    return found
