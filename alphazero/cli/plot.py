"""`alphazero plot`: the losses of a run with a rolling mean, its strength and its games, as one picture."""

import dataclasses
from pathlib import Path

from alphazero.cli.help_text import print_help
from alphazero.cli.pictures.exact_error import draw_exact_error
from alphazero.cli.pictures.run import draw_run
from alphazero.runtime.overrides import from_overrides
from alphazero.runtime.settings import check_folder, option
from alphazero.storage.run_folder import RunFolder

SUMMARY = (
    "Draw the losses of a run with a rolling mean, its strength over time, and what its games look like; "
    "or, with what=exact, how its error beside an exact solver falls, for one run or several."
)
EXAMPLES = [
    "alphazero plot run=latest",
    "alphazero plot run=checkpoints/connect_four/RUN output=losses.png rolling_mean=10",
    "alphazero plot run=checkpoints/connect_four/A,checkpoints/connect_four/B what=exact output=exact.png",
]


@dataclasses.dataclass
class PlotSettings:
    """What to draw, and where to."""

    run: str = option(
        "latest",
        "folder of the run, or latest; for what=exact also several, with commas between them",
    )
    what: str = option(
        "run",
        "everything of one run, or the error beside an exact solver by training time",
        choices=("run", "exact"),
    )
    lines: str = option(
        "each",
        "what=exact: a line for each run, or the median of them in a band from the lowest to the highest",
        choices=("each", "median"),
    )
    root: str = option("checkpoints", "folder of all runs, where latest is looked for")
    output: str = option(
        "",
        "picture to write (.png, .svg, .pdf); empty writes plot.png or exact.png into the (first) run's folder",
    )
    rolling_mean: int = option(5, "iterations that the rolling mean of the losses spans", 1, 10_000)


def main(words: list[str]) -> int:
    """Draw the picture and print where it is."""
    if {"-h", "--help"} & set(words):
        print_help("plot", SUMMARY, PlotSettings(), EXAMPLES)
        return 0
    settings = from_overrides(PlotSettings, words, "alphazero plot")
    paths = settings.run.split(",") if settings.what == "exact" else [settings.run]
    folders = [RunFolder.find(path, settings.root, None, "run", "metrics.jsonl") for path in paths]
    check_folder(settings, "output")
    output = (
        Path(settings.output)
        if settings.output
        else folders[0].path / ("exact.png" if settings.what == "exact" else "plot.png")
    )
    if settings.what == "exact":
        alike = len({folder.path.name for folder in folders}) < len(folders)
        names = [str(folder.path) if alike else folder.path.name for folder in folders]
        games = " and ".join(sorted({folder.read_config()["game"]["name"] for folder in folders}))
        draw_exact_error(
            {name: folder.read_metrics() for name, folder in zip(names, folders)},
            games,
            settings.lines,
            output,
        )
    else:
        draw_run(folders[0].read_metrics(), str(folders[0].path), settings.rolling_mean, output)
    print(output)
    return 0
