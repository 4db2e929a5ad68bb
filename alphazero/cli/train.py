"""`alphazero train`: run the training loop and show its events, once or for each run of a sweep.

In: arguments, which Hydra turns into settings (`alphazero.cli.hydra_main`). Out: run folders.
"""

import dataclasses
import logging
import shlex
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.text import Text

from alphazero.cli.output.help_text import HELP, print_run_help
from alphazero.cli.output.train_text import (
    end_lines,
    finished_lines,
    program,
    start_lines,
)
from alphazero.config.command_line import parse_overrides, split_word
from alphazero.config.settings import from_plain
from alphazero.games.registry import make_stored_game
from alphazero.runtime import jit
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.storage.run_folder import RunFolder
from alphazero.training.config_files import config_groups, game_of_choice
from alphazero.training.settings import (
    TrainSettings,
    check_resumable,
    check_run,
    settings_to_resume,
)

COMMAND = "alphazero train"
SUMMARY = (
    "Train a network by self-play. Choose one file of each config group, such as "
    "game=connect_four, and change any single setting."
)
EXAMPLES = [
    "alphazero train game=connect_four",
    "alphazero train experiment=connect_four_10min seed=1",
    "alphazero train game=othello_6x6 network=tiny learner.learning_rate=1e-3",
    "alphazero train --multirun game=tic_tac_toe seed=1,2,3",
    "alphazero train resume=latest",
]


def main(arguments: list[str]) -> int:
    """Train one run or a sweep, or resume a run."""
    if HELP & set(arguments):
        print_run_help("train", SUMMARY, arguments, EXAMPLES)
        return 0
    if any(word.startswith("resume=") and word != "resume=" for word in arguments):
        settings, folder = _resumed(arguments)
        with folder.locked():
            return _train(settings, folder, resumed=True)
    return _train_new(arguments)


def _train_new(arguments: list[str]) -> int:
    """Train a new run, or the runs of a sweep one after the other, and compare these."""
    from alphazero.cli.hydra_main import Job, run_with_hydra

    runs: list[tuple[TrainSettings, RunFolder]] = []

    def run(job: Job) -> int:
        settings = job.settings
        if job.num_jobs != 1:
            of_jobs = f" of {job.num_jobs}" if job.num_jobs else ""
            space = "\n" if job.number > 1 else ""
            print(f"{space}run {job.number}{of_jobs}: {job.overrides}", flush=True)
        folder = _make_folder(settings, job.folder, job.overrides)
        runs.append((settings, folder))
        with folder.locked():
            return _train(settings, folder, resumed=False, varied=_varied(job.overrides))

    status = run_with_hydra(arguments, COMMAND, run)
    if status == 0 and len(runs) > 1:
        _compare(runs)
    return status


def _varied(overrides: str) -> dict[str, str]:
    """Return the overrides of a run of a sweep by their keys."""
    words = [word.lstrip("+").partition("=") for word in overrides.split()]
    return {key: text.strip("'\"") for key, sign, text in words if sign}


def _make_folder(settings: TrainSettings, path: Path | None, overrides: str) -> RunFolder:
    """Create the folder of a new run: ``path``, or one below run.root named by the settings."""
    if path is not None:
        return RunFolder.at(path)
    run = settings.run
    return RunFolder.create(run.root, settings.game.name, run.name, overrides)


def _train(
    settings: TrainSettings,
    folder: RunFolder,
    resumed: bool,
    varied: Mapping[str, str] | None = None,
) -> int:
    """Run the training loop and pass its events to the loggers; Ctrl-C stops it cleanly.

    Args:
        varied: what tells the run from others of its sweep: settings or choices of config groups.
    """
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    jit.announce_first_compilation()
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")
    logging.getLogger("torch").setLevel(logging.ERROR)
    from alphazero.training.trainer import Trainer

    try:
        with console.status(
            "Setting up; the first run of a game measures engines for ten seconds ..."
        ):
            trainer = Trainer(settings, folder)
    except BaseException:  # what the run needs is not there, or Ctrl-C: no empty folder is left
        if not resumed:
            folder.discard()
        raise
    if resumed:
        trainer.restore()
        folder.write_config(dataclasses.asdict(settings))
        if trainer.finished:
            console.print("\n".join(finished_lines(trainer)))
            return 0
    console.print("\n".join(start_lines(trainer, resumed)) + "\n")
    try:
        report = _run(trainer, console, varied)
    except ConfigError:  # what the run needs is not there: the shared folder is another run's
        folder.discard()
        raise
    except KeyboardInterrupt:
        done = trainer.stored_iteration
        if done:
            console.print(f"\nStopped. Iteration {done} is stored; the unfinished one is lost.")
            resume = folder.resume_words(settings.game.name)
            console.print(f"Resume with:  {program()} train {resume}")
        else:
            folder.discard()
            console.print("\nStopped. No iteration was finished, so nothing is kept.")
        return 130
    console.print("\n" + "\n".join(end_lines(trainer, report)))
    return 0


