"""Commands whose command line Hydra reads, once or for each run of a sweep.

In: arguments, Hydra's options included, which work as in every program: --cfg job, --info,
--config-dir, --multirun, launchers, shell completion. Out: a call of the command's function with
checked settings. The settings of all runs are checked before the first one starts.
"""

import argparse
import contextlib
import difflib
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from alphazero.config.command_line import check_section
from alphazero.config.completion import OPTIONS
from alphazero.config.hydra import ERRORS, Composer, Configs, missing_folders_are_errors
from alphazero.runtime.errors import ConfigError


class Job(NamedTuple):
    """One run, as Hydra asks for it."""

    settings: Any
    folder: Path | None  #: of its output
    sweep_folder: Path | None  #: of the output of the whole sweep, None without a sweep
    overrides: (
        str  #: what tells the run from others of its sweep, such as "seed=1 learner=sgd"; else ""
    )
    number: int  #: of the run in its sweep, from 1
    num_jobs: int  #: of the sweep; 0 if unknown, 1 without a sweep


def run_with_hydra(
    configs: Configs, arguments: list[str], command: str, run: Callable[[Job], int]
) -> int:
    """Let Hydra read a command line and run the job, or each job of a sweep.

    Args:
        arguments: of the command, Hydra's options included.
        command: such as "alphazero train"; error messages name it.
        run: runs a job; returns the exit status. A status other than 0 ends a sweep.

    Returns:
        The exit status.

    Raises:
        ConfigError: for an unknown key or an impossible value.
    """
    composer, arguments = _for_hydra(configs, arguments, command)
    CheckSettings.composer = composer

    def run_job(config: DictConfig) -> None:
        try:
            status = run(_job(config, composer))
        except ValueError as error:
            raise SystemExit(error) from None  # Hydra would print a traceback
        if status:
            raise SystemExit(status)

    main = hydra.main(version_base="1.3", config_path=str(configs.folder), config_name=configs.name)
    with _process(arguments), missing_folders_are_errors():
        try:
            main(run_job)()
        except SystemExit as end:
            if isinstance(end.code, ValueError):
                raise end.code from None
            return end.code if isinstance(end.code, int) else 0 if end.code is None else 2
        except ERRORS as error:
            raise composer.refused(error) from None
        except OSError as error:
            raise ConfigError(f"{error.filename}: cannot be written ({error.strerror}).") from None
    return 0


