"""Show the progress of commands that know their number of games or positions in advance.

A terminal shows a progress bar. A log file gets a line from time to time, so that a long command
does not seem to hang.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from alphazero.evaluation.run_facts import duration_text
from alphazero.players.base import Choice, Player, joined

#: Seconds over which the speed is averaged: many games may end at once, with long gaps between.
SPEED_WINDOW_S = 600
#: Minimum seconds between two progress lines where there is no terminal.
LINE_EVERY_S = 30.0
_SMALLEST_PART = 16  # minimum positions per call; some players have a batch size of only one


@contextlib.contextmanager
def progress(text: str, total: int) -> Iterator[Callable[..., None]]:
    """Show progress on standard error within a ``with`` block.

    A terminal shows a bar; elsewhere, a line is printed about every 30 seconds.

    Args:
        text: a description shown beside the bar or at the start of each line.
        total: the total number of games or positions.

    Yields:
        A function ``show(done, text=None)``, to be called when ``done`` (at least 1) of ``total``
        are finished; it also replaces the description if ``text`` is given.
    """
    bar = progress_bar()
    task = bar.add_task(text, total=total)
    started = printed = time.monotonic()

    def show(done: int, text: str | None = None) -> None:
        nonlocal printed
        bar.update(task, completed=done, description=text)
        now = time.monotonic()
        if bar.disable and now - printed >= LINE_EVERY_S:
            printed = now
            left = duration_text((now - started) * (total - done) / done)
            line = f"{bar.tasks[0].description}: {done:,} of {total:,}, about {left} left"
            print(line, file=sys.stderr, flush=True)

    with bar:
        yield show


def progress_bar() -> Progress:
    """Make a progress bar on standard error, as wide as the terminal.

    It is invisible if standard error is not a terminal.
    """
    console = Console(stderr=True, emoji=False)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=SPEED_WINDOW_S,
        expand=True,
    )


@contextlib.contextmanager
def counted_choice(
    player: Player, text: str, num_positions: int
) -> Iterator[Callable[[np.ndarray], Choice]]:
    """Yield a function that chooses moves like `Player.choose` and shows its progress.

    The function splits its positions into small batches and updates the display after each.

    Args:
        player: the player that chooses the moves.
        text: a description shown beside the progress bar.
        num_positions: total number of positions over all calls of the function.
    """
    size = max(player.batch_size, _SMALLEST_PART)
    num_done = 0
    with progress(text, num_positions) as show:

        def choose(states: np.ndarray) -> Choice:
            nonlocal num_done
            parts = []
            for part in np.split(states, range(size, len(states), size)):
                parts.append(player.choose(part))
                num_done += len(part)
                show(num_done)
            return joined(parts)

        yield choose
