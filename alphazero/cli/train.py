"""Train a network by self-play. Choose one file of each config group, such as game=connect_four,
and change any single setting.

    alphazero train game=connect_four
    alphazero train experiment=connect_four_10min seed=1
    alphazero train game=othello_6x6 network=tiny learner.learning_rate=1e-3
    alphazero train --multirun game=tic_tac_toe seed=1,2,3
    alphazero train resume=latest

`alphazero.training.run_config` composes the settings of each run, `alphazero.training.settings`
checks them and makes the game, and `alphazero.training.trainer` trains the run.
"""

import argparse
import contextlib
import dataclasses
import itertools
import math
import shlex
import shutil
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

from rich.text import Text

from alphazero.cli import error_text
from alphazero.cli.command import figures_table, summary_and_examples
from alphazero.cli.interrupts import is_interrupted
from alphazero.cli.prove import proof_lines
from alphazero.config.command_line import parse_values, split_override
from alphazero.config.files import to_yaml
from alphazero.config.help import HELP, print_help
from alphazero.config.hydra import COMMAND, runs_of_sweep
from alphazero.config.settings import from_plain, with_home
from alphazero.evaluation.exact.set_file import shipped_path
from alphazero.evaluation.run_facts import duration_text
from alphazero.games.batched_game import Game
from alphazero.network.registry import is_own_kind
from alphazero.own_games.registry import make_game
from alphazero.runtime.console import Console, counted
from alphazero.runtime.errors import ConfigError, InputError
from alphazero.runtime.own_code import is_module_name, reason_of
from alphazero.runtime.process import unless_hung_up
from alphazero.storage.run_folder import RunFolder
from alphazero.training.events import IterationReport
from alphazero.training.loggers.console import ConsoleLogger
from alphazero.training.run_config import compose, config_groups
from alphazero.training.settings import (
    TrainSettings,
    check_resumable,
    check_rules,
    check_run,
    settings_to_resume,
)
from alphazero.training.trainer import Trainer

#: A run's settings, its game, and {key: text} of the settings that distinguish it in its sweep.
_Run = tuple[TrainSettings, Game, dict[str, str]]


def main(arguments: list[str]) -> int:
    """Train one run or a sweep, resume a run, or print the settings or the help.

    Args:
        arguments: the command-line arguments after ``alphazero train``.

    Returns:
        The exit status: 0, or 130 if stopped by Ctrl-C.

    Raises:
        ConfigError: for an argument that cannot be used.
        TrainingDivergedError: if losses, weights or the network's outputs are not finite.
    """
    if HELP & set(arguments):
        _print_help([word for word in arguments if word not in HELP])
        return 0
    if any(word.startswith("resume=") and word != "resume=" for word in arguments):
        return _train(*_resumed(arguments), resumed=True)
    options, overrides = _split(arguments)
    if options.cfg:
        _print_settings(options, overrides)
        return 0
    return _train_new(options, overrides)


def _train_new(options: argparse.Namespace, overrides: list[str]) -> int:
    """Train a new run, or all runs of a sweep one after another.

    Args:
        options: the parsed options, such as ``--multirun``.
        overrides: settings and config-group choices, such as ``seed=1`` and ``game=othello``.

    Returns:
        The exit status: 0; 2 if a run of a sweep failed; 130 if stopped by Ctrl-C.

    Raises:
        ConfigError: if a setting of any run cannot be used, before the first run is trained.
    """
    sweep: Iterable = [(overrides, {})]
    if options.multirun:
        sweep = runs_of_sweep(overrides, config_groups(options.config_dir))
    runs = list[_Run]()
    for run_overrides, varied in sweep:  # all are checked before the first one starts
        settings = compose(run_overrides, options.config_dir)
        runs.append((settings, check_run(settings), varied))
    if len(runs) > 1:
        return _train_sweep(runs)
    settings, game, _ = runs[0]
    folder = RunFolder.create(settings.run.root, game.name, settings.run.name)
    return _train(settings, game, folder, resumed=False)