class CheckSettings(Callback):
    """Check the settings of all runs before the first one starts and before a folder is made.

    Hydra creates it, as the first config file says. Hydra turns exceptions of callbacks into
    warnings, so an impossible value ends the program here.
    """

    composer: Composer

    def on_run_start(self, config: DictConfig, **_: Any) -> None:
        """Check the settings of the only run."""
        self._check(config, None)

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Check the settings of each run of a sweep over listed values."""
        loader = GlobalHydra.instance().config_loader()
        parser = OverridesParser.create(config_loader=loader)
        overrides = parser.parse_overrides(list(config.hydra.overrides.task))
        if not all(one.is_discrete_sweep() for one in overrides if one.is_sweep_override()):
            self.composer.num_jobs = 0  # a sweeper that draws values says which
            return
        alternatives = [
            [f"{one.get_key_element()}={value}" for value in one.sweep_string_iterator()]
            if one.is_sweep_override()
            else [str(one.input_line)]
            for one in overrides
        ]
        jobs = list(itertools.product(*alternatives))
        self.composer.num_jobs = len(jobs)
        for job in jobs:
            self._check(config, list(job))

    def _check(self, config: DictConfig, overrides: list[str] | None) -> None:
        """Check a config; ``overrides`` make it that of a run in a sweep."""
        try:
            if overrides is not None:
                loader = GlobalHydra.instance().config_loader()
                config = loader.load_sweep_config(config, overrides)
            self.composer.settings_of(config)
        except ERRORS as error:
            raise SystemExit(self.composer.refused(error, overrides)) from None


def _job(config: DictConfig, composer: Composer) -> Job:
    """Return the job of a composed config."""
    of_hydra = HydraConfig.get()
    is_sweep = of_hydra.mode == RunMode.MULTIRUN
    shared = set(of_hydra.job.config.override_dirname.exclude_keys)
    varied = [word for word in of_hydra.overrides.task if word.partition("=")[0] not in shared]
    return Job(
        composer.settings_of(config),
        Path(of_hydra.runtime.output_dir),
        Path(of_hydra.sweep.dir).absolute() if is_sweep else None,
        " ".join(varied) if is_sweep else "",
        of_hydra.job.num + 1 if is_sweep else 1,
        composer.num_jobs,
    )


@contextlib.contextmanager
def _process(arguments: list[str]) -> Iterator[None]:
    """Set the arguments of the process for `hydra.main`, and have Hydra raise its errors."""
    key = "HYDRA_FULL_ERROR"
    argv, full_error = sys.argv, os.environ.get(key)
    sys.argv, os.environ[key] = [argv[0], *arguments], "1"
    try:
        yield
    finally:
        sys.argv = argv
        os.environ.pop(key)
        if full_error is not None:
            os.environ[key] = full_error


def _for_hydra(configs: Configs, arguments: list[str], command: str) -> tuple[Composer, list[str]]:
    """Return the command line in Hydra's grammar; options and their values stay as they are."""
    if OPTIONS & set(arguments):
        return Composer(configs, [], command), arguments
    words, options, known = split_command_line(arguments, command)
    composer = Composer(configs, words, command, known.config_dir)
    if known.hydra_help:
        return composer, options  # Hydra would read settings as its own
    multirun = known.multirun or "hydra.mode=MULTIRUN" in words
    overrides = composer.overrides(multirun)
    if known.cfg == "job" and known.config_name is None and not multirun:
        composer.compose()  # Hydra prints the settings unchecked
        if known.package is not None:
            check_section("--package", known.package, composer.known)
    return composer, [*overrides, *options]


# --- Hydra's options ------------------------------------------------------------------------------

_SWITCHES = ("--multirun -m", "--run -r", "--resolve", "--hydra-help", "--version")
_WITH_VALUE = (
    *("--config-dir -cd", "--config-name -cn", "--config-path -cp", "--package -p"),
    "--experimental-rerun",
)
_CFG = ("job", "hydra", "all")
_INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")


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

    def is_word(argument: str) -> bool:  # may follow an option that takes a value or none
        return argument[:1] in ("~", "+") or (argument[:1] != "-" and "=" in argument)

    words = [argument for argument in arguments if is_word(argument)]
    options = [argument for argument in arguments if not is_word(argument)]
    parser, names = _parser()
    try:
        known, others = parser.parse_known_args(options)
    except argparse.ArgumentError as error:
        raise ConfigError(f"{error}.", key=error.argument_name) from None
    for word in others:
        name = word.partition("=")[0]
        if word.startswith("-"):
            close = difflib.get_close_matches(name, names, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            message = f"'{command}' has no option {name}.{hint} Settings are written key=value, "
            message += f"and '{command} --hydra-help' lists the options."
            raise ConfigError(message, key=name, allowed=names)
        options.remove(word)
        words.append(word)
    if known.package is not None and known.cfg is None and not known.info:
        options += ["--cfg", "job"]
        known.cfg = "job"
    return CommandLine(words, options, known)


def _parser() -> tuple[argparse.ArgumentParser, list[str]]:
    """Return a parser of Hydra's options, and their names.

    Hydra's own has no public name; it prints a page and ends the process if an option is wrong.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    for names in _SWITCHES:
        parser.add_argument(*names.split(), action="store_true")
    for names in _WITH_VALUE:
        parser.add_argument(*names.split())
    parser.add_argument("--cfg", "-c", choices=_CFG)
    parser.add_argument("--info", "-i", nargs="?", const="all", choices=_INFO)
    return parser, " ".join(["--cfg --info", *_SWITCHES, *_WITH_VALUE]).split()
