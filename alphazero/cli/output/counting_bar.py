"""The progress bar of commands that know how many games or positions they have to get through."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

#: Seconds over which the speed is estimated: many games end at once, with long gaps between.
SPEED_WINDOW_S = 600


def counting_bar() -> Progress:
    """Return a bar on standard error, as wide as the terminal, with the count and the time left.

    Nothing is shown if standard error is no terminal.
    """
    console = Console(stderr=True, emoji=False)
    columns = (
        TextColumn("{task.description}", markup=False),
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
        speed_estimate_period=SPEED_WINDOW_S,
        expand=True,
    )
