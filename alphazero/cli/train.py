"""`alphazero train`: compose the settings with Hydra, check them, and run the training loop with its sinks.

Hydra's object ends in this file: everything behind it gets plain dataclasses.
"""

import dataclasses
import logging
import shutil
import sys
import warnings
from pathlib import Path

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from alphazero.cli.proof_text import proof_lines
from alphazero.runtime import jit
from alphazero.runtime import settings as config
from alphazero.runtime.errors import ConfigError
from alphazero.runtime.stored_names import (
    SHAPES_OF_STORED_RUNS,
    check_not_retired,
    check_stored_settings,
)
from alphazero.storage.run_folder import RunFolder
from alphazero.training.settings import TrainSettings, check_run


def main(words: list[str]) -> int:
    """Train, or go on with a run; see the module's docstring and `alphazero train --help`."""
    if any(word in ("-h", "--help") for word in words):
        return _help([word for word in words if word not in ("-h", "--help")])
    flags = [word for word in words if word.startswith("-")]
    words = [word for word in words if not word.startswith("-")]
    unknown = [flag for flag in flags if flag not in ("-m", "--multirun")]
    if unknown:
        raise ConfigError(
            f"'alphazero train' has no option {unknown[0]}; settings are written key=value, and --multirun runs a sweep."
        )
    if any(word.split("=", 1)[0] == "resume" and word.split("=", 1)[-1] for word in words):
        return _train(*_resumed(words))
    jobs = _jobs(words) if flags else [words]
    all_settings, folders = [compose(job) for job in jobs], []
    for number, settings in enumerate(all_settings):
        if len(jobs) > 1:
            print(f"run {number + 1} of {len(jobs)}: {' '.join(jobs[number])}", flush=True)
            settings.run.name = f"{settings.run.name}_{number + 1}" if settings.run.name else ""
        folders.append(RunFolder.create(settings.run.root, settings.game.name, settings.run.name))
        status = _train(settings, folders[-1], resumed=False)
        if status:
            return status
    if len(jobs) > 1:
        _compare(folders, all_settings)
    return 0


def config_folder() -> Path:
    """Return the folder of the configs: inside the installed package, or beside it in a clone."""
    inside = Path(__file__).parents[1] / "configs"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "configs"


def compose(words: list[str]) -> TrainSettings:
    """Return the checked settings that the words of a command line make with the configs.

    Raises:
        ConfigError: for an unknown key or group, or an impossible value, in one plain sentence.
    """
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.errors import HydraException

    _register_schema()
    _check_words(words)
    try:
        with initialize_config_dir(str(config_folder()), version_base="1.3", job_name="train"):
            composed = hydra_compose("train", overrides=words)
        settings = OmegaConf.to_object(composed)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(_plain(error)) from None
    check_run(settings)
    return settings


def groups() -> dict[str, list[str]]:
    """Return the config groups and the choices of each."""
    folders = sorted(path for path in config_folder().iterdir() if path.is_dir())
    return {
        path.name: sorted(
            file.relative_to(path).with_suffix("").as_posix() for file in path.rglob("*.yaml")
        )
        for path in folders
    }


