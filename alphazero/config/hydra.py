"""Settings that Hydra composes from config files and the arguments of a command line.

In: a settings class, the folder of its config files, and arguments. Out: checked settings, or one
sentence for whatever is wrong. Hydra merges plain data; types and ranges are checked after the
merge. Text needs no quotes on the command line, as in all commands
(`alphazero.config.command_line`): it is quoted here. Hydra reads everything else:
``hydra.run.dir=...``, ``~group``, ``+group=file``, ``group@package=file``, ``${interpolations}``,
and sweeps such as ``seed=range(1,4)``.
"""

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Quote, QuotedString, RangeSweep
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.plugins.config_source import ConfigSource
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from alphazero.config.command_line import check_key, split_values, split_word
from alphazero.config.files import config_files, file_with, groups_of
from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import from_plain, types_of
from alphazero.runtime.errors import ConfigError, InputError

#: Raised by Hydra, OmegaConf and YAML for a config that cannot be composed.
_ERRORS = (HydraException, OmegaConfBaseException, YAMLError, ValueError)
_PACKAGE_HINT = " Is its first line '# @package _global_'?"
_SWEEP_FUNCTION = re.compile(r"(choice|range|interval|glob|shuffle|sort|tag)\(.*\)$")

# Hydra finds '# @package' at the start of a file alone, where an editor may have put a byte order
# mark.
_header = ConfigSource._get_header_dict
_header_after_mark = staticmethod(lambda text: _header(text.removeprefix("\ufeff")))
ConfigSource._get_header_dict = _header_after_mark  # type: ignore[method-assign,assignment]


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

        Raises:
            ConfigError: for a game that does not exist, or if there is no such folder.
        """
        self.configs = configs
        self.command = command
        self.kinds = types_of(configs.cls)
        self.own_files = {} if config_dir is None else config_files(Path(config_dir))
        self.groups = groups_of([*self.own_files, *config_files(configs.folder)])
        self.words = configs.with_choices(words, self.groups)
        if config_dir is not None:
            self.words.append(_search_path(config_dir, words))
        _store_schema(configs.cls, configs.name)

    def compose(self, overrides: Sequence[str] | None = None) -> Any:
        """Return the settings of a single run.

        Args:
            overrides: arguments in Hydra's grammar; None takes those of the command line.

        Raises:
            ConfigError: for an unknown key or choice, or an impossible value.
        """
        words = tuple(self.overrides() if overrides is None else overrides)
        try:
            return self.settings_of(_compose(self.configs.folder, self.configs.name, words))
        except ConfigError as error:
            raise self._named(error) from None
        except InputError:
            raise
        except _ERRORS as error:
            raise self._refused(error, words) from None

    def settings_of(self, config: DictConfig) -> Any:
        """Return the checked settings of a config that Hydra composed.

        Raises:
            ConfigError: for an unknown key or an impossible value.
            OmegaConfBaseException: for an interpolation that names nothing.
        """
        plain: Any = OmegaConf.to_container(config, resolve=True)
        settings = from_plain(self.configs.cls, plain)
        self.configs.check(settings)
        return settings

    def check_runs(self, overrides: Sequence[str]) -> int:
        """Check the settings of each run that overrides ask for, several in a sweep.

        Returns:
            The number of runs, 0 if it is unknown: a sweeper draws the values, or Hydra looks for
            files. These are checked when their runs start.

        Raises:
            ConfigError: for an unknown key or choice, or an impossible value.
        """
        try:
            parsed = OverridesParser.create().parse_overrides(list(overrides))
        except HydraException as error:
            raise self._refused(error, overrides) from None
        sweeps = [one for one in parsed if one.is_sweep_override()]
        fixed = [one for one in parsed if one not in sweeps]
        self.fixed_keys = {one.get_key_element() for one in fixed}
        if not all(isinstance(one.value(), (ChoiceSweep, RangeSweep)) for one in sweeps):
            return 0
        values = [
            [f"{one.get_key_element()}={value}" for value in one.sweep_string_iterator()]
            for one in sweeps
        ]
        runs = list(itertools.product(*values))
        for run in runs:
            self.compose([*(str(one.input_line) for one in fixed), *run])
        return len(runs)

    # --- arguments as overrides in Hydra's grammar ------------------------------------------------

    def overrides(self, multirun: bool = False) -> list[str]:
        """Return the arguments in Hydra's grammar.

        Args:
            multirun: values separated by commas make a run each.

        Raises:
            ConfigError: for an unknown key, or several values without ``multirun``.
        """
        return [self._override(word, multirun) for word in self.words]

    def _override(self, word: str, multirun: bool) -> str:
        """Return an argument in Hydra's grammar."""
        if word.startswith("~"):
            return word
        key, text = split_word(word.lstrip("+"))
        if "@" in key or re.split("[./]", key)[0] == "hydra":
            return word
        check_key(key, text, [*self.kinds, *self.groups], self.command)
        values = split_values(text)
        if not multirun and (len(values) > 1 or _SWEEP_FUNCTION.match(text)):
            message = f"{word} gives several values: --multirun makes a run for each of them."
            raise ConfigError(message, key=key, value=text)
        return f"{key}={','.join(self._literal(key, value) for value in values)}"

    def _literal(self, key: str, text: str) -> str:
        """Return a value of a setting or a group in Hydra's grammar: text is quoted."""
        if key in self.groups:
            self._check_not_hidden(key, text)
            is_text = text[:1] != "["
        else:
            is_text = self.kinds[key] is str and text != "null"
        if not is_text or "${" in text or text[:1] in ("'", '"') or _SWEEP_FUNCTION.match(text):
            return text
        return QuotedString(text, Quote.single).with_quotes()

    def _check_not_hidden(self, group: str, choice: str) -> None:
        """Check that a file of the user's own is not hidden by one that ships."""
        path = self.own_files.get(f"{group}/{choice}")
        shipped = self.configs.folder / group / f"{choice}.yaml"
        if path and shipped.is_file() and not path.samefile(shipped):
            reason = f"a file that ships has this name; give {path} another"
            raise ConfigError.of(group, choice, reason=reason)

    # --- errors -----------------------------------------------------------------------------------

    def _named(self, error: ConfigError) -> ConfigError:
        """Return an error that names the user's own file in which the refused value stands."""
        path = file_with(self.own_files, error.key, error.value)
        if path is None:
            return error
        hint = _PACKAGE_HINT if error.key in self.groups else ""
        message = f"{_of_file(path)}{error}{hint}"
        return ConfigError(message, key=error.key, value=error.value, allowed=error.allowed)

    def _refused(self, error: Exception, overrides: Sequence[str]) -> ConfigError:
        """Return the ConfigError for one of `_ERRORS`: key or file, value, and what is allowed."""
        if isinstance(error, OverrideParseException):
            key, _, value = error.override.partition("=")
            return ConfigError.of(key, value, reason="Hydra cannot parse it")
        cause = error if str(error) else error.__cause__ or error
        text = " ".join(str(cause).split()).partition(" full_key: ")[0].rstrip(".")
        if isinstance(cause, UnicodeDecodeError):
            text = "it is not a text file in UTF-8"
        files = self.own_files.items()
        path = next((path for name, path in files if f"'{name}'" in text), None)
        if isinstance(error, MissingConfigException):
            return self._missing(error, path)
        chosen = [word.replace("'", "").replace("=", "/") for word in overrides]
        path = path or next((path for name, path in files if name in chosen), None)
        setting = getattr(cause, "full_key", None)
        start = f"{_of_file(path)}{setting}: " if setting else _of_file(path)
        hint = _PACKAGE_HINT if re.search("override '.*@", text) else ""
        return ConfigError(f"{start}{text}.{hint}", key=setting)

    def _missing(self, error: MissingConfigException, path: Path | None) -> ConfigError:
        """Return the error for a choice of a config group that does not exist.

        Args:
            path: the user's own file that makes the choice, as far as Hydra says so.
        """
        name = str(error.missing_cfg_file)  # such as "experiment/ablation/adam"
        group, _, choice = name.partition("/")
        if group not in self.groups:  # such as "hydra/launcher/basic"
            group, _, choice = name.rpartition("/")
        choices = self.groups.get(group) or list(error.options or [])
        hint = nearest_key_hint(choice, choices) or f" There are {', '.join(choices)}."
        path = path or file_with(self.own_files, f"override /{group}", choice)
        message = f"{_of_file(path)}{group}={choice} is not allowed: there is no such file.{hint}"
        return ConfigError(message, key=group, value=choice, allowed=sorted(choices))


def _of_file(path: Path | None) -> str:
    return f"in the config file {path}: " if path else ""


# --- Hydra ----------------------------------------------------------------------------------------


def _search_path(config_dir: str, words: Sequence[str]) -> str:
    """Return the argument that adds a folder to Hydra's search path."""
    path, key = Path(config_dir).absolute(), "hydra.searchpath"
    if not path.is_dir():
        raise ConfigError.of("--config-dir", config_dir, reason="there is no such folder")
    if any(word.startswith(f"{key}=") for word in words):
        raise ConfigError.of("--config-dir", config_dir, reason=f"{key} names folders, too")
    return f"{key}=[{QuotedString(f'file://{path}', Quote.single).with_quotes()}]"


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
        with hydra.initialize_config_dir(str(folder), version_base="1.3", job_name=name):
            return hydra.compose(name, overrides=list(overrides))
    finally:
        GlobalHydra.instance().hydra = of_job
