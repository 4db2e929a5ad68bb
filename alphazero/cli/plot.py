"""`alphazero plot`: the losses of a run with a rolling mean, its strength and its games, as one picture."""

import dataclasses
from pathlib import Path

import numpy as np

from alphazero.cli.help_text import print_help
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.settings import check_folder, from_overrides, option
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
_COLORS = ("#2b6cb0", "#c05621", "#2f855a")


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
        from alphazero.cli.plot_exact import draw_exact

        alike = len({folder.path.name for folder in folders}) < len(folders)
        names = [str(folder.path) if alike else folder.path.name for folder in folders]
        games = " and ".join(sorted({folder.read_config()["game"]["name"] for folder in folders}))
        draw_exact(
            {name: folder.read_metrics() for name, folder in zip(names, folders)},
            games,
            settings.lines,
            output,
        )
    else:
        draw(folders[0].read_metrics(), str(folders[0].path), settings.rolling_mean, output)
    print(output)
    return 0


def rolling_mean(values: list[float], span: int) -> list[float]:
    """Return the mean of each value and of up to ``span`` - 1 values before it."""
    return [
        sum(values[max(0, end - span) : end]) / (end - max(0, end - span))
        for end in range(1, len(values) + 1)
    ]


def draw(rows: list[dict], title: str, span: int, output: Path) -> None:
    """Draw the metrics ``rows`` into the picture ``output``; raises ConfigError if matplotlib is missing or cannot write that kind of file."""
    figure, axes = new_figure(2, 2, title, size=(11, 7))
    _draw_losses(axes[0][0], rows, span)
    _draw_strength(axes[0][1], rows)
    _draw_games(axes[1][0], rows)
    _draw_speed(axes[1][1], rows)
    save_figure(figure, output)


def new_figure(num_rows: int, num_columns: int, title: str, size: tuple[float, float]):
    """Return an empty figure and its axes, laid out in rows and columns; raises ConfigError if matplotlib is missing."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise ConfigError(
            'matplotlib is not installed here: pip install "alphazero-selfplay[plot]" installs it.'
        ) from None
    figure, axes = pyplot.subplots(num_rows, num_columns, figsize=size, constrained_layout=True)
    figure.suptitle(title)
    return figure, axes


def save_figure(figure, output: Path, key: str = "output") -> None:
    """Write a figure and let go of it; raises ConfigError, naming the setting ``key``, if that kind of file or place cannot be written."""
    from matplotlib import pyplot

    for axis in figure.axes:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    try:
        figure.savefig(output, dpi=110)
    except (ValueError, OSError) as error:
        raise ConfigError(
            f"{key}={output} cannot be written ({str(error).splitlines()[0]})."
        ) from None
    finally:
        pyplot.close(figure)


def _draw_losses(axis, rows, span) -> None:
    steps = [row["iteration"] for row in rows]
    for (key, name), color in zip(
        (("loss", "total"), ("policy_loss", "policy"), ("value_loss", "value")), _COLORS
    ):
        values = [row[f"learner.{key}"] for row in rows]
        axis.plot(steps, values, color=color, alpha=0.3, linewidth=1)
        axis.plot(steps, rolling_mean(values, span), color=color, label=name)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(
        title=f"losses, and their rolling mean over {span} iterations",
        xlabel="iteration",
        ylim=(0, None),
    )
    axis.legend(frameon=False)


def _draw_strength(axis, rows) -> None:
    axis.set(title="strength", xlabel="minutes of training")
    measured = [row for row in rows if "strength.score" in row]
    exact = [row for row in rows if "exact.accuracy" in row]
    proven = [row for row in rows if "proof.num_accurate" in row]
    if measured:
        minutes = [row["elapsed_s"] / 60 for row in measured]
        low, high = (
            [100 * row[f"strength.score_{end}"] for row in measured] for end in ("low", "high")
        )
        score = [100 * row["strength.score"] for row in measured]
        errors = [np.subtract(score, low), np.subtract(high, score)]
        axis.errorbar(
            minutes,
            score,
            errors,
            fmt="o-",
            color=_COLORS[0],
            label=f"score against {measured[-1]['strength.opponent']}, 95 % interval",
        )
    if exact:
        minutes = [row["elapsed_s"] / 60 for row in exact]
        for key, label, color in (
            (
                "accuracy",
                f"exact result kept, {exact[-1]['exact.num_simulations']} simulations",
                _COLORS[1],
            ),
            ("raw_accuracy", "the same, network alone", _COLORS[2]),
        ):
            axis.plot(
                minutes,
                [100 * row[f"exact.{key}"] for row in exact],
                "o-",
                markersize=3,
                color=color,
                label=label,
            )
    if measured or exact:
        axis.set(ylabel="%", xlim=(0, None), ylim=(0, 103))
        axis.legend(frameon=False, loc="lower right")
    elif proven:
        minutes = [row["elapsed_s"] / 60 for row in proven]
        axis.plot(
            minutes,
            [row["proof.num_positions"] - row["proof.num_accurate"] for row in proven],
            "o-",
            color=_COLORS[0],
        )
        axis.set(
            ylabel=f"misplayed positions of {proven[-1]['proof.num_positions']:,}", ylim=(0, None)
        )
        axis.yaxis.get_major_locator().set_params(integer=True)


def _draw_games(axis, rows) -> None:
    steps = [row["iteration"] for row in rows]
    for (key, name), color in zip(
        (
            ("first_player_wins", "first player wins"),
            ("draws", "draws"),
            ("distinct_games", "distinct"),
        ),
        _COLORS,
    ):
        axis.plot(steps, [100 * row[f"selfplay.{key}"] for row in rows], color=color, label=name)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(title="self-play games", xlabel="iteration", ylabel="% of the games", ylim=(0, 103))
    axis.legend(frameon=False)


def _draw_speed(axis, rows) -> None:
    axis.plot(
        [row["iteration"] for row in rows],
        [row["selfplay.positions_per_s"] for row in rows],
        color=_COLORS[0],
    )
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set(title="self-play speed", xlabel="iteration", ylabel="positions/s", ylim=(0, None))