def _run(trainer, console: Console, varied: Mapping[str, str] | None):
    """Pass the events of a run to its loggers; return the report of the last iteration."""
    from alphazero.training.events import StageProgress

    report = None
    loggers = _loggers(console, trainer, varied)
    try:
        with loggers[0]:
            for event in trainer.run():
                is_progress = isinstance(event, StageProgress)
                for logger in loggers:
                    logger.progress(event) if is_progress else logger.iteration(event)
                report = report if is_progress else event
    finally:
        for logger in loggers:
            logger.close()
    return report


def _loggers(console: Console, trainer, varied: Mapping[str, str] | None) -> list:
    from alphazero.play.run_loggers import file_loggers
    from alphazero.training.loggers.console import ConsoleLogger

    return [
        ConsoleLogger(console, trainer.settings.run.num_iterations, trainer.run_fraction),
        *file_loggers(trainer, varied),
    ]


def _compare(runs: list[tuple[TrainSettings, RunFolder]]) -> None:
    """Compare the runs of a sweep if an evaluation set ships with their game."""
    from alphazero.cli.run_comparison import ComparisonSettings, compare_runs
    from alphazero.evaluation.exact.set_file import shipped_path

    games = {settings.game.name for settings, _ in runs}
    if len(games) == 1 and shipped_path(games.pop()) is not None:
        folders = [folder for _, folder in runs]
        console = Console(highlight=False, emoji=False)
        compare_runs(folders, ComparisonSettings(), console)
        runs_text = shlex.quote("run=" + ",".join(str(folder.path) for folder in folders))
        text = f"\nCompare again:  {program()} compare {runs_text}"
        console.print(Text(text, no_wrap=True), soft_wrap=True)


def _resumed(arguments: list[str]) -> tuple[TrainSettings, RunFolder]:
    """Return the settings of a stored run, changed by the arguments, and its folder."""
    if options := [word for word in arguments if word.startswith(("-", "~", "+"))]:
        message = f"{options[0]} cannot be combined with resume=: a stored run continues with its "
        message += "own settings, changed by key=value arguments."
        raise ConfigError(message, key=options[0])
    texts = dict(split_word(word) for word in arguments)
    key = "game.name" if "game.name" in texts else "game"
    game = texts.pop("game", None)
    name = texts.pop("game.name", None) or (None if game is None else game_of_choice(game))
    root = texts.get("run.root", TrainSettings().run.root)
    folder = RunFolder.find(texts.pop("resume"), root, name)
    _check_no_choices(texts)
    old = settings_to_resume(folder)
    source = f"the run '{folder.path}'"
    old.game.name = make_stored_game(old.game.name, source, name, key).name
    changes = [f"{key}={text}" for key, text in texts.items()]
    values = parse_overrides(TrainSettings, changes, f"{COMMAND} resume=...")
    settings = from_plain(old, values)
    check_run(settings)
    check_resumable(old, settings)
    return settings, folder


def _check_no_choices(keys: Iterable[str]) -> None:
    """Check that no config group is chosen for a stored run."""
    for key in keys:
        if key in config_groups():
            kept = "its network" if key == "network" else "its own settings"
            message = f"{key}= cannot be combined with resume=: a stored run keeps {kept}. Single "
            message += "settings can change, such as learner.learning_rate=1e-3."
            raise ConfigError(message, key=key)
