"""The bar of commands that know how many games or positions they have to get through."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

#: Seconds that the pace is estimated over: games end many at once, with long gaps between.
PACE_S = 600


def counting_bar() -> Progress:
    """Return a bar on standard error as wide as the terminal, with the count and the time left; nothing is shown where that is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    return Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=PACE_S,
        expand=True,
    )
