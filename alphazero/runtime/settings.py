"""Typed settings: what a key means, which values it may take, and what to say when a value is impossible.

In: dataclasses whose fields are made with `option`, and values from a person. Out: checked plain dataclasses. This file knows neither Hydra
nor any stage of the pipeline: each command declares its own settings with it.
"""

import dataclasses
import difflib
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from alphazero.runtime.errors import ConfigError
from alphazero.runtime.stored_names import check_not_retired, current_settings


def option(default, help: str, low=None, high=None, choices=None):
    """Declare a setting: its default, one line of help, and the range or the choices that it is held to.

    Args:
        low, high: inclusive bounds of a number; None is no bound.
        choices: the allowed values.
    """
    metadata = {"help": help, "low": low, "high": high, "choices": choices}
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=lambda: default.copy(), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def section(cls, help: str):
    """Declare a group of settings inside another."""
    return dataclasses.field(default_factory=cls, metadata={"help": help})


def allowed_text(field: dataclasses.Field) -> str:
    """Return the allowed values of a setting in words, '' where everything of its type is allowed."""
    low, high, choices = (field.metadata.get(key) for key in ("low", "high", "choices"))
    if choices is not None:
        return "one of " + ", ".join(str(choice) for choice in choices)
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"{low} or more"
    if high is not None:
        return f"{high} or less"
    return ""


def check(settings, prefix: str = "") -> None:
    """Hold every value of a settings dataclass, and of those inside it, to its range.

    Raises:
        ConfigError: naming the key, the value and what is allowed.
    """
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        key = prefix + field.name
        if dataclasses.is_dataclass(value):
            check(value, key + ".")
        elif value is not None and not _within(value, field.metadata):
            raise ConfigError(f"{key}={value} is not allowed: {key} takes {allowed_text(field)}.")


def check_folder(settings, *keys: str) -> None:
    """Check that the files which the settings ``keys`` name ('' or None: none) have a folder to be written to.

    Raises:
        ConfigError: naming the setting and the folder that is missing.
    """
    for key in keys:
        path = getattr(settings, key)
        if path and not Path(path).resolve().parent.is_dir():
            raise ConfigError(
                f"{key}={path} is not allowed: there is no folder {Path(path).parent} to write it to."
            )


def _within(value, metadata) -> bool:
    choices, low, high = (metadata.get(key) for key in ("choices", "low", "high"))
    if choices is not None:
        return value in choices
    numbers = value if isinstance(value, (list, tuple)) else [value]
    return all(
        (low is None or number >= low) and (high is None or number <= high) for number in numbers
    )


def rows(settings, prefix: str = ""):
    """Yield (key, value, help, allowed) for each setting, those inside sections included."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if dataclasses.is_dataclass(value):
            yield from rows(value, prefix + field.name + ".")
        else:
            yield prefix + field.name, value, field.metadata.get("help", ""), allowed_text(field)


def word_of(value) -> str:
    """Return the value of a setting as it is typed in a command."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{','.join(map(word_of, value))}]" if isinstance(value, list) else str(value)


def nearest_key_hint(key: str, known) -> str:
    """Return ' Did you mean ...?' if a known key looks like ``key``, the keys of its section if it has one, otherwise ''."""
    section, dot, name = key.rpartition(".")
    own = [other for other in known if dot and other.startswith(section + ".")]
    close = difflib.get_close_matches(key, own or list(known), n=1, cutoff=0.85 if own else 0.6)
    if not close:
        close = [other for other in known if other.split(".")[-1] == name][:1]
    if close:
        return f" Did you mean {close[0]}?"
    return (
        f" Those of {section}: {', '.join(other.rpartition('.')[2] for other in own)}."
        if own
        else ""
    )


def from_plain(cls, values: dict[str, Any]):
    """Return a ``cls`` filled from nested plain data and checked.

    Raises:
        ConfigError: for an unknown key, a value of the wrong type, or one out of range.
    """
    try:
        settings = OmegaConf.to_object(
            OmegaConf.merge(OmegaConf.structured(cls), OmegaConf.create(values))
        )
    except OmegaConfBaseException as error:
        raise ConfigError(explain(error, cls)) from None
    check(settings)
    return settings


def from_stored(cls, values: dict[str, Any], path, section: str = ""):
    """Return what `from_plain` makes of the settings that the file ``path`` holds; its ConfigError names the file."""
    try:
        return from_plain(cls, current_settings(values, section))
    except ConfigError as error:
        raise ConfigError(f"the settings in {path} do not fit this version: {error}") from None


def from_overrides(cls, overrides: list[str], command: str):
    """Return a ``cls`` filled from ``key=value`` words of a command line and checked.

    Args:
        command: the command they were typed for, named in the errors.

    Raises:
        ConfigError: for a word without '=', an unknown key, a value of the wrong type, or one out of range.
    """
    known = [key for key, *_ in rows(cls())]
    values = OmegaConf.create()
    for word in overrides:
        key, equals, value = word.partition("=")
        if not equals:
            raise ConfigError(
                f"'{word}' is not of the form key=value.{nearest_key_hint(word, known)}"
            )
        check_not_retired(key, value)
        if key not in known:
            raise ConfigError(
                f"'{command}' has no setting '{key}'.{nearest_key_hint(key, known)} Its settings: {', '.join(known)}."
            )
        try:
            OmegaConf.update(values, key, OmegaConf.create({"value": _parse(value)}).value)
        except OmegaConfBaseException as error:
            raise ConfigError(
                f"{key}={value} cannot be read: {str(error).splitlines()[0]}."
            ) from None
    return from_plain(cls, OmegaConf.to_container(values))


def _parse(text: str):
    import yaml

    try:
        value = yaml.safe_load(text) if text else ""
        return (
            text if isinstance(value, dict) else value
        )  # no setting is a mapping: 'laptop: 2 cores' is text
    except yaml.YAMLError:
        return text


def explain(error: OmegaConfBaseException, cls) -> str:
    """Return what a person needs to know of an OmegaConf error: the key, the value and the type that is wanted."""
    key = str(error.full_key or error.key or "?").partition("[")[
        0
    ]  # of an item of a list, the list
    types = {name: value for name, value, *_ in rows(cls())}
    first_line = str(error).splitlines()[0].rstrip(".")
    if key not in types:
        return f"there is no setting '{key}'.{nearest_key_hint(key, types)}"
    wanted = type(types[key]).__name__
    wanted = {
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "str": "text",
        "list": "a list",
    }.get(wanted, wanted)
    return f"{key} has a value of the wrong kind ({first_line}): it takes {wanted}."
