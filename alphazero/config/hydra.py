"""Merge the settings of a run from config files and command-line arguments, with Hydra.

Hydra merges the chosen config files. Single values are read as in all commands
(`alphazero.config.command_line`) and override those of the files; ``${interpolations}`` are then
resolved. Values are checked once, when the result becomes typed settings.
"""

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import hydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, Quote, QuotedString
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from alphazero.config.command_line import check_key, parse_values, split_override, split_values
from alphazero.config.files import config_files, groups_of
from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import from_plain
from alphazero.runtime.errors import ConfigError, value_text

COMMAND = "alphazero train"  # the only command that Hydra serves
#: The config file at which the merge begins.
CONFIG_NAME = "train"
#: Exceptions of Hydra, OmegaConf and YAML for a config that cannot be composed.
_ERRORS = (HydraException, OmegaConfBaseException, YAMLError, ValueError)
#: The start of a value with several values in Hydra's extended sweep syntax.
_SWEEP = re.compile(r"(choice|range|glob|interval|shuffle|sort|tag)\(")
_PACKAGE_HINT = " Is its first line '# @package _global_'?"


def runs_of_sweep(
    overrides: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield the command-line arguments of each run of a sweep.

    Args:
        overrides: the arguments of the whole sweep. An argument with several values, such as
            ``seed=1,2,3`` or ``seed=range(1,4)``, makes a run for each value; several such
            arguments make a run for each combination of their values.
        groups: {config group: names of its files}, of which ``glob(...)`` chooses.

    Yields:
        The arguments of a run, and {key: value} of those that distinguish it from the other runs.

    Raises:
        ConfigError: for an argument without "=", or one that gives no values.
    """
    fixed = [override for override in overrides if override.startswith("~")]
    swept = {}
    for override in overrides:
        if override.startswith("~"):
            continue
        key, text = split_override(override.lstrip("+"))
        values = _values(key, text, groups.get(key, ()))
        if len(values) > 1:
            swept[key] = values
        else:
            fixed.append(f"{key}={values[0]}")
    for chosen in itertools.product(*swept.values()):
        varied = dict(zip(swept, chosen))
        yield [*fixed, *(f"{key}={value}" for key, value in varied.items())], varied


def _values(key: str, text: str, choices: Sequence[str]) -> list[str]:
    """Return the values that an argument of a sweep gives.

    Args:
        key: the text before the "=".
        text: the text after it: values between commas, or one of Hydra's functions.
        choices: the names of the files in the config group ``key``, if it is one.

    Raises:
        ConfigError: for a function that Hydra cannot parse, or that gives no list of values.
    """
    if not _SWEEP.match(text):
        return split_values(text)
    try:
        override = OverridesParser.create().parse_override(f"{key}={text}")
        value = override.value()
        values = value.filter(choices) if isinstance(value, Glob) else [*override.sweep_iterator()]
    except (HydraException, ValueError):
        values = []
    if not values:
        raise ConfigError.of(key, text, "A,B,C, choice(A,B,C), range(START,STOP) or glob(*)")
    return [one.text if isinstance(one, QuotedString) else value_text(one) for one in values]


class ConfigFiles:
    """The config files from which runs are composed: the shipped ones and the user's own.

    Attributes:
        groups: {config group: names of its files}, the user's files first.
    """

    def __init__(self, folder: Path, config_dir: str | None):
        """List all config files.

        Args:
            folder: the folder of the config files that ship with the program.
            config_dir: a folder with the user's own config files; None if there is none.

        Raises:
            ConfigError: if the user's folder does not exist.
        """
        self._folder = folder
        self._own_files: dict[str, Path] = {}
        self._search_path: list[str] = []
        if config_dir is not None:
            path = Path(config_dir).expanduser().absolute()
            if not path.is_dir():
                raise ConfigError.of("--config-dir", path, reason="there is no such folder")
            self._own_files = config_files(path)
            self._search_path = [f"hydra.searchpath=[{_quoted(f'file://{path}')}]"]
        self.groups = groups_of([*self._own_files, *config_files(folder)])

    def parse(
        self, cls: type, overrides: Sequence[str]
    ) -> tuple[dict[str, str | None], dict[str, Any]]:
        """Parse arguments such as ``game=othello`` and ``seed=1``.

        Args:
            cls: the settings class, which defines the keys besides the config groups.
            overrides: the arguments; later ones override earlier ones.

        Returns:
            The choices, {config group: name of its file, or None for no file}, and the single
            values, nested by section.

        Raises:
            ConfigError: for an unknown key, or several values, which only a sweep may have.
        """
        choices: dict[str, str | None] = {}
        values = []
        for override in overrides:
            if override.startswith("~"):
                check_key(override[1:], "", list(self.groups), COMMAND)
                choices[override[1:]] = None
                continue
            key, text = split_override(override.lstrip("+"))
            if len(split_values(text)) > 1:
                message = f"{override} gives several values: --multirun makes a run for each."
                raise ConfigError(message, key=key, value=text)
            if key in self.groups:
                choices[key] = text
            else:
                values.append((key, text))
        return choices, parse_values(cls, values, COMMAND, self.groups)

    def merge(self, cls: type, choices: dict[str, str | None], values: dict[str, Any]) -> Any:
        """Make the settings of one run from the chosen config files and single values.

        Args:
            cls: the settings class, which holds the defaults.
            choices, values: as `parse` returns them.

        Raises:
            ConfigError: if a chosen file does not exist or cannot be read, or for an unknown key or
                a value that is not allowed.
        """
        chosen = [self._choice(group, name) for group, name in choices.items()]
        try:
            files = _compose(self._folder, (*chosen, *self._search_path))
            config = OmegaConf.merge(dataclasses.asdict(cls()), files, values)
            plain: Any = OmegaConf.to_container(config, resolve=True)
        except _ERRORS as error:
            raise self._refused(error) from None
        if "experiment" in plain:
            raise ConfigError(f"the experiment's file does not change any setting.{_PACKAGE_HINT}")
        return from_plain(cls, plain)

    def _choice(self, group: str, name: str | None) -> str:
        """Write the choice of a config file in Hydra's grammar.

        Args:
            group: the config group, such as "experiment".
            name: the name of the file without ".yaml"; None to leave the group out.

        Raises:
            ConfigError: if a shipped config file hides the user's own file of the same name.
        """
        if name is None:
            return f"~{group}"
        path = self._own_files.get(f"{group}/{name}")
        shipped = self._folder / group / f"{name}.yaml"
        if path and shipped.is_file() and not path.samefile(shipped):
            reason = f"a file that ships has this name; give {path} another"
            raise ConfigError.of(group, name, reason=reason)
        return f"{group}={_quoted(name)}"

    def _refused(self, error: Exception) -> ConfigError:
        """Convert an error from Hydra, OmegaConf or YAML to a one-sentence ConfigError."""
        if isinstance(error, MissingConfigException):
            return self._missing(error)
        cause = error if str(error) else error.__cause__ or error
        one_line = " ".join(str(cause).split())
        text = one_line.partition(" full_key: ")[0].rstrip(".")
        setting = getattr(cause, "full_key", None)
        start = f"{setting}: " if setting else ""
        hint = _PACKAGE_HINT if re.search("override '.*@", text) else ""
        return ConfigError(f"{start}{text}.{hint}", key=setting)

    def _missing(self, error: MissingConfigException) -> ConfigError:
        """Make the error for a choice that has no config file; it suggests a similar choice."""
        # Such as "experiment/ablation/adam".
        group, _, choice = str(error.missing_cfg_file).partition("/")
        choices = self.groups.get(group, [])
        hint = nearest_key_hint(choice, choices) or f" There are {', '.join(choices)}."
        message = f"{group}={choice} is not allowed: there is no such file.{hint}"
        return ConfigError(message, key=group, value=choice, allowed=sorted(choices))


def _quoted(text: str) -> str:
    return QuotedString(text, Quote.single).with_quotes()


@functools.lru_cache(maxsize=256)
def _compose(folder: Path, choices: tuple[str, ...]) -> DictConfig:
    """Let Hydra merge config files.

    Args:
        folder: the folder of the shipped config files, with `CONFIG_NAME`.yaml.
        choices: arguments in Hydra's grammar, such as ``game='othello'``.

    Returns:
        The merged config, which is cached and must not be changed.
    """
    with hydra.initialize_config_dir(str(folder), version_base="1.3", job_name=CONFIG_NAME):
        return hydra.compose(CONFIG_NAME, overrides=list(choices))
