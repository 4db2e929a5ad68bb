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
import time
from collections.abc import Callable
from pathlib import Path

from rich.status import Status
from rich.text import Text

from alphazero.cli.progress import LINE_EVERY_S
from alphazero.config.settings import option
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError

POSITIONAL = "folder"


@dataclasses.dataclass
class Settings:
    """How the games of a run are played here."""

    folder: str = option("", "the shared folder; also the one word without an equals sign")
    num_threads: int = option(0, "CPU threads; 0 takes all cores", low=0, high=1024)
    device: str = option(
        "auto", "device of the network: auto, cpu, cuda or cuda:1; auto takes a GPU if there is one"
    )
    name: str = option("", "what the learner calls this worker; empty takes the machine's name")
    game: str | None = option(
        None, "your copy of the run's game file: a run never runs a program here by itself"
    )
    until_finished: bool = option(
        False, "end when the run ends or is stopped, instead of waiting for it to go on"
    )


def run(settings: Settings, console: Console) -> None:
    """Play until Ctrl-C."""
    _check(settings)
    with console.status("Getting ready ...") as status:
        from alphazero.runtime.device import choose_device
        from alphazero.workers.folder.folder_worker import FolderWorker
        from alphazero.workers.folder.folder_worker import Settings as WorkerSettings
        from alphazero.workers.folder.shared_folder import SharedFolder

        choose_device(settings.device)
        if settings.game is not None:
            from alphazero.games.registry import make_game

            make_game(settings.game)  # refused now rather than when the run begins
        own = dataclasses.asdict(settings)
        folder = SharedFolder(own.pop("folder"))
        worker = FolderWorker(folder, WorkerSettings(**own), _shown(console, status))
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


def _check(settings: Settings) -> None:
    """Refuse what cannot work before anything is loaded."""
    path = settings.folder
    if not path:
        message = "'alphazero work' needs the shared folder: alphazero work FOLDER."
        raise ConfigError(message, key="folder", value="")
    place = Path(path).absolute()
    if place.exists() and not place.is_dir():
        raise ConfigError(f"'{path}' is not a folder.", key="folder", value=path)
    if not place.parent.is_dir():  # the learner makes the folder itself
        reason = f"there is no {place.parent}. Is the share mounted?"
        raise ConfigError(f"'{path}' cannot be there: {reason}", key="folder", value=path)


def _shown(console: Console, status: Status) -> Callable:
    """Return a function that shows what a worker does.

    It is a line that changes on a terminal, and lines now and then elsewhere.
    """
    shown, printed_at = "", 0.0

    def show(progress) -> None:
        nonlocal shown, printed_at
        line, now = progress_text(progress), time.monotonic()
        if console.is_terminal:
            status.update(Text(line))
        elif progress.text != shown or now - printed_at >= LINE_EVERY_S:
            shown, printed_at = progress.text, now
            console.print(line, markup=False)

    return show


def progress_text(progress) -> str:
    """Return what a worker does as a line."""
    if progress.version < 0 and not progress.num_games:
        return progress.text
    network = f"network {progress.version}, " if progress.version >= 0 else ""
    speed = f", {progress.games_per_s:,.1f} games/s" if progress.games_per_s else ""
    files = f"{progress.num_files} file{'' if progress.num_files == 1 else 's'}"
    return (
        f"{progress.text}: {network}{progress.num_games:,} games{speed}; {files} left for the "
        "learner"
    )
