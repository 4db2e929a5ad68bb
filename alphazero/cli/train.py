"""Train a network by self-play. Choose one file of each config group, such as game=connect_four,
and change any single setting.

    alphazero train game=connect_four
    alphazero train experiment=connect_four_10min seed=1
    alphazero train game=othello_6x6 network=tiny learner.learning_rate=1e-3
    alphazero train --multirun game=tic_tac_toe seed=1,2,3
    alphazero train resume=latest

In: arguments, which Hydra turns into settings (`alphazero.config.hydra_main`). Out: run folders.
"""

import dataclasses
import logging
import math
import shlex
import shutil
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

from rich.text import Text

from alphazero.boards.shapes import has_board
from alphazero.cli.prove import proof_lines
from alphazero.config.command_line import parse_overrides, split_word
from alphazero.config.settings import from_plain
from alphazero.evaluation.run_facts import duration_text
from alphazero.games.registry import make_stored_game
from alphazero.runtime import jit
from alphazero.runtime.console import Console
from alphazero.runtime.errors import ConfigError
from alphazero.storage.run_folder import RunFolder
from alphazero.training.run_config import config_groups, game_of_choice
from alphazero.training.settings import (
    TrainSettings,
    check_resumable,
    check_run,
    settings_to_resume,
)

COMMAND = "alphazero train"


def main(arguments: list[str]) -> int:
    """Train one run or a sweep, or resume a run."""
    if any(word.startswith("resume=") and word != "resume=" for word in arguments):
        settings, folder = _resumed(arguments)
        with folder.locked():
            return _train(settings, folder, resumed=True)
    return _train_new(arguments)


def _train_new(arguments: list[str]) -> int:
    """Train a new run, or the runs of a sweep one after the other, and compare these."""
    from alphazero.training.run_config import Job, run_with_hydra

    runs: list[tuple[TrainSettings, RunFolder]] = []

    def run(job: Job) -> int:
        if job.num_jobs != 1:
            of_jobs = f" of {job.num_jobs}" if job.num_jobs else ""
            space = "\n" if job.number > 1 else ""
            print(f"{space}run {job.number}{of_jobs}: {job.overrides}", flush=True)
        folder = _make_folder(job)
        runs.append((job.settings, folder))
        with folder.locked():
            return _train(job.settings, folder, resumed=False, varied=_varied(job.overrides))

    status = run_with_hydra(arguments, COMMAND, run)
    if status == 0 and len(runs) > 1:
        _compare(runs)
    return status


def _make_folder(job) -> RunFolder:
    """Create the folder of a new run: where Hydra puts it, or one below run.root."""
    if job.folder is not None:
        return RunFolder.at(job.folder)
    run = job.settings.run
    return RunFolder.create(run.root, job.settings.game.name, run.name, job.overrides)


def _varied(overrides: str) -> dict[str, str]:
    """Return the overrides of a run of a sweep by their keys."""
    words = [word.lstrip("+").partition("=") for word in overrides.split()]
    return {key: text.strip("'\"") for key, sign, text in words if sign}


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
    from alphazero.training.loggers.console import ConsoleLogger
    from alphazero.training.loggers.tensorboard import TensorBoardLogger

    shown = ConsoleLogger(console, trainer.settings.run.num_iterations, trainer.progress)
    tensorboard = TensorBoardLogger(trainer, varied)
    report = None
    try:
        with shown:
            for event in trainer.run():
                if isinstance(event, StageProgress):
                    shown.progress(event)
                else:
                    report = event
                    shown.iteration(report)
                    tensorboard.iteration(report)
    finally:
        tensorboard.close()
    return report


def _compare(runs: list[tuple[TrainSettings, RunFolder]]) -> None:
    """Compare the runs of a sweep if an evaluation set ships with their game."""
    from alphazero.cli import compare
    from alphazero.evaluation.exact.set_file import shipped_path

    games = {settings.game.name for settings, _ in runs}
    if len(games) == 1 and shipped_path(games.pop()) is not None:
        folders = [folder for _, folder in runs]
        console = Console(highlight=False, emoji=False)
        compare.compare_runs(folders, compare.Settings(), console)
        runs_text = shlex.quote("run=" + ",".join(str(folder.path) for folder in folders))
        text = f"\nCompare again:  {program()} compare {runs_text}"
        console.print(Text(text, no_wrap=True), soft_wrap=True)


def _resumed(arguments: list[str]) -> tuple[TrainSettings, RunFolder]:
    """Return the settings of a stored run, changed by the arguments, and its folder."""
    if options := [word for word in arguments if word.startswith(("-", "~", "+"))]:
        message = "cannot be combined with resume=: a stored run continues with its own settings"
        raise ConfigError(f"{options[0]} {message}, changed by key=value.", key=options[0])
    texts = dict(split_word(word) for word in arguments)
    key = "game.name" if "game.name" in texts else "game"
    game = texts.pop("game", None)
    name = texts.pop("game.name", None) or (None if game is None else game_of_choice(game))
    root = texts.get("run.root", TrainSettings().run.root)
    folder = RunFolder.find(texts.pop("resume"), root, name)
    for choice in config_groups():
        if choice in texts:
            kept = "network" if choice == "network" else "own settings"
            message = f"{choice}= cannot be combined with resume=: a stored run keeps its {kept}. "
            message += "Single settings can change, such as learner.learning_rate=1e-3."
            raise ConfigError(message, key=choice)
    old = settings_to_resume(folder)
    source = f"the run '{folder.path}'"
    old.game.name = make_stored_game(old.game.name, source, name, key).name
    changes = [f"{key}={text}" for key, text in texts.items()]
    values = parse_overrides(TrainSettings, changes, f"{COMMAND} resume=...")
    settings = from_plain(old, values)
    check_run(settings)
    check_resumable(old, settings)
    return settings, folder


