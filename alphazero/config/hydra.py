"""Settings that Hydra composes from config files and the arguments of a command line.

In: a settings class, the folder of its config files, and arguments. Out: checked settings, or one
sentence for whatever is wrong. Hydra merges plain data; types and ranges are checked after the
merge. A value of the command line is read by the type of its setting, as in all commands
(`alphazero.config.command_line`), so text needs no quotes. Hydra's own forms pass unchanged:
``hydra.run.dir=...``, ``~group``, ``+group=file``, ``group@package=file``, ``${interpolations}``,
and sweeps such as ``seed=range(1,4)``.
"""

import contextlib
import dataclasses
import functools
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationResolutionError, OmegaConfBaseException
from yaml import MarkedYAMLError, YAMLError

from alphazero.config.command_line import check_key, parse_overrides, split_values
from alphazero.config.files import (
    choices_hint,
    file_with,
    groups_of,
    own_folders,
    with_config_dir,
)
from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import from_plain, types_of
from alphazero.runtime.errors import ConfigError, InputError, value_text

#: What Hydra and its parts raise for a config that cannot be composed; the last is a warning, see
#: `missing_folders_are_errors`.
ERRORS = (HydraException, OmegaConfBaseException, YAMLError, ValueError, UserWarning)
_PACKAGE_HINT = " Is its first line '# @package _global_'?"
_SWEEP_FUNCTION = re.compile(r"(choice|range|interval|glob|shuffle|sort|tag)\(.*\)$")
_UNQUOTED = re.compile(r"[\w./][\w./:+@%-]*$", re.ASCII)
_WORDS_WITH_A_MEANING = {"true", "false", "null"}


class Configs(NamedTuple):
    """What is composed."""

    cls: type  #: of the settings
    folder: Path  #: of the config files that ship
    name: str  #: of the first file, whose defaults list begins with NAME_schema
    check: Callable[[Any], None]  #: raises ConfigError for values that do not fit each other
    #: Returns arguments in which choices of the user are files of a group; takes the arguments and
    #: the choices of each group.
    with_choices: Callable[[Sequence[str], dict[str, list[str]]], list[str]]