def _train(settings: TrainSettings, folder: RunFolder, resumed: bool) -> int:
    """Run the loop and let the sinks have its events; Ctrl-C stops it cleanly."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    jit.announce_first_compilation()
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")
    logging.getLogger("torch").setLevel(logging.ERROR)
    from alphazero.training.events import Progress
    from alphazero.training.trainer import Trainer

    with console.status(
        "Setting up; the first run of a game with a network measures what is the fastest here, for some ten seconds ..."
    ):
        trainer = Trainer(settings, folder)
    if resumed:
        trainer.restore()
        folder.write_config(dataclasses.asdict(settings))
        if trainer.finished:
            console.print(
                f"The run {folder.path} is finished after {trainer.iteration} iterations; run.num_iterations=MORE lets it go on."
            )
            return 0
    _print_start(console, trainer, resumed)
    report = None
    sinks = _sinks(console, trainer)
    try:
        with sinks[0]:
            for event in trainer.run():
                for sink in sinks:
                    sink.progress(event) if isinstance(event, Progress) else sink.iteration(event)
                if not isinstance(event, Progress):
                    report = event
    except KeyboardInterrupt:
        done = trainer.stored_iteration
        kept = (
            f"Iteration {done} is kept; the unfinished one will be played again."
            if done
            else "No iteration was finished: there is nothing to go on with."
        )
        console.print(f"\nStopped. {kept}")
        if done:
            console.print(f"Go on with:  {_program()} train resume={folder.path}")
        return 130
    finally:
        for sink in sinks:
            sink.close()
    _print_end(console, trainer, report)
    return 0


def _compare(folders: list[RunFolder], all_settings: list[TrainSettings]) -> None:
    """Print how the runs of a sweep differ, where there is a set of positions to tell it by."""
    from rich.console import Console

    from alphazero.cli.compare import CompareSettings, compare
    from alphazero.evaluation.exact.sets import shipped_path

    games = {settings.game.name for settings in all_settings}
    if len(games) == 1 and shipped_path(games.pop()) is not None:
        compare(folders, CompareSettings(), Console(highlight=False))


def _sinks(console, trainer):
    from alphazero.training.loggers.console import ConsoleSink
    from alphazero.training.loggers.json_lines import JsonLinesSink
    from alphazero.training.loggers.tensorboard import TensorBoardSink

    settings = {key: value for key, value, *_ in config.rows(trainer.settings)}
    return [
        ConsoleSink(console, trainer.settings.run.num_iterations, trainer.share_done),
        JsonLinesSink(trainer.folder.metrics),
        TensorBoardSink(trainer.folder.path, settings, trainer.iteration + 1),
    ]


def _print_start(console, trainer, resumed: bool) -> None:
    num_weights = sum(parameter.numel() for parameter in trainer.learner.network.parameters())
    verb = f"Going on after iteration {trainer.iteration} of" if resumed else "Training"
    console.print(f"[bold]{verb} {trainer.game.name}[/] in {trainer.folder.path}")
    console.print(
        f"network of {num_weights:,} weights on {trainer.learner.device}, {_engine_text(trainer)} in search; "
        f"watch it with:  tensorboard --logdir {trainer.settings.run.root}\n"
    )


def _engine_text(trainer) -> str:
    """Return the engine in words, and why it was taken."""
    tuning, name = trainer.tuning, trainer.evaluator.report.name
    if trainer.evaluator.report.refused:
        return f"{name} (too far from float32: {trainer.evaluator.report.refused})"
    if tuning is None or len(tuning.engine_speeds) < 2:
        return name
    speed = tuning.engine_speeds.get(name, 0)
    slowest, slowest_speed = min(tuning.engine_speeds.items(), key=lambda item: item[1])
    when = "by an earlier run" if tuning.remembered else f"in {tuning.seconds:.0f} s"
    return f"{name} ({speed:,} evaluations/s, {slowest} {slowest_speed:,}; measured {when})"


def _print_end(console, trainer, report) -> None:
    console.print()
    if report.proof is not None:
        for line in proof_lines(report.proof.report):
            console.print(line)
        console.print()
    if trainer.share_done < 1.0:
        console.print(
            f"Ended after iteration {report.iteration}, before its time: the proof is complete (evaluation.stop_when_proven=true).\n"
        )
    if report.strength is not None:
        s = report.strength
        console.print(
            f"{s.score:.1%} against {s.opponent} with {s.num_simulations} simulations for a move "
            f"({s.wins} won, {s.draws} drawn, {s.losses} lost; 95 % interval {s.score_low:.1%} to {s.score_high:.1%}; {s.num_distinct} different games)"
        )
    if report.exact is not None:
        e = report.exact
        console.print(
            f"{e.accuracy:.1%} of its moves with {e.num_simulations} simulations keep the exact result of {e.num_positions:,} positions, "
            f"{e.raw_accuracy:.1%} without search; more of it:  {_program()} evaluate network={trainer.folder.path}"
        )
    minutes, seconds = divmod(round(report.elapsed_s), 60)
    network = trainer.folder.network(report.iteration)
    further = 2 * max(
        report.iteration, trainer.settings.run.num_iterations if trainer.share_done < 1.0 else 0
    )
    console.print(
        f"Trained for {f'{minutes} min {seconds} s' if minutes else f'{seconds} s'}. The network: {network}\n"
    )
    console.print("[bold]What next?[/]")
    console.print(
        f"  play against it:   {_program()} play game={trainer.game.name} second={network}"
    )
    console.print(f"  look at the run:   {_program('tensorboard')} --logdir {trainer.folder.path}")
    console.print(
        f"  train it further:  {_program()} train resume={trainer.folder.path} run.num_iterations={further}"
    )


def _program(name: str = "alphazero") -> str:
    """Return how a program of this installation is called: by its name where the shell finds it, otherwise by its path beside this one's."""
    beside = Path(sys.argv[0]).with_name(name)
    return name if shutil.which(name) or not beside.is_file() else str(beside)


