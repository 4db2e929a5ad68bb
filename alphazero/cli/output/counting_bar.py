"""The progress of commands that know how many games or positions they have to get through.

On a terminal it is a bar. Elsewhere, in a log file or under a batch system, it is a line now and
then, so that a long command never looks like one that hangs.
"""

import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from alphazero.evaluation.run_facts import duration_text

#: Seconds over which the speed is estimated: many games end at once, with long gaps between.
SPEED_WINDOW_S = 600
#: Seconds between two lines where there is no terminal.
LINE_EVERY_S = 30.0


class CountingBar(Progress):
    """A bar on standard error, as wide as the terminal, with the count and the time left.

    Where standard error is no terminal, `update` prints a line every `LINE_EVERY_S` seconds.
    """

    def __init__(self):
        console = Console(stderr=True, emoji=False)
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        super().__init__(
            *columns,
            console=console,
            transient=True,
            disable=not console.is_terminal,
            speed_estimate_period=SPEED_WINDOW_S,
            expand=True,
        )
        self._start_s = self._last_line_s = time.monotonic()

    def update(self, task_id, **changes: Any) -> None:
        """See `rich.progress.Progress.update`."""
        super().update(task_id, **changes)
        now = time.monotonic()
        if self.disable and now - self._last_line_s >= LINE_EVERY_S:
            self._last_line_s = now
            print(self._line(task_id, now - self._start_s), file=sys.stderr, flush=True)

    def _line(self, task_id, elapsed_s: float) -> str:
        task = self._tasks[task_id]
        left = ""
        if task.completed and task.total:
            seconds = elapsed_s * (task.total - task.completed) / task.completed
            left = f", about {duration_text(seconds)} left"
        return f"{task.description}: {task.completed:,.0f} of {task.total or 0:,.0f}{left}"