class Composer:
    """Composes the settings that one command line makes."""

    def __init__(
        self, configs: Configs, words: Sequence[str], command: str, config_dir: str | None = None
    ):
        """Read a command line.

        Args:
            words: choices of config groups, single settings and Hydra's own settings.
            command: such as "alphazero train"; error messages name it.
            config_dir: a folder with config files of the user's own.
        """
        self.configs = configs
        self.command = command
        self.config_dir = config_dir
        self.num_jobs = 1
        self.known = list(types_of(configs.cls))
        self.own_folders = own_folders(words, config_dir)
        self.groups = groups_of([*self.own_folders, configs.folder])
        self.words = configs.with_choices(words, self.groups)
        _store_schema(configs.cls, configs.name)

    def compose(self) -> Any:
        """Return the settings of a single run.

        Raises:
            ConfigError: for an unknown key or choice, or an impossible value.
        """
        overrides = with_config_dir(self.overrides(), self.config_dir)
        try:
            config = _compose(self.configs.folder, self.configs.name, tuple(overrides))
        except ERRORS as error:
            raise self.refused(error) from None
        return self.settings_of(config)

    def settings_of(self, config: DictConfig) -> Any:
        """Return the checked settings of a config that Hydra composed.

        Raises:
            ConfigError: for an unknown key or an impossible value.
        """
        names = [str(name) for name in config if name != "hydra"]
        try:
            plain: Any = OmegaConf.to_container(OmegaConf.masked_copy(config, names), resolve=True)
        except OmegaConfBaseException as error:
            raise self.refused(error) from None
        try:
            settings = from_plain(self.configs.cls, plain)
            self.configs.check(settings)
        except ConfigError as error:
            raise self._named(error) from None
        return settings

    def _named(self, error: ConfigError) -> ConfigError:
        """Return an error that names the user's own file in which the refused value stands."""
        path = file_with(self.own_folders, error.key, error.value)
        if path is None:
            return error
        is_setting = any(key.startswith(f"{error.key}.") for key in self.known)
        hint = "" if is_setting or error.key not in self.groups else _PACKAGE_HINT
        message = f"{_of_file(path)}{error}{hint}"
        return ConfigError(message, key=error.key, value=error.value, allowed=error.allowed)

    # --- arguments as overrides in Hydra's grammar ------------------------------------------------

    def overrides(self, multirun: bool = False) -> list[str]:
        """Return the arguments in Hydra's grammar.

        Args:
            multirun: values separated by commas make a run each. The names of the runs then consist
                of these settings alone.

        Raises:
            ConfigError: for an unknown key or an impossible value.
        """
        found = [self._override(word, multirun) for word in self.words]
        if multirun and not any("override_dirname" in word for word in self.words):
            fixed = [key for key, text in map(_key_and_text, self.words) if not _is_sweep(text)]
            found.append(f"hydra.job.config.override_dirname.exclude_keys=[{','.join(fixed)}]")
        return found

    def _override(self, word: str, multirun: bool) -> str:
        """Return an argument in Hydra's grammar."""
        key, text = _key_and_text(word)
        known = [*self.known, *self.groups]
        is_of_hydra = "@" in key or re.split("[./]", key)[0] == "hydra"
        if is_of_hydra or (word.startswith("+") and key not in known):
            return word
        check_key(key, text, known, self.command)
        if word.startswith("~"):
            if key in self.groups:
                return word
            message = f"{word}: a setting cannot be deleted, only a choice such as ~experiment can."
            raise ConfigError(message, key=key)
        if _is_sweep(text) and not multirun:
            message = f"{word} gives several values: --multirun makes a run for each of them."
            raise ConfigError(message, key=key, value=text)
        if _SWEEP_FUNCTION.match(text):
            return f"{key}={text}"
        values = split_values(text) if multirun else [text]
        return f"{key}={','.join(self._literal(key, value) for value in values)}"

    def _literal(self, key: str, text: str) -> str:
        """Return the value that a text means for a setting or a group, in Hydra's grammar."""
        if "${" in text:
            return text
        if key in self.groups:
            self._check_not_hidden(key, text)
            return text if text[:1] in ("", "[") else hydra_literal(text)
        values = parse_overrides(self.configs.cls, [f"{key}={text}"], self.command)
        settings = from_plain(self.configs.cls, values)
        return hydra_literal(functools.reduce(getattr, key.split("."), settings))

    def _check_not_hidden(self, group: str, choice: str) -> None:
        """Check that a file of the user's own is not hidden by one that ships."""
        for folder in self.own_folders:
            path, shipped = (f / group / f"{choice}.yaml" for f in (folder, self.configs.folder))
            if path.is_file() and shipped.is_file() and not path.samefile(shipped):
                message = f"in the config file {path}: the name '{choice}' is taken by a file that "
                message += "ships; give this one another."
                raise ConfigError(message, key=group, value=choice)

    # --- errors -----------------------------------------------------------------------------------

    def refused(self, error: Exception, words: Sequence[str] | None = None) -> InputError:
        """Return the InputError for one of `ERRORS`: key or file, value, and what is allowed.

        Args:
            words: the arguments that were composed; None takes those of the command line.
        """
        if isinstance(error, InputError):
            return error
        text = " ".join((str(error) or str(error.__cause__ or type(error).__name__)).split())
        if isinstance(error, MissingConfigException) and error.missing_cfg_file:
            return self._missing(error, self._file_in(text))
        if isinstance(error, OverrideParseException):
            message = f"'{error.override}' cannot be read: a bracket or a quote is not closed."
            return ConfigError(message, key=error.override)
        if isinstance(error, UserWarning):
            message = f"hydra.searchpath: {text.partition('path=')[2]}"
            return ConfigError(message, key="hydra.searchpath")
        if isinstance(error, InterpolationResolutionError):
            return self._unresolved(error)
        path = self._file_in(text) or self._chosen_file(words or self.words)
        if isinstance(error, MarkedYAMLError) and error.problem_mark:
            path = Path(error.problem_mark.name)
            text = f"line {error.problem_mark.line + 1} is not YAML ({error.problem})"
        elif isinstance(error, UnicodeDecodeError):
            text = "it is not a text file in UTF-8"
        text = re.sub("^In '[^']*': ", "", text) if path else text
        end = "" if text.endswith("?") else "."
        hint = self._override_hint(text)
        return ConfigError(f"{_of_file(path)}{text.rstrip('.')}{end}{hint}")

    def _override_hint(self, text: str) -> str:
        """Return a hint for a message of Hydra's that it could not override a choice."""
        found = re.match(r"Could not override '([\w/]*/)?(\w+)(@\w+\.)?", text)
        if found and found[3]:
            return _PACKAGE_HINT
        groups = [f"/{group}" for group in self.groups]
        return nearest_key_hint(found[2], groups) if found and "No match" in text else ""

    def _file_in(self, text: str) -> Path | None:
        """Return the user's own file that a message of Hydra's names as in 'experiment/mine'."""
        found = re.search("in '([^']*)'", text, re.IGNORECASE)
        return self._own_file(found[1]) if found else None

    def _chosen_file(self, words: Sequence[str]) -> Path | None:
        """Return the first of the user's own files that arguments choose."""
        files = (self._own_file(word.replace("=", "/")) for word in words)
        return next(filter(None, files), None)

    def _own_file(self, name: str) -> Path | None:
        files = (folder / f"{name}.yaml" for folder in self.own_folders)
        return next((file for file in files if file.is_file()), None)

    def _missing(self, error: MissingConfigException, file: Path | None) -> ConfigError:
        """Return the error for a choice of a config group that does not exist.

        Args:
            file: the user's own file that makes the choice, as far as Hydra says so.
        """
        name = str(error.missing_cfg_file)  # such as "experiment/ablation/adam"
        group, slash, choice = name.partition("/")
        if not slash:
            message = f"--config-name {name}: there is no config file '{name}.yaml'. A recipe of "
            message += "your own is chosen by experiment=NAME."
            return ConfigError(message, key="--config-name", value=name)
        if group not in self.groups:
            group, _, choice = name.rpartition("/")
        choices = self.groups.get(group) or list(error.options or [])
        hint = choices_hint(choice, choices)
        file = file or file_with(self.own_folders, f"override /{group}", choice)
        message = f"{_of_file(file)}{group}={choice} is not allowed: there is no such file.{hint}"
        return ConfigError(message, key=group, value=choice, allowed=sorted(choices))

    def _unresolved(self, error: InterpolationResolutionError) -> ConfigError:
        """Return the error for an interpolation that names nothing."""
        cause = str(error).splitlines()[0].rpartition("resolving interpolation: ")[2].strip('"')
        named = re.search("Interpolation key '([^']*)' not found", cause)
        hint = nearest_key_hint(named[1], self.known) if named else ""
        return ConfigError(f"{error.full_key}: {cause}.{hint}", key=error.full_key)


