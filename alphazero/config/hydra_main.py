"""Commands whose command line Hydra reads, once or for each run of a sweep.

In: arguments, Hydra's options included, which work as in every program: --cfg job, --info,
--config-dir, --multirun, launchers, shell completion. Out: a call of the command's function with
checked settings. The settings of all runs are checked before Hydra starts.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig

from alphazero.config.completion import OPTIONS
from alphazero.config.hydra import Composer, Configs
from alphazero.runtime.errors import ConfigError


class Job(NamedTuple):
    """One run, as Hydra asks for it."""

    settings: Any
    folder: Path | None  #: of its output
    sweep_folder: Path | None  #: of the output of the whole sweep, None without a sweep
    #: The overrides that differ within the sweep, such as "seed=1 learner=sgd"; else "".
    overrides: str
    number: int  #: of the run in its sweep, from 1
    num_jobs: int  #: of the sweep; 0 if unknown, 1 without a sweep


def run_with_hydra(
    configs: Configs, arguments: list[str], command: str, run: Callable[[Job], float | None]
) -> int:
    """Let Hydra read a command line and run the job, or each job of a sweep.

    Args:
        arguments: of the command, Hydra's options included.
        command: such as "alphazero train"; error messages name it.
        run: runs a job; returns what a sweeper such as Optuna's optimizes. SystemExit ends a sweep.

    Returns:
        The exit status.

    Raises:
        ConfigError: for an unknown key or an impossible value.
    """
    if OPTIONS & set(arguments):
        return _main(configs, arguments, lambda config: None)
    words, options, known = split_command_line(arguments, command)
    if known.hydra_help:
        return _main(configs, options, lambda config: None)  # it would read settings as its own
    composer = Composer(configs, words, command, known.config_dir)
    overrides = composer.overrides(known.multirun or "hydra.mode=MULTIRUN" in words)
    num_jobs = composer.check_runs(overrides)

    def run_job(config: DictConfig) -> float | None:
        try:
            return run(_job(composer, composer.settings_of(config), num_jobs))
        except Exception as error:
            raise SystemExit(error) from None  # Hydra would go on with the next run

    return _main(configs, [*overrides, *options], run_job)


def _main(configs: Configs, arguments: list[str], run_job: Callable[[DictConfig], Any]) -> int:
    """Call Hydra with arguments in its grammar; return the exit status."""
    sys.argv[1:] = arguments
    os.environ["HYDRA_FULL_ERROR"] = "1"  # raise errors, do not print them
    main = hydra.main(version_base="1.3", config_path=str(configs.folder), config_name=configs.name)
    try:
        main(run_job)()
    except SystemExit as end:
        if isinstance(end.code, Exception):
            raise end.code from None
        return int(end.code or 0)
    except HydraException as error:
        raise ConfigError(" ".join(str(error).split())) from None
    return 0


def _job(composer: Composer, settings: Any, num_jobs: int) -> Job:
    """Return the job that Hydra runs now."""
    of_hydra = HydraConfig.get()
    folder = Path(of_hydra.runtime.output_dir)
    if of_hydra.mode != RunMode.MULTIRUN:
        return Job(settings, folder, None, "", 1, 1)
    words = of_hydra.overrides.task
    varied = [word for word in words if word.partition("=")[0] not in composer.fixed_keys]
    overrides = " ".join(varied).replace("'", "")
    sweep_folder = Path(of_hydra.sweep.dir).absolute()
    return Job(settings, folder, sweep_folder, overrides, of_hydra.job.num + 1, num_jobs)


class CommandLine(NamedTuple):
    """A command line in its two parts."""

    words: list[str]  #: settings and choices of config groups
    options: list[str]  #: Hydra's options with their values
    known: argparse.Namespace  #: the options by their names


def split_command_line(arguments: list[str], command: str) -> CommandLine:
    """Return a command line in its two parts.

    ``--package`` alone means ``--cfg job --package``.

    Args:
        command: such as "alphazero train"; error messages name it.

    Raises:
        ConfigError: for an unknown option, or a value that an option does not take.
    """
    try:
        known, words = _parser().parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise ConfigError(f"{error}.", key=error.argument_name) from None
    for word in words:
        if word.startswith("-"):
            message = f"'{command}' has no option {word}. Settings are written key=value, and "
            message += f"'{command} --hydra-help' lists the options."
            raise ConfigError(message, key=word)
    options = [argument for argument in arguments if argument not in words]
    if known.package is not None and known.cfg is None and known.info is None:
        options += ["--cfg", "job"]
    return CommandLine(words, options, known)


def _parser() -> argparse.ArgumentParser:
    """Return a parser of the Hydra options that are supported here.

    Hydra's own has no public name; it prints a page and ends the process if an option is wrong.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    for names in ("--multirun -m", "--run -r", "--resolve", "--hydra-help"):
        parser.add_argument(*names.split(), action="store_true")
    for names in ("--config-dir -cd", "--package -p"):
        parser.add_argument(*names.split())
    parser.add_argument("--cfg", "-c", choices=("job", "hydra", "all"))
    kinds = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")
    parser.add_argument("--info", "-i", nargs="?", const="all", choices=kinds)
    return parser
