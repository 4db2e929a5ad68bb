"""A progress bar that appears only when a search takes long, and leaves nothing behind."""

import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from alphazero.runtime.wording import counted

DELAY_S = 1.0


class Thinking:
    """The ``progress`` of a search, shown as a bar within a ``with`` block.

    Args:
        time_limit_s: of the search. The bar shows the fraction of the simulations or of the time,
            whichever is larger.
        clock: returns seconds.
    """

    def __init__(
        self, console: Console, text: str, time_limit_s: float | None = None, clock=time.monotonic
    ):
        self._console = console
        self._text = text
        self._time_limit_s = time_limit_s
        self._clock = clock
        self._start_s = clock()
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        self._start_s = self._clock()
        return self

    def __exit__(self, *error) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    @property
    def is_visible(self) -> bool:
        """Whether the bar is on the screen."""
        return self._progress is not None

    def __call__(self, done: int, total: int | None) -> None:
        """Show ``done`` of ``total`` simulations; None is no limit."""
        elapsed_s = self._clock() - self._start_s
        if elapsed_s < DELAY_S or not self._console.is_terminal:
            return
        if self._progress is None:
            self._progress = _bar(self._console)
            self._progress.add_task(self._text, total=1.0, simulations="")
            self._progress.start()
        fraction = done / total if total else 0.0
        if self._time_limit_s is not None:
            fraction = max(fraction, elapsed_s / self._time_limit_s)
        (task,) = self._progress.task_ids
        simulations = counted(done, "simulation")
        self._progress.update(task, completed=min(fraction, 1.0), simulations=simulations)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TextColumn("[dim]{task.fields[simulations]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