def _of_file(path: Path | None) -> str:
    return f"in the config file {path}: " if path else ""


def hydra_literal(value: Any) -> str:
    """Return a value as Hydra's grammar writes it; text is quoted where that is needed."""
    if isinstance(value, list):
        return f"[{','.join(map(hydra_literal, value))}]"
    if not isinstance(value, str):
        return value_text(value)
    if _UNQUOTED.match(value) and not _has_a_meaning(value):
        return value
    return QuotedString(value, Quote.single).with_quotes()


def _has_a_meaning(text: str) -> bool:
    """Return whether Hydra reads a text without quotes as a number, a switch or nothing."""
    try:
        float(text)
        return True
    except ValueError:
        return text.lower() in _WORDS_WITH_A_MEANING


def _key_and_text(word: str) -> tuple[str, str]:
    """Return the key of an argument, without "+" and "~", and what follows its "="."""
    key, equals, text = word.lstrip("+~").partition("=")
    if not key or (not equals and not word.startswith("~")):
        raise ConfigError(f"'{word}' is not of the form key=value.", key=word)
    return key, text


def _is_sweep(text: str) -> bool:
    """Return whether an argument gives several values."""
    return len(split_values(text)) > 1 or bool(_SWEEP_FUNCTION.match(text))


# --- Hydra ----------------------------------------------------------------------------------------


@functools.cache
def _store_schema(cls: type, name: str) -> None:
    """Make the keys known to Hydra, as plain data; types are checked after the merge."""
    ConfigStore.instance().store(name=f"{name}_schema", node=dataclasses.asdict(cls()))


def store_choice(group: str, name: str, values: dict[str, Any]) -> None:
    """Add a choice that has no file to a config group; its values are keys of the root."""
    ConfigStore.instance().store(group=group, name=name, node=values, package="_global_")


@functools.lru_cache(maxsize=256)
def _compose(folder: Path, name: str, overrides: tuple[str, ...]) -> DictConfig:
    """Return the config that Hydra merges from files and overrides; do not change it.

    In a job of `hydra.main`, which does not allow a second composition, that one is set aside.
    """
    of_job = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with (
            missing_folders_are_errors(),
            hydra.initialize_config_dir(str(folder), version_base="1.3", job_name=name),
        ):
            return hydra.compose(name, overrides=list(overrides))
    finally:
        GlobalHydra.instance().hydra = of_job


@contextlib.contextmanager
def missing_folders_are_errors() -> Iterator[None]:
    """Have Hydra raise its warning that a folder of ``hydra.searchpath`` does not exist."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "provider=.* is not available", UserWarning)
        yield
