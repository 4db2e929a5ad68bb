"""The settings of a training run: Hydra merges config files and the arguments of the command line.

In: the arguments of `alphazero train`, or the config that Hydra composed from them. Out: checked
plain dataclasses; no Hydra object leaves this package. Only Hydra's public API is used.
"""

import contextlib
import functools
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import explained, from_plain, rows
from alphazero.runtime.errors import ConfigError
from alphazero.training.config_files import config_folder, config_groups
from alphazero.training.hydra_overrides import hydra_overrides
from alphazero.training.own_folders import choices_hint, with_config_dir
from alphazero.training.settings import TrainSettings, check_new_run

COMMAND = "alphazero train"
#: What Hydra and its parts raise for a config that cannot be composed.
CONFIG_ERRORS = (
    HydraException,
    OmegaConfBaseException,
    YAMLError,
    UnicodeDecodeError,
    UserWarning,  # see `missing_folders_are_errors`
)


def compose(words: list[str], config_dir: str | None = None) -> TrainSettings:
    """Return the checked settings of a run.

    Args:
        words: choices of config groups and single settings, such as ``["game=othello", "seed=1"]``.
            Single settings override files, and later arguments override earlier ones.
        config_dir: a folder with more config files.

    Raises:
        ConfigError: for an unknown key or choice, or an impossible value.
    """
    words = with_config_dir(words, config_dir)
    return settings_of(_compose(tuple(hydra_overrides(words, COMMAND))))


def settings_of(config: DictConfig) -> TrainSettings:
    """Return the checked settings of a config that Hydra composed.

    Raises:
        ConfigError: for an impossible value.
    """
    _check_keys(config)
    settings = from_plain(config, {})
    check_new_run(settings)
    return settings


@functools.cache
def store_schema() -> None:
    """Make the types of the settings known to Hydra; configs/train.yaml refers to them."""
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name="train_schema", node=TrainSettings)


def refused(error: Exception) -> ConfigError:
    """Return the ConfigError for one of `CONFIG_ERRORS`.

    It names the key or file, the value, and what is allowed.
    """
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return _missing(error.missing_cfg_file, error.options or [])
    if isinstance(error, OverrideParseException):
        message = f"'{error.override}' cannot be read: a bracket or a quote is not closed."
        return ConfigError(message, key=error.override)
    if isinstance(error, YAMLError):
        return ConfigError(f"a config file is not YAML: {' '.join(str(error).split())}.")
    if isinstance(error, UnicodeDecodeError):
        return ConfigError("a config file that was chosen is not a text file in UTF-8.")
    if isinstance(error, UserWarning):
        message = f"hydra.searchpath: {str(error).partition('path=')[2].rstrip('.')}."
        return ConfigError(message, key="hydra.searchpath")
    text = str(error).splitlines()[0].rstrip(".:") if str(error) else type(error).__name__
    cause = error.__cause__ or error.__context__ or error
    if not isinstance(cause, OmegaConfBaseException):
        return ConfigError(f"{text}.")
    found = explained(cause, TrainSettings, _refused_value(cause))
    place = re.match("In '(.*?)':", text)
    if not place:
        return found
    message = f"in the config file {place[1]}.yaml: {found}"
    if found.key in config_groups():
        message += " Is its first line '# @package _global_'?"
    return ConfigError(message, key=found.key, value=found.value, allowed=found.allowed)


def _refused_value(error: OmegaConfBaseException) -> dict[str, Any]:
    """Return the value that OmegaConf refused, nested by sections; {} if the error has none."""
    found = re.match("Value '(.*)' of type", str(error))
    values: Any = found[1] if found else {}
    for name in reversed(str(error.full_key or "").split(".")):
        values = {name: values} if found else values
    return values


@contextlib.contextmanager
def missing_folders_are_errors() -> Iterator[None]:
    """Have Hydra raise its warning that a folder of ``hydra.searchpath`` does not exist."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "provider=.* is not available", UserWarning)
        yield


def _missing(path: str, options: Sequence[str]) -> ConfigError:
    """Return the error for a choice of a config group that does not exist.

    Args:
        path: of the choice, such as "experiment/ablation/adam".
        options: the files of its group, those of the user's own config folders included.
    """
    group, _, choice = path.rpartition("/")
    shipped: list[str] = []
    for name, choices in config_groups().items():
        if path.startswith(name + "/"):
            group, choice, shipped = name, path.removeprefix(name + "/"), choices
    if not group:
        message = f"--config-name {choice}: there is no config file '{choice}.yaml'. A recipe of "
        message += "your own is chosen by experiment=NAME."
        return ConfigError(message, key="--config-name", value=choice)
    own = [name for name in options if name not in shipped] if ".." not in path else []
    allowed = [*own, *shipped]
    hint = choices_hint(choice, allowed)
    message = f"{group}={choice} is not allowed: there is no such file.{hint}"
    return ConfigError(message, key=group, value=choice, allowed=sorted(allowed))


def _check_keys(config: DictConfig) -> None:
    """Check that every key is one of ours: with "+", anything can be added to a config."""
    known = {row.key for row in rows(TrainSettings())}
    sections = {key.partition(".")[0] for key in known}
    for name, value in config.items_ex(resolve=False):
        values: dict[str, Any] = {str(name): value}
        if isinstance(value, DictConfig):
            values = {f"{name!s}.{key!s}": inner for key, inner in value.items_ex(resolve=False)}
        for key in sorted(values.keys() - known):
            hint = nearest_key_hint(key, sorted(known | sections))
            message = f"there is no setting '{key}'.{hint}"
            raise ConfigError(message, key=key, value=str(values[key]), allowed=sorted(known))


@functools.lru_cache(maxsize=256)
def _compose(overrides: tuple[str, ...]) -> DictConfig:
    """Return the config that Hydra merges from train.yaml and overrides; do not change it."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    store_schema()
    try:
        with (
            missing_folders_are_errors(),
            initialize_config_dir(str(config_folder()), version_base="1.3", job_name="train"),
        ):
            return hydra_compose("train", overrides=list(overrides))
    except CONFIG_ERRORS as error:
        raise refused(error) from None


def recipe_of(game_name: str) -> TrainSettings:
    """Return the settings of a game's runs as its config files propose them.

    This may be called in a job of `hydra.main`, which does not allow a second composition.
    """
    from hydra.core.global_hydra import GlobalHydra

    of_job = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        return compose([f"game={game_name}"])
    finally:
        GlobalHydra.instance().hydra = of_job
