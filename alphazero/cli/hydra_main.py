"""Commands whose command line Hydra reads: `hydra.main` with our sentences for what is wrong.

In: the arguments of `alphazero train` and `tune`. Keys and values are checked first
(`alphazero.training.hydra_overrides`); then Hydra composes the config, and its own options work as
in every program: --cfg job, --info, --config-dir, --multirun, launchers, shell completion. Out: a
call of the command's function with checked settings, once or for each run of a sweep.
"""

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict

from alphazero.cli.completion import OPTIONS
from alphazero.cli.errors import print_error
from alphazero.cli.hydra_options import split_command_line
from alphazero.runtime.errors import ConfigError
from alphazero.storage.run_folder import name_part
from alphazero.training.compose import (
    CONFIG_ERRORS,
    compose,
    missing_folders_are_errors,
    refused,
    settings_of,
    store_schema,
)
from alphazero.training.config_files import config_folder
from alphazero.training.hydra_overrides import hydra_overrides
from alphazero.training.settings import TrainSettings


class Job(NamedTuple):
    """One run, as Hydra asks for it."""

    settings: TrainSettings
    folder: Path | None  #: where hydra.run.dir or hydra.sweep.dir puts the run, None if not set
    overrides: (
        str  #: what tells the run from others of its sweep, such as "seed=1 learner=sgd"; else ""
    )
    number: int  #: of the run in its sweep, from 1
    num_jobs: int  #: of the sweep; 0 if unknown, 1 without a sweep


def run_with_hydra(arguments: list[str], command: str, run: Callable[[Job], int]) -> int:
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
    import hydra

    def run_job(config: DictConfig) -> None:
        try:
            status = run(_job(config))
        except ValueError as error:  # Hydra would print a traceback
            status = print_error(error)
        if status:
            raise SystemExit(status)

    main = hydra.main(version_base="1.3", config_path=str(config_folder()), config_name="train")
    store_schema()
    CheckSettings.num_jobs = 1
    with _command_line(_for_hydra(arguments, command)), _all_errors(), missing_folders_are_errors():
        try:
            main(run_job)()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 0 if end.code is None else 2
        except CONFIG_ERRORS as error:
            raise refused(error) from None
        except OSError as error:
            raise ConfigError(f"{error.filename}: cannot be written ({error.strerror}).") from None
    return 0


class CheckSettings(Callback):
    """Check the settings of all runs before the first one starts and before a folder is made.

    Hydra creates it, as configs/train.yaml says. Hydra turns exceptions of callbacks into warnings,
    so an impossible value ends the program here.
    """

    num_jobs = 1

    def on_run_start(self, config: DictConfig, **_) -> None:
        """Check the settings of the only run."""
        self._check([config])

    def on_multirun_start(self, config: DictConfig, **_) -> None:
        """Check the settings of each run of a sweep over listed values."""
        loader = GlobalHydra.instance().config_loader()
        parser = OverridesParser.create(config_loader=loader)
        overrides = parser.parse_overrides(list(config.hydra.overrides.task))
        if not all(one.is_discrete_sweep() for one in overrides if one.is_sweep_override()):
            CheckSettings.num_jobs = 0  # a sweeper that draws values says which
            return
        alternatives = [
            [f"{one.get_key_element()}={value}" for value in one.sweep_string_iterator()]
            if one.is_sweep_override()
            else [one.input_line]
            for one in overrides
        ]
        jobs = list(itertools.product(*alternatives))
        CheckSettings.num_jobs = len(jobs)
        self._check(loader.load_sweep_config(config, list(job)) for job in jobs)

    def _check(self, configs) -> None:
        try:
            for config in configs:
                settings_of(_without_hydra(config))
        except ValueError as error:
            raise SystemExit(print_error(error)) from None
        except CONFIG_ERRORS as error:
            raise SystemExit(print_error(refused(error))) from None


def _job(config: DictConfig) -> Job:
    """Return the job of a composed config."""
    hydra = HydraConfig.get()
    output = Path(hydra.runtime.output_dir)
    is_sweep = hydra.mode == RunMode.MULTIRUN
    overrides = _own_overrides() if is_sweep else ""
    default = Path(hydra.runtime.cwd) if not is_sweep else Path(config.run.root).absolute()
    folder = None if output == default else output
    if folder is not None and is_sweep and hydra.sweep.subdir == ".":
        folder /= name_part(overrides)
    number = hydra.job.num + 1 if is_sweep else 1
    num_jobs = CheckSettings.num_jobs
    return Job(settings_of(config), folder, overrides, number, num_jobs)


def _own_overrides() -> str:
    """Return the overrides of this run that others of its sweep do not have, such as "seed=1"."""
    hydra = HydraConfig.get()
    shared = set(hydra.job.config.override_dirname.exclude_keys)
    return " ".join(word for word in hydra.overrides.task if word.partition("=")[0] not in shared)


def _without_hydra(config: DictConfig) -> DictConfig:
    """Return a config without Hydra's own part."""
    config = config.copy()
    with open_dict(config):
        config.pop("hydra")
    return config


def _for_hydra(arguments: list[str], command: str) -> list[str]:
    """Return the command line in Hydra's grammar; options and their values stay as they are."""
    if OPTIONS & set(arguments):
        return arguments
    words, options, known = split_command_line(arguments, command)
    if known.hydra_help:
        return options  # Hydra would read settings as its own
    multirun = known.multirun or "hydra.mode=MULTIRUN" in words
    overrides = hydra_overrides(words, command, multirun, known.config_dir)
    if known.cfg == "job" and known.config_name is None and not multirun:
        compose(words, known.config_dir)  # Hydra prints them unchecked
    return [*overrides, *options]


@contextlib.contextmanager
def _command_line(arguments: list[str]) -> Iterator[None]:
    """Set the arguments of the process, which `hydra.main` reads."""
    before = sys.argv
    sys.argv = [before[0], *arguments]
    try:
        yield
    finally:
        sys.argv = before


@contextlib.contextmanager
def _all_errors() -> Iterator[None]:
    """Have Hydra raise its errors; it would print them and end the process."""
    key, before = "HYDRA_FULL_ERROR", os.environ.get("HYDRA_FULL_ERROR")
    os.environ[key] = "1"
    try:
        yield
    finally:
        os.environ.pop(key)
        if before is not None:
            os.environ[key] = before