def _train_sweep(runs: list[_Run]) -> int:
    """Train the runs of a sweep one after another, and print a table of what came of each.

    If a run fails, the others are still trained; Ctrl-C ends the sweep. Below the table, a command
    is proposed that compares two of the runs.

    Returns:
        The exit status: 0; 2 if a run failed; 130 if stopped by Ctrl-C.
    """
    table = figures_table("strength, %", left="\nrun")
    table.add_column("failed", overflow="fold")
    stored = list[tuple[TrainSettings, RunFolder]]()
    status = 0
    try:
        for number, (settings, game, varied) in enumerate(runs, 1):
            name = " ".join(f"{key}={text}" for key, text in varied.items())
            print(f"\nrun {number} of {len(runs)}: {name}", flush=True)
            folder, failure, strength = None, "", ""
            try:
                root = settings.run.root
                folder = RunFolder.create(root, game.name, settings.run.name, name)
                status = max(status, _train(settings, game, folder, resumed=False))
            except Exception as error:
                if is_interrupted() and not isinstance(error, OSError):
                    raise
                status, failure = 2, _print_failure(error)
            if folder and folder.states:
                stored.append((settings, folder))
                name, strength = folder.path.name, _strength(folder)
            table.add_row(Text(name), strength, Text(failure))
            if status == 130:
                break
    finally:
        console = Console(highlight=False, emoji=False)
        console.print(table)
        for (settings, folder), (other, newer) in itertools.combinations(stored, 2):
            if (
                settings.game.name == other.game.name
                and settings.network.kind == other.network.kind
            ):
                command = _comparison(settings, folder, newer)
                console.print(Text(f"\nCompare two:  {command}", no_wrap=True))
                break
    return status


def _print_failure(error: Exception) -> str:
    """Print the error that ended a run of a sweep, and return its message as one line."""
    text = error_text(error)
    if text is None:  # a bug, perhaps in the rules of the user's game
        traceback.print_exc()
        text = reason_of(error)
    print(f"error: {text}", file=sys.stderr)
    return text


def _comparison(settings: TrainSettings, old: RunFolder, new: RunFolder) -> str:
    """Format the command that compares the networks of two runs of the same game."""
    game = settings.game.name
    named = _named_kind(settings)
    if shipped_path(game):  # an evaluation set
        return _command("evaluate", f"player={new.path}", f"baseline={old.path}", *named)
    return _command("match", f"game={game}", f"a={new.path}", f"b={old.path}", *named)


