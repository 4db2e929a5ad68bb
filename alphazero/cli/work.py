"""`alphazero work FOLDER`: play training games for a learner by way of a shared folder.

In: the folder of a run with workers=folder. Out: files of games in it, until Ctrl-C.
`alphazero.workers.folder.folder_worker` is what plays.
"""

import contextlib
import dataclasses
import logging
import time
import warnings
from pathlib import Path

from alphazero.config.command_line import from_overrides
from alphazero.config.settings import option
from alphazero.runtime import jit
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError

COMMAND = "alphazero work"
SUMMARY = (
    "Play training games for a run with workers=folder: wait for a run in FOLDER, play with its "
    "newest network, leave the games there, until Ctrl-C. Any number of machines can do that; they "
    "may come and go. docs/SHARED_FOLDER.md describes it."
)
EXAMPLES = [
    "alphazero work /mnt/shared/run",
    "alphazero work /mnt/shared/run num_threads=4 name=desktop",
    "alphazero work /mnt/shared/run game=my_game.py",
]
_LINE_EVERY_S = 30.0  # where there is no terminal


@dataclasses.dataclass
class WorkSettings:
    """The settings of the command."""

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


def main(arguments: list[str]) -> int:
    """Play until Ctrl-C."""
    if {"-h", "--help"} & set(arguments):
        from alphazero.config.help import print_help

        print_help("work FOLDER", SUMMARY, WorkSettings(), EXAMPLES)
        return 0
    settings = from_overrides(WorkSettings, as_settings(arguments), COMMAND)
    _check(settings)
    jit.announce_first_compilation()
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")
    logging.getLogger("torch").setLevel(logging.ERROR)
    console = Console(highlight=False, emoji=False)
    with console.status("Getting ready ..."):
        from alphazero.runtime.device import choose_device
        from alphazero.workers.folder.folder_worker import FolderWorker, Settings
        from alphazero.workers.folder.shared_folder import SharedFolder

        choose_device(settings.device)
        if settings.game is not None:
            from alphazero.games.registry import make_game

            make_game(settings.game)  # refused now rather than when the run begins
    own = dataclasses.asdict(settings)
    folder = SharedFolder(own.pop("folder"))
    line = _Line(console)
    worker = FolderWorker(folder, Settings(**own), line.show)
    console.print(f"Worker {worker.name} at {folder.path}. Ctrl-C ends it.", markup=False)
    _work(worker, console, line.status)
    return 0


def as_settings(arguments: list[str]) -> list[str]:
    """Return the arguments with the word for the folder as a setting.

    Raises:
        ConfigError: if several words could be the folder.
    """
    words = [word for word in arguments if "=" not in word and word[:1] != "-"]
    if len(words) > 1:
        message = f"'{COMMAND}' takes one folder, not {len(words)}: {' and '.join(words)}. "
        message += "Settings are written key=value."
        raise ConfigError(message, key="folder", value=words[1])
    return [word if "=" in word or word[:1] == "-" else f"folder={word}" for word in arguments]


def _check(settings: WorkSettings) -> None:
    """Refuse what cannot work before anything is loaded."""
    path = settings.folder
    if not path:
        message = f"'{COMMAND}' needs the shared folder: {COMMAND} FOLDER."
        raise ConfigError(message, key="folder", value="")
    place = Path(path).absolute()
    if place.exists() and not place.is_dir():
        raise ConfigError(f"'{path}' is not a folder.", key="folder", value=path)
    if not place.parent.is_dir():  # the learner makes the folder itself
        message = f"the folder '{path}' cannot be there: there is no {place.parent}. Is the share "
        message += "mounted?"
        raise ConfigError(message, key="folder", value=path)


def _work(worker, console: Console, status) -> None:
    """Let the worker work; ``status`` shows what it does."""
    try:
        with status:
            while not worker.has_finished:
                wait_s = worker.step()
                if wait_s and not worker.has_finished:
                    time.sleep(wait_s)
    finally:
        with contextlib.suppress(OSError):
            worker.leave()
        if worker.progress.num_games:
            console.print(f"{worker.progress.num_games:,} games played for the run.", markup=False)


class _Line:
    """One line that changes on a terminal; elsewhere, a line now and then."""

    def __init__(self, console: Console):
        self._console = console
        self._text = ""
        self._printed_at = -_LINE_EVERY_S
        self.status = console.status("") if console.is_terminal else contextlib.nullcontext()

    def show(self, progress) -> None:
        """Show what the worker does."""
        line = progress_text(progress)
        if self._console.is_terminal:
            from rich.text import Text

            self.status.update(Text(line))
            return
        now = time.monotonic()
        if progress.text != self._text or now - self._printed_at >= _LINE_EVERY_S:
            self._text, self._printed_at = progress.text, now
            self._console.print(line, markup=False)


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
