"""Merge the settings of a run from config files and command-line arguments, with Hydra.

Hydra merges values without checking them; `alphazero.training.run_config` checks the result. Text
needs no quotes on the command line, as in all commands (`alphazero.config.command_line`), because
this module adds the quotes. Hydra's ``~group``, ``+group=file`` and ``${interpolations}`` also
work.
"""

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, Quote, QuotedString
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from alphazero.config.command_line import check_key, split_values, split_word
from alphazero.config.files import config_files, groups_of
from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import types_of
from alphazero.runtime.errors import ConfigError, value_text

COMMAND = "alphazero train"  # the only command that Hydra serves
#: The config file at which the merge begins; the first entry of its defaults list is the schema.
CONFIG_NAME = "train"
#: Exceptions of Hydra, OmegaConf and YAML for a config that cannot be composed.
_ERRORS = (HydraException, OmegaConfBaseException, YAMLError, ValueError)
#: The start of a value with several values in Hydra's extended sweep syntax.
_SWEEP = re.compile(r"(choice|range|glob|interval|shuffle|sort|tag)\(")
_PACKAGE_HINT = " Is its first line '# @package _global_'?"


def runs_of_sweep(
    words: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield the command-line arguments of each run of a sweep.

    Args:
        words: the arguments of the whole sweep. An argument with several values, such as
            ``seed=1,2,3`` or ``seed=range(1,4)``, makes a run for each value; several such
            arguments make a run for each combination of their values.
        groups: {config group: names of its files}, of which ``glob(...)`` chooses.

    Yields:
        The arguments of a run, and {key: value} of those that distinguish it from the other runs.

    Raises:
        ConfigError: for an argument without "=", or one that gives no values.
    """
    fixed = [word for word in words if word.startswith("~")]
    swept = {}
    for word in words:
        if word.startswith("~"):
            continue
        key, text = split_word(word.lstrip("+"))
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


class Composer:
    """Merges config files and command-line arguments into the settings of a run.

    Attributes:
        groups: {config group: names of its files}, from the user's own files and the shipped ones.
    """

    def __init__(self, cls: type, folder: Path, config_dir: str | None = None):
        """List all config files, and register the keys of the settings with Hydra.

        Args:
            cls: the settings class, whose defaults the config files change.
            folder: the folder of the config files that ship with the program.
            config_dir: a folder with the user's own config files; None if there is none.

        Raises:
            ConfigError: if the user's folder does not exist.
        """
        self.folder = folder
        self.kinds = types_of(cls)
        self.own_files: dict[str, Path] = {}
        self.search_path: list[str] = []
        if config_dir is not None:
            path = Path(config_dir).absolute()
            if not path.is_dir():
                raise ConfigError.of("--config-dir", config_dir, reason="there is no such folder")
            self.own_files = config_files(path)
            quoted = QuotedString(f"file://{path}", Quote.single).with_quotes()
            self.search_path = [f"hydra.searchpath=[{quoted}]"]
        self.groups = groups_of([*self.own_files, *config_files(folder)])
        store_schema(cls)

    def merge(self, words: Sequence[str]) -> dict[str, Any]:
        """Merge config files and arguments into the settings of one run, as nested dictionaries.

        Args:
            words: arguments that choose a file of a config group or set a single setting.

        Raises:
            ConfigError: for an unknown key or choice, an argument with several values, or a config
                file that cannot be read.
        """
        overrides = [self._override(word) for word in words]
        try:
            config = _compose(self.folder, (*overrides, *self.search_path))
            plain: Any = OmegaConf.to_container(config, resolve=True)
        except _ERRORS as error:
            raise self._refused(error) from None
        if "experiment" in plain:
            raise ConfigError(f"the experiment's file does not change any setting.{_PACKAGE_HINT}")
        return plain

    # --- arguments as overrides in Hydra's grammar ------------------------------------------------

    def _override(self, word: str) -> str:
        """Check the key of an argument, and return the argument in Hydra's grammar.

        Args:
            word: an argument such as ``seed=1`` or ``~network``.

        Raises:
            ConfigError: for an unknown key, or several values, which only a sweep may have.
        """
        if word.startswith("~"):
            return word
        key, text = split_word(word.lstrip("+"))
        check_key(key, text, [*self.kinds, *self.groups], COMMAND)
        if len(split_values(text)) > 1:
            message = f"{word} gives several values: --multirun makes a run for each of them."
            raise ConfigError(message, key=key, value=text)
        if key in self.groups:
            self._check_not_hidden(key, text)
            is_text = text[:1] != "["
        else:
            is_text = self.kinds[key] is str and text != "null"
        if is_text and "${" not in text and text[:1] not in ("'", '"'):
            text = QuotedString(text, Quote.single).with_quotes()
        return f"{key}={text}"

    def _check_not_hidden(self, group: str, choice: str) -> None:
        """Check that no shipped config file hides the user's own file of the same name.

        Args:
            group: the config group, such as "experiment".
            choice: the name of the file without ".yaml".

        Raises:
            ConfigError: if the user's file is hidden.
        """
        path = self.own_files.get(f"{group}/{choice}")
        shipped = self.folder / group / f"{choice}.yaml"
        if path and shipped.is_file() and not path.samefile(shipped):
            reason = f"a file that ships has this name; give {path} another"
            raise ConfigError.of(group, choice, reason=reason)

    # --- errors -----------------------------------------------------------------------------------

    def _refused(self, error: Exception) -> ConfigError:
        """Convert an error from Hydra, OmegaConf or YAML to a one-sentence ConfigError."""
        if isinstance(error, OverrideParseException):
            key, _, value = error.override.partition("=")
            return ConfigError.of(key, value, reason="Hydra cannot parse it")
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


# --- Hydra ----------------------------------------------------------------------------------------


@functools.cache
def store_schema(cls: type) -> None:
    """Register the keys and defaults of a settings class with Hydra, which then refuses other keys.

    The types of values are not registered: they are checked after the merge.
    """
    schema = dataclasses.asdict(cls())
    ConfigStore.instance().store(name=f"{CONFIG_NAME}_schema", node=schema)


@functools.lru_cache(maxsize=256)
def _compose(folder: Path, overrides: tuple[str, ...]) -> DictConfig:
    """Let Hydra merge config files and overrides.

    Args:
        folder: the folder of the shipped config files, with `CONFIG_NAME`.yaml.
        overrides: arguments in Hydra's grammar, such as ``seed=1``.

    Returns:
        The merged config, which is cached and must not be changed.
    """
    with hydra.initialize_config_dir(str(folder), version_base="1.3", job_name=CONFIG_NAME):
        return hydra.compose(CONFIG_NAME, overrides=list(overrides))
