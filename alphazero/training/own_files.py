"""Checks of the user's own config files, one by one, before Hydra merges them.

In: the choices of a command line. Out: nothing, or a ConfigError that names the file. Hydra and the
checks of merged settings know no files; what only they can find is left to them.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import from_plain, rows
from alphazero.runtime.errors import ConfigError
from alphazero.training.config_files import config_folder, config_groups
from alphazero.training.own_folders import choices_hint, find_config, groups_of
from alphazero.training.settings import TrainSettings

_PACKAGE = re.compile(r"\s*(#\s*@\w+.*\n\s*)*?#\s*@package\s+(\S+)")


class OwnFiles:
    """The files of the user's own folders."""

    def __init__(self, folders: Sequence[Path]):
        self.folders = folders
        self.groups = groups_of(folders)
        self._checked: set[Path] = set()

    def check(self, group: str, choice: str) -> None:
        """Check the user's file of a choice, and those that it names; a file that ships is fine.

        Raises:
            ConfigError: naming the file and what is wrong in it.
        """
        own = [folder / group / f"{choice}.yaml" for folder in self.folders]
        own = [path for path in own if path.is_file()]
        if own and (config_folder() / group / f"{choice}.yaml").is_file():
            message = f"the name '{choice}' is taken by a file that ships; give this one another."
            raise _wrong(own[0], message, key=group, value=choice)
        if own and own[0] not in self._checked:
            self._checked.add(own[0])
            self._check_file(own[0], group)

    def _check_file(self, path: Path, group: str) -> None:
        text = _text(path)
        values = _values(path, text)
        header = _PACKAGE.match(text)
        package = header[2] if header else group.partition("/")[0]
        if package == "experiment":
            is_empty = "it is empty; a recipe begins with the line '# @package _global_'."
            first = "its first line must be '# @package _global_': a recipe sets keys of the run."
            raise _wrong(path, first if text.strip() else is_empty)
        self._check_defaults(path, group, values.pop("defaults", None) or [])
        if package == "_group_":
            package = group
        if package in ("_global_", *(row.key.partition(".")[0] for row in rows(TrainSettings()))):
            _check_values(path, values if package == "_global_" else {package: values})

    # --- the defaults list ------------------------------------------------------------------------

    def _check_defaults(self, path: Path, group: str, entries: Any) -> None:
        if not isinstance(entries, list):
            raise _wrong(path, "'defaults' takes a list: each line begins with '- '.")
        for entry in entries:
            if isinstance(entry, str):
                self._check_parent(path, group, entry)
            elif isinstance(entry, dict) and len(entry) == 1:
                ((key, choice),) = entry.items()
                self._check_choice(path, group, str(key), choice)

    def _check_parent(self, path: Path, group: str, entry: str) -> None:
        """Check an entry such as "base": another file of the same group."""
        name = entry.partition("@")[0]
        if name == "_self_" or "${" in name:
            return
        parent, _, choice = (name[1:] if name[:1] == "/" else f"{group}/{name}").rpartition("/")
        self._check_exists(path, parent, choice, f"- {entry}")

    def _check_choice(self, path: Path, group: str, key: str, choice: Any) -> None:
        """Check an entry such as "override /game: othello"."""
        words = key.split()
        name = words[-1].partition("@")[0]
        line = f"- {key}: {choice}"
        if name.lstrip("/").startswith("hydra") or "@" in key or "optional" in words:
            return
        is_known = name.lstrip("/") in self.groups
        if not is_known and not (config_folder() / group / name).is_dir():
            hint = nearest_key_hint(name.lstrip("/"), list(self.groups))
            raise _wrong(path, f"'{line}': there is no config group '{name}'.{hint}", key=name)
        if not name.startswith("/"):
            if is_known:
                cause = "names of groups begin with a slash"
                raise _wrong(path, f"{cause}: '- override /{name}: {choice}'.", key=name)
            return
        if "override" not in words and name[1:] in config_groups():
            cause = f"a run has a choice of {name[1:]} already: write"
            raise _wrong(path, f"'{line}': {cause} '- override {name}: {choice}'.", key=name[1:])
        if isinstance(choice, bool):
            raise _wrong(path, f"'{key}' names a file: write it in quotes.", key=name[1:])
        for one in choice if isinstance(choice, list) else [choice]:
            if one is not None and "${" not in str(one):
                self._check_exists(path, name[1:], str(one), line)

    def _check_exists(self, path: Path, group: str, choice: str, line: str) -> None:
        if find_config(self.folders, f"{group}/{choice}") is None:
            first, _, inner = f"{group}/{choice}".partition("/")
            choices = self.groups.get(first, [])
            message = f"'{line}': there is no such file.{choices_hint(inner, choices)}"
            raise _wrong(path, message, key=first, value=inner, allowed=choices)
        self.check(group, choice)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise _wrong(path, "it is not a text file in UTF-8.") from None


def _values(path: Path, text: str) -> dict[str, Any]:
    """Return the plain data of a file, interpolations as they are written."""
    try:
        config = OmegaConf.create(text) if text.strip() else OmegaConf.create()
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1} is not YAML" if mark else "it is not YAML"
        raise _wrong(path, f"{place} ({getattr(error, 'problem', None) or 'damaged'}).") from None
    except (OmegaConfBaseException, ValueError, RecursionError):
        raise _wrong(path, "it holds more than keys and values.") from None
    if not isinstance(config, DictConfig):
        message = "it holds a list; a config file holds keys with values, such as 'seed: 1'."
        raise _wrong(path, message)
    values: Any = OmegaConf.to_container(config, resolve=False)
    return values


def _check_values(path: Path, values: dict[str, Any]) -> None:
    """Check keys, types and ranges of what a file sets; interpolations are checked when merged."""
    keys = [row.key for row in rows(TrainSettings())]
    sections = {key.partition(".")[0] for key in keys if "." in key}
    for name, value in values.items():
        if name in sections and not isinstance(value, dict) and not _is_interpolation(value):
            message = f"{name} is a section; write its settings indented below it."
            raise _wrong(path, message, key=name, value=value)
        if name in keys and "." in str(name):
            section, _, inner = name.partition(".")
            text = f"'{name}' is not one key: write '{section}:' and, indented below, '{inner}:'."
            raise _wrong(path, text, key=name, value=value)
        if name not in sections and name not in keys and name != "hydra":
            known = sorted(sections) if isinstance(value, dict) else [*sorted(sections), *keys]
            hint = nearest_key_hint(str(name), known)
            kind = "section" if isinstance(value, dict) else "setting"
            raise _wrong(path, f"there is no {kind} '{name}'.{hint}", key=str(name), value=value)
    plain = {name: value for name, value in values.items() if name != "hydra"}
    try:
        from_plain(TrainSettings, _without_interpolations(plain))
    except ConfigError as error:
        about = {"key": error.key, "value": error.value, "allowed": error.allowed}
        raise _wrong(path, str(error), **about) from None


def _without_interpolations(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_interpolations(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if not _is_interpolation(value)
    }


def _is_interpolation(value: Any) -> bool:
    return "${" in str(value) if isinstance(value, (str, list)) else False


def _wrong(path: Path, reason: str, **about: Any) -> ConfigError:
    return ConfigError(f"in the config file {path}: {reason}", **about)