def _resumed(words: list[str]) -> tuple[TrainSettings, RunFolder, bool]:
    """Return the settings of a stored run with the words' changes, and its folder."""
    values = dict(word.partition("=")[::2] for word in words)
    game = values.pop("game", None)
    folder = RunFolder.find(
        values.pop("resume"),
        values.get("run.root", RunSettingsRoot),
        None if game is None else game_of_choice(game),
    )
    stored = folder.read_config()
    check_stored_settings(
        stored.get("network", {}), folder.config, "network.", SHAPES_OF_STORED_RUNS
    )
    old = config.from_stored(TrainSettings, stored, folder.config)
    changes = config.from_overrides(
        TrainSettings, [f"{key}={value}" for key, value in values.items()], "train resume=..."
    )
    settings = config.from_stored(TrainSettings, stored, folder.config)
    for key in values:
        *path, last = key.split(".")
        target, source = settings, changes
        for part in path:
            target, source = getattr(target, part), getattr(source, part)
        setattr(target, last, getattr(source, last))
    check_run(settings)
    from alphazero.training.trainer import check_resumable

    check_resumable(old, settings)
    return settings, folder, True


RunSettingsRoot = TrainSettings().run.root


def game_of_choice(choice: str) -> str:
    """Return the name of the game that a choice of the config group means."""
    path = config_folder() / "game" / f"{choice}.yaml"
    return OmegaConf.load(path).game.name if path.is_file() else choice


def _jobs(words: list[str]) -> list[list[str]]:
    """Return the words of each run of a sweep, as Hydra's basic sweeper expands them."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        parsed = OverridesParser.create().parse_overrides(words)
    except HydraException as error:
        raise ConfigError(_plain(error)) from None
    return [list(job) for batch in BasicSweeper.split_arguments(parsed, None) for job in batch]


def _register_schema() -> None:
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name="train_schema", node=TrainSettings)


def _check_words(words: list[str]) -> None:
    """Refuse keys and choices that do not exist: Hydra lets '+key' and an unknown experiment pass without a word.

    Raises:
        ConfigError: in one plain sentence.
    """
    known = [key for key, *_ in config.rows(TrainSettings())]
    choices = groups()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise ConfigError(f"'{word}' is not of the form key=value.")
        check_not_retired(key, value)
        if key not in choices and key not in known:
            hint = config.nearest_key_hint(key, [*known, *choices])
            raise ConfigError(
                f"there is no setting '{key}'.{hint} ('alphazero train --help' lists them all.)"
            )
        if key in choices and value not in choices[key]:
            sweep = " (--multirun makes a run for each of several.)" if "," in value else ""
            raise ConfigError(
                f"{key}={value} is not a choice of {key}: take one of {', '.join(choices[key])}.{sweep}"
            )


def _plain(error: Exception) -> str:
    """Return one sentence for a complaint of Hydra's or OmegaConf's."""
    cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
    if isinstance(cause, OmegaConfBaseException):
        return config.explain(cause, TrainSettings)
    sentence = str(error).splitlines()[0].rstrip(".") + "."
    return sentence + (
        " Several values for a key make several runs: add --multirun."
        if sentence.startswith("Ambiguous value")
        else ""
    )


def _help(words: list[str]) -> int:
    from alphazero.cli.help_text import print_help

    print_help(
        "train",
        "Train a network by self-play. Groups of settings are chosen as a whole, and any key can be changed:\n\n"
        + "\n".join(f"  {name:<11} {', '.join(names)}" for name, names in groups().items()),
        compose(words),
        [
            "alphazero train game=connect_four",
            "alphazero train experiment=connect_four_10min seed=1",
            "alphazero train game=othello_6x6 network=tiny learner.learning_rate=1e-3 run.num_iterations=20",
            "alphazero train --multirun game=tic_tac_toe seed=1,2,3",
            "alphazero train resume=latest",
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