# --- what is printed before and after a run -------------------------------------------------------


def start_lines(trainer, resumed: bool) -> list[str]:
    """Return what is trained, where, and how the network runs."""
    num_weights = sum(parameter.numel() for parameter in trainer.learner.network.parameters())
    reason = f"the rules of {trainer.game.name} give no board (the rule `cells`)"
    verb = f"Resuming after iteration {trainer.iteration} of" if resumed else "Training"
    return [
        f"[bold]{verb} {trainer.game.name}[/] in {trainer.folder.path}",
        f"Network: {num_weights:,} weights on {trainer.learner.device}; "
        f"search runs it with {_engine_text(trainer)}.",
        f"Watch with:  {program('tensorboard')} --logdir {trainer.settings.run.root}",
        *(f"note: {note}" for note in trainer.game.notes),
        *(() if has_board(trainer.game) else (f"note: TensorBoard shows no boards: {reason}.",)),
    ]


def end_lines(trainer, report) -> list[str]:
    """Return what the run reached, and what to do with it."""
    lines = [*proof_lines(report.proof.report), ""] if report.proof is not None else []
    if not trainer.finished:
        lines += [
            f"Ended early, after iteration {report.iteration}: the proof is complete "
            "(evaluation.stop_when_proven=true).",
            "",
        ]
    if report.strength is not None:
        lines.append(_strength_text(report.strength, trainer.settings.evaluation.opening_plies))
    if report.exact is not None:
        lines.append(_exact_text(report.exact, trainer.folder.path))
    return [*lines, *_next_steps(trainer, report)]


def program(name: str = "alphazero") -> str:
    """Return how a program of this installation is called.

    That is its name if the shell finds it, otherwise its path beside the running program.
    """
    beside = Path(sys.argv[0]).with_name(name)
    return name if shutil.which(name) or not beside.is_file() else str(beside)


def _engine_text(trainer) -> str:
    """Return the engine, and why it was chosen."""
    tuning, report = trainer.tuning, trainer.evaluator.report
    if report.refused:
        return f"{report.name} (too far from float32: {report.refused})"
    if tuning is None or len(tuning.engine_speeds) < 2:
        return report.name
    speed = tuning.engine_speeds.get(report.name, 0)
    slowest, slowest_speed = min(tuning.engine_speeds.items(), key=lambda item: item[1])
    when = "by an earlier run" if tuning.remembered else f"in {tuning.seconds:.0f} s"
    return f"{report.name} ({speed:,} evaluations/s, {slowest} {slowest_speed:,}; measured {when})"


def _strength_text(strength, opening_plies: int) -> str:
    interval = f"95% interval {strength.score_low:.1%} to {strength.score_high:.1%}"
    results = f"{strength.wins} won, {strength.draws} drawn, {strength.losses} lost"
    return (
        f"Scored {strength.score:.1%} against {strength.opponent} with "
        f"{strength.num_simulations} simulations per move ({results}; {interval}; "
        f"{strength.num_distinct} distinct games). Each pair of games begins with {opening_plies} "
        "random moves, which may decide it."
    )


def _exact_text(exact, path: Path) -> str:
    return (
        f"Accuracy on {exact.num_positions:,} exactly scored positions: {exact.accuracy:.1%} with "
        f"{exact.num_simulations} simulations, {exact.raw_accuracy:.1%} without search.\n"
        f"Details:  {program()} evaluate player={path}"
    )


def finished_lines(trainer) -> list[str]:
    """Return why a resumed run does nothing, and the command that makes it longer."""
    limits = " and ".join(f"{key}={value:g}" for key, value in trainer.reached_limits.items())
    return [
        f"The run {trainer.folder.path} is finished after {trainer.iteration} iterations: it has "
        f"reached {limits}.",
        f"Train it further:  {_longer_run(trainer)}",
    ]


def _longer_run(trainer) -> str:
    """Return the command that trains a run further: the limits that ended it, doubled."""
    limits = trainer.reached_limits
    if not limits:  # ended by a proof
        limits = {"run.num_iterations": trainer.settings.run.num_iterations}
    done = {"run.num_iterations": trainer.iteration, "run.time_limit_s": trainer.elapsed_s}
    longer = {key: math.ceil(2 * max(value, done[key])) for key, value in limits.items()}
    changes = " ".join(f"{key}={value}" for key, value in longer.items())
    return f"{program()} train {trainer.folder.resume_words(trainer.game.name)} {changes}"


def _next_steps(trainer, report) -> list[str]:
    folder, network = trainer.folder, trainer.folder.network(report.iteration)
    root = Path(trainer.settings.run.root)
    runs = "" if root == Path("checkpoints") else f" runs={root}"
    return [
        f"Trained for {duration_text(report.elapsed_s)}. The network is {network}",
        "",
        "[bold]What next?[/]",
        f"  play against it:   {program()} play game={trainer.game.name} second={network}",
        f"  on a page:         {program()} serve game={trainer.game.name}{runs}",
        f"  look at the run:   {program('tensorboard')} --logdir {folder.path}",
        f"  train it further:  {_longer_run(trainer)}",
    ]