def _split(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split arguments into options such as ``--cfg``, and settings or config-group choices.

    Returns:
        The parsed options, and the other arguments in their order.

    Raises:
        ConfigError: for an unknown option, or a value that an option does not accept.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--multirun", "-m", action="store_true")
    parser.add_argument("--config-dir", "-cd")
    parser.add_argument("--cfg", "-c", choices=("job",))
    try:
        options, overrides = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise ConfigError(f"{error}.", key=error.argument_name) from None
    for word in overrides:
        if word.startswith("-"):
            message = f"'{COMMAND}' has no option {word}. Settings are written key=value, and "
            message += f"'{COMMAND} --help' lists the options."
            raise ConfigError(message, key=word)
    return options, overrides


def _print_help(arguments: list[str]) -> None:
    """Print an overview of the settings, or the help of single sections or settings.

    Args:
        arguments: names of sections or settings to print, options, and ``key=value`` arguments,
            which change the values shown.
    """
    options, words = _split(arguments)
    sections = [word for word in words if "=" not in word and word[0] != "~"]
    settings = compose([word for word in words if word not in sections], options.config_dir)
    summary, examples = summary_and_examples(sys.modules[__name__])
    groups = config_groups(options.config_dir)
    print_help("train", summary, settings, examples, groups, sections)


def _print_settings(options: argparse.Namespace, overrides: list[str]) -> None:
    """Print all settings that a run with these arguments would have, as YAML.

    Raises:
        ConfigError: if the arguments describe a sweep.
    """
    if options.multirun:
        raise ConfigError("--cfg cannot be combined with --multirun.", key="--cfg")
    settings = compose(overrides, options.config_dir)
    check_run(settings)
    print(to_yaml(dataclasses.asdict(settings)), end="")


def _train(settings: TrainSettings, game: Game, folder: RunFolder, resumed: bool) -> int:
    """Train a run and return the exit status; if no iteration gets stored, delete its folder.

    Args:
        settings: the settings of the run.
        game: the game of the settings.
        folder: the folder of the run; its lock is held until the run ends.
        resumed: True to restore the last stored iteration first; False for a new run.
    """
    console = Console(highlight=False, emoji=False)
    with folder.locked(), contextlib.ExitStack() as at_end:
        at_end.callback(folder.discard)  # unless an iteration is stored
        with console.status("Setting up ..."):
            trainer = Trainer(settings, folder, game)
        if resumed:
            trainer.restore()
            folder.write_config(dataclasses.asdict(settings))
        if trainer.reached_limits:
            console.print("\n".join(finished_lines(trainer)))
            return 0
        console.print("\n".join(start_lines(trainer, resumed)) + "\n")
        return _run(trainer, console)


def _run(trainer: Trainer, console: Console) -> int:
    """Run the training loop and pass its events to the loggers.

    After Ctrl-C, a message says which iteration is stored and how to resume the run.

    Args:
        trainer: the trainer of a new or restored run.
        console: where progress and results are printed.

    Returns:
        The exit status: 0, or 130 if stopped by Ctrl-C.
    """
    from alphazero.training.loggers.tensorboard import TensorBoardLogger  # takes a second to import

    shown = ConsoleLogger(console, trainer.progress)
    tensorboard = TensorBoardLogger(trainer)
    try:
        with shown:
            for event in trainer.run():
                with unless_hung_up():
                    shown.show(event)
                if isinstance(event, IterationReport):
                    tensorboard.iteration(event)
    except KeyboardInterrupt:
        console.print(f"\nStopped. {kept_text(trainer)}")
        return 130
    except Exception as error:
        if not isinstance(error, InputError):  # whose message says how to go on
            error.add_note(kept_text(trainer))
        raise
    assert isinstance(event, IterationReport)  # the report of the last iteration
    console.print("\n" + "\n".join(end_lines(trainer, event)))
    return 0


def _strength(folder: RunFolder) -> str:
    """Format a run's strength after its last iteration, in percent; "" if it was not measured.

    This is the accuracy with search if an evaluation set ships with the game, otherwise the score
    of the match against UCT, from the network's viewpoint.
    """
    row = folder.read_metrics()[-1]
    strength = row.get("exact.accuracy", row.get("strength.score"))
    return "" if strength is None else f"{100 * strength:.1f}"


def _resumed(arguments: list[str]) -> tuple[TrainSettings, Game, RunFolder]:
    """Find the run to resume, and apply the remaining arguments to its stored settings.

    Args:
        arguments: ``resume=`` and other ``key=value`` arguments.

    Returns:
        The run's changed settings, its game and its folder.

    Raises:
        ConfigError: if there is no such run, a setting cannot be changed in a resumed run, or the
            rules of the game have changed.
        StoredFileError: if the run's settings cannot be read.
    """
    options = [word for word in arguments if word.startswith(("-", "~", "+"))]
    if options:
        message = f"{options[0]} cannot be combined with resume=, only key=value can."
        raise ConfigError(message, key=options[0])
    texts = dict(split_override(with_home(argument)) for argument in arguments)
    name = None
    digest = ""
    if texts.get("game"):
        named = make_game(texts.pop("game"))
        name = named.name
        digest = named.rules_digest
    if is_own_kind(texts.get("network", "")):
        texts["network.kind"] = texts.pop("network")
    root = texts.get("run.root", TrainSettings().run.root)
    folder = RunFolder.find(texts.pop("resume"), root, name, rules_digest=digest)
    old = settings_to_resume(folder, name, texts.get("network.kind"))
    changes = parse_values(TrainSettings, texts.items(), f"{COMMAND} resume=...")
    settings = from_plain(old, changes)
    game = check_run(settings)
    check_resumable(old, settings)
    check_rules(folder, settings, game)
    return settings, game, folder


# --- text printed before and after a run ----------------------------------------------------------


def start_lines(trainer: Trainer, resumed: bool) -> list[str]:
    """Format the lines printed before training starts.

    They name the game, the run's folder, the network's size and engine, and the command that starts
    TensorBoard.

    Args:
        trainer: the trainer of a new or restored run.
        resumed: whether the run continues after a stored iteration.
    """
    num_weights = sum(parameter.numel() for parameter in trainer.learner.network.parameters())
    verb = f"Resuming after iteration {trainer.iteration} of" if resumed else "Training"
    names = " and ".join(board.game.name for board in trainer.boards)
    engine = trainer.evaluator.report
    refused = f"; refused: {engine.refused}" if engine.refused else ""
    return [
        f"[bold]{verb} {names}[/] in {trainer.folder.path}",
        f"Network: {num_weights:,} weights on {trainer.learner.device}; "
        f"search runs it with {engine.name}{refused}.",
        f"Watch with:  {_tensorboard(trainer.folder.root)}",
        *(f"note: {note}" for note in (*trainer.game.notes, *trainer.store.notices)),
    ]


def kept_text(trainer: Trainer) -> str:
    """Format a message that says which iteration of a stopped run is stored and how to resume.

    It is like "Iteration 12 is stored; resume with: alphazero train resume=RUN_FOLDER".
    """
    if not trainer.store.iteration:
        return "No iteration was finished, so nothing is kept."
    resume = f"{_command('train')} {trainer.resume_words}"
    return f"Iteration {trainer.store.iteration} is stored; resume with: {resume}"


def end_lines(trainer: Trainer, report: IterationReport) -> list[str]:
    """Format a summary of a run that has ended, followed by commands to try next.

    Args:
        trainer: the run's trainer.
        report: the report of the last iteration.
    """
    lines = []
    if report.proof is not None:
        lines = [*proof_lines(trainer.game, report.proof.report), ""]
    if not trainer.reached_limits:
        lines += [
            f"Ended early, after iteration {report.iteration}: the proof is complete "
            "(evaluation.stop_when_proven=true).",
            "",
        ]
    return [*lines, *_next_steps(trainer, report)]


def program(name: str) -> str:
    """Return the shell command for a program that is installed beside the running one.

    It is the program's name if the shell finds a program of that name, otherwise its path.
    """
    beside = Path(sys.argv[0]).with_name(name)
    if shutil.which(name) or not beside.is_file():
        return name
    return str(beside)


def _command(*words: str, of: str = "alphazero") -> str:
    """Format a command line, quoted for a shell, that calls a program of this installation.

    Args:
        words: the arguments of the program.
        of: the name of the program, such as "tensorboard".
    """
    return f"{shlex.quote(program(of))} {shlex.join(words)}"


def _tensorboard(folder: Path | str) -> str:
    return _command("--logdir", str(folder), of="tensorboard")


def finished_lines(trainer: Trainer) -> list[str]:
    """Format the message for resuming a run that has already reached its limits.

    It ends with the command that trains the run further.
    """
    limits = " and ".join(f"{key}={value}" for key, value in trainer.reached_limits.items())
    took = f"{counted(trainer.iteration, 'iteration')} in {duration_text(trainer.elapsed_s)}"
    return [
        f"The run {trainer.folder.path} is finished after {took}: {limits} allows no other.",
        f"Train it further:  {_longer_run(trainer)}",
    ]


def _longer_run(trainer: Trainer, is_proven: bool = False) -> str:
    """Format the command that trains a run further, with twice the limits that ended it.

    Args:
        trainer: the trainer of the finished run.
        is_proven: True if the network's moves are proven perfect, which would end the run again
            after one iteration unless ``evaluation.stop_when_proven`` is switched off.
    """
    done = {"run.num_iterations": trainer.iteration, "run.time_limit_s": trainer.elapsed_s}
    changes = []
    for key, limit in trainer.reached_limits.items():
        doubled = math.ceil(2 * max(limit, done[key]))
        changes.append(f"{key}={doubled}")
    if is_proven and trainer.settings.evaluation.stop_when_proven:
        changes.append("evaluation.stop_when_proven=false")
    return f"{_command('train')} {trainer.resume_words} {' '.join(changes)}"


def _named_kind(settings: TrainSettings) -> list[str]:
    kind = settings.network.kind
    return [f"network_kind={kind}"] if is_module_name(kind) else []


def _next_steps(trainer: Trainer, report: IterationReport) -> list[str]:
    folder = trainer.folder
    network = folder.network(report.iteration)
    root = folder.root
    named = _named_kind(trainer.settings)
    runs = named if root == TrainSettings().run.root else [f"runs={root}", *named]
    game = f"game={trainer.game.name}"
    play = [
        f"  play against it:   {_command('play', game, f'second={network}', *named)}",
        f"  on a page:         {_command('serve', game, *runs)}",
    ]
    if trainer.game.num_players == 1:
        against = f"a={network}", "b=uct:1000"
        play = [
            f"  see it play:       {_command('play', game, f'first={network}', *named)}",
            f"  compare it:        {_command('match', game, *against, *named)}",
        ]
    if report.exact is not None:
        evaluate = _command("evaluate", f"player={folder.path}", "show=3", *named)
        play.append(f"  find its mistakes: {evaluate}")
    is_proven = report.proof is not None and report.proof.report.perfect
    trained = duration_text(report.elapsed_s)
    measured_s = sum(row.get("measure_s") or 0.0 for row in folder.read_metrics())
    if measured_s >= 1:
        trained += f", and measured the strength for {duration_text(measured_s)} more"
    return [
        f"Trained for {trained}.",
        f"The network is {network}",
        "",
        "[bold]What next?[/]",
        *play,
        f"  look at the run:   {_tensorboard(folder.path)}",
        f"  train it further:  {_longer_run(trainer, is_proven)}",
    ]
