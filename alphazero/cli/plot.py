"""`alphazero plot`: a run's losses, strength and games as a picture, or its error over time."""

import dataclasses
from pathlib import Path

from alphazero.cli.output.help_text import print_help
from alphazero.cli.pictures.exact_error import draw_exact_error
from alphazero.cli.pictures.figure import check_picture
from alphazero.cli.pictures.run import draw_run
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import option
from alphazero.storage.run_folder import RunFolder

COMMAND = "alphazero plot"
SUMMARY = (
    "Plot the losses of a run, its strength over time and its self-play games. With what=exact, "
    "plot how the error against an exact solver falls, for one run or several."
)
EXAMPLES = [
    "alphazero plot run=latest",
    "alphazero plot run=checkpoints/connect_four/RUN output=losses.png rolling_mean=10",
    "alphazero plot what=exact run=checkpoints/connect_four/A,checkpoints/connect_four/B",
]


@dataclasses.dataclass
class PlotSettings:
    """What to plot, and where to."""

    run: str = option(
        "latest", "the run's folder, or latest; several, separated by commas, for what=exact"
    )
    what: str = option(
        "run", "the run as a whole, or its error against an exact solver", choices=("run", "exact")
    )
    lines: str = option(
        "each",
        "what=exact: a line for each run, or their median with the band from lowest to highest",
        choices=("each", "median"),
    )
    root: str = option("checkpoints", "the folder of all runs, for latest")
    output: str = option(
        "",
        "picture to write (.png, .svg, .pdf); by default plot.png or exact.png in the (first) run",
    )
    rolling_mean: int = option(5, "iterations in the rolling mean of the losses", 1, 10_000)


def main(arguments: list[str]) -> int:
    """Draw the picture and print its path."""
    if {"-h", "--help"} & set(arguments):
        print_help("plot", SUMMARY, PlotSettings(), EXAMPLES)
        return 0
    settings = from_overrides(PlotSettings, arguments, COMMAND)
    is_exact = settings.what == "exact"
    paths = settings.run.split(",") if is_exact else [settings.run]
    folders = [RunFolder.find(path, settings.root, None, "run", "metrics.jsonl") for path in paths]
    output = Path(settings.output or folders[0].path / ("exact.png" if is_exact else "plot.png"))
    check_picture(output, "output")
    if is_exact:
        games = sorted({folder.read_config()["game"]["name"] for folder in folders})
        metrics = dict(zip(_names(folders), (folder.read_metrics() for folder in folders)))
        draw_exact_error(metrics, " and ".join(games), settings.lines, output)
    else:
        title = str(folders[0].path)
        draw_run(folders[0].read_metrics(), title, settings.rolling_mean, output)
    print(output)
    return 0


def _names(folders: list[RunFolder]) -> list[str]:
    """Return the names of the runs, or their paths if two runs have the same name."""
    names = [folder.path.name for folder in folders]
    return names if len({*names}) == len(names) else [str(folder.path) for folder in folders]
