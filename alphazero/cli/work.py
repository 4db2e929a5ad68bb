"""Play training games for a run with workers=folder: wait for a run in FOLDER, play with its newest
network, leave the games there, until Ctrl-C. Any number of machines can do that; they may come and
go. docs/SHARED_FOLDER.md describes it.

    alphazero work /mnt/shared/run
    alphazero work /mnt/shared/run num_threads=4 name=desktop
    alphazero work /mnt/shared/run game=my_game.py

In: the folder of a run. Out: files of games in it. `alphazero.workers.folder.folder_worker` is what
plays.
"""

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path

from rich.status import Status
from rich.text import Text

from alphazero.cli.progress import LINE_EVERY_S
from alphazero.config.settings import option
from alphazero.games.registry import make_game
from alphazero.runtime.console import Console
from alphazero.runtime.device import choose_device
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.wording import counted
from alphazero.workers.folder import folder_worker
from alphazero.workers.folder.folder_worker import FolderWorker, Progress
from alphazero.workers.folder.shared_folder import SharedFolder

POSITIONAL = "folder"


@dataclasses.dataclass
class Settings(folder_worker.Settings):
    """How the games of a run are played here."""

    folder: str = option("", "the shared folder; also the one word without an equals sign")


def run(settings: Settings, console: Console) -> None:
    """Play until Ctrl-C."""
    path = Path(settings.folder).absolute()
    is_possible = path.is_dir() or (path.parent.is_dir() and not os.path.lexists(path))
    if not settings.folder or not is_possible:
        allowed = "the path of the shared folder; the folder above it must exist"
        raise ConfigError.of("folder", settings.folder, allowed)
    choose_device(settings.device)
    if settings.game is not None:
        make_game(settings.game)  # refused now rather than when the run begins
    with console.status("Getting ready ...") as status:
        folder = SharedFolder(settings.folder)
        worker = FolderWorker(folder, settings, _shown(console, status))
        try:
            while not worker.has_finished:
                wait_s = worker.step()
                if wait_s and not worker.has_finished:
                    time.sleep(wait_s)
        finally:
            with contextlib.suppress(OSError):
                worker.leave()
            if worker.progress.num_games:
                text = f"{worker.progress.num_games:,} games played for the run."
                console.print(text, markup=False)


def _shown(console: Console, status: Status) -> Callable[[Progress], None]:
    """Return a function that shows what a worker does.

    It is a line that changes on a terminal, and lines now and then elsewhere.
    """
    shown, printed_at = "", 0.0

    def show(progress: Progress) -> None:
        nonlocal shown, printed_at
        line, now = progress_text(progress), time.monotonic()
        if console.is_terminal:
            status.update(Text(line))
        elif progress.text != shown or now - printed_at >= LINE_EVERY_S:
            shown, printed_at = progress.text, now
            console.print(line, markup=False)

    return show


def progress_text(progress: Progress) -> str:
    """Return what a worker does as a line."""
    if progress.version < 0 and not progress.num_games:
        return progress.text
    network = f"network {progress.version}, " if progress.version >= 0 else ""
    speed = f", {progress.games_per_s:,.1f} games/s" if progress.games_per_s else ""
    left = f"{counted(progress.num_files, 'file')} left for the learner"
    return f"{progress.text}: {network}{progress.num_games:,} games{speed}; {left}"
