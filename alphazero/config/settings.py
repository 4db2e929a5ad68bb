"""Typed settings: declare a key with its help, range or choices, and check the values given for it.

In: dataclasses whose fields are made with `option` and `section`, and plain data for them. Out:
checked plain dataclasses. Each package declares its own settings with this module, which knows none
of them. `alphazero.config.command_line` reads settings from the arguments of a command line.
"""

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationResolutionError, OmegaConfBaseException

from alphazero.config.hints import nearest_key_hint
from alphazero.runtime.errors import ConfigError, value_text

_TYPE_TEXT = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    list: "a list such as [1,2]",
}


def option(
    default: Any,
    help: str,
    low: float | None = None,
    high: float | None = None,
    choices: tuple | None = None,
    alias: str | None = None,
) -> Any:
    """Declare a setting.

    Args:
        default: its default value; lists are copied.
        help: one line for `--help`.
        low, high: inclusive bounds of a number, or of each number of a list; None means no bound.
        choices: the allowed values.
        alias: an earlier name, which command lines still take.
    """
    metadata = {"help": help, "low": low, "high": high, "choices": choices, "alias": alias}
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=lambda: default.copy(), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def section(cls: type, help: str) -> Any:
    """Declare a group of settings, itself a dataclass, inside another."""
    return dataclasses.field(default_factory=cls, metadata={"help": help})


# --- reading declarations -------------------------------------------------------------------------


class Row(NamedTuple):
    """One setting, for help texts and tables."""

    key: str  #: with its section, such as "learner.batch_size"
    value: Any
    help: str
    allowed: str  #: the range or the choices as text, "" if its type alone limits it


def rows(settings: Any) -> Iterator[Row]:
    """Yield every setting of a settings dataclass, those of its sections included."""
    for key, field, value in _walk(settings):
        yield Row(key, value, field.metadata.get("help", ""), allowed_text(field))


def types_of(cls: type) -> dict[str, type]:
    """Return the type of each setting by its key: int, float, bool, str or list."""
    return {key: _plain_type(field.type) for key, field, _ in _walk(cls())}


def aliases_of(cls: type) -> dict[str, str]:
    """Return today's key of each earlier name that command lines still take."""
    fields = [(key, field.metadata.get("alias")) for key, field, _ in _walk(cls())]
    return {alias: key for key, alias in fields if alias}


def allowed_text(field: dataclasses.Field) -> str:
    """Return the range or the choices of a setting as text, "" if its type alone limits it."""
    low, high, choices = (field.metadata.get(key) for key in ("low", "high", "choices"))
    if choices is not None:
        return "one of " + ", ".join(map(str, choices))
    if low is not None and high is not None:
        return f"{_number_text(low)} to {_number_text(high)}"
    if low is not None:
        return f"{_number_text(low)} or more"
    return "" if high is None else f"{_number_text(high)} or less"


def _walk(settings: Any, prefix: str = "") -> Iterator[tuple[str, dataclasses.Field, Any]]:
    """Yield (key, field, value) of every setting."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if dataclasses.is_dataclass(value):
            yield from _walk(value, prefix + field.name + ".")
        else:
            yield prefix + field.name, field, value


def _plain_type(annotation: Any) -> type:
    """Return the type of an annotation: int for ``int | None``, list for ``list[int]``."""
    if isinstance(annotation, types.UnionType):
        (annotation,) = (one for one in typing.get_args(annotation) if one is not type(None))
    return typing.get_origin(annotation) or annotation


def _number_text(value: float) -> str:
    """Return a bound as text; those near the limits of 64-bit integers as a power of two."""
    if isinstance(value, float):
        return f"{value:g}"
    return f"2^{value.bit_length()}" if value > 2**53 else str(value)


# --- checking values ------------------------------------------------------------------------------


def from_plain(base: Any, values: dict[str, Any]) -> Any:
    """Return settings filled from nested plain data and checked.

    Args:
        base: what ``values`` changes: a settings class (its defaults), an instance, or a structured
            OmegaConf config.
        values: nested by sections.

    Raises:
        ConfigError: for an unknown key, a value of the wrong type, or one out of range.
    """
    structured = base if isinstance(base, DictConfig) else _structured(base)
    _check_sections(OmegaConf.to_container(structured), values)
    try:
        merged = OmegaConf.merge(structured, OmegaConf.create(_literal(values)))
        settings = OmegaConf.to_object(merged)
    except OmegaConfBaseException as error:
        cls = OmegaConf.get_type(structured)
        assert cls is not None  # structured configs have a class
        raise explained(error, cls, values) from None
    check(settings)
    return settings


def _structured(base: Any) -> DictConfig:
    """Return OmegaConf's form of a settings class or instance; do not change it."""
    return _structured_class(base) if isinstance(base, type) else OmegaConf.structured(base)


@functools.lru_cache
def _structured_class(cls: type) -> DictConfig:
    return OmegaConf.structured(cls)  # for the settings of a run, two thirds of `from_plain`


def _check_sections(known: Any, values: dict[str, Any], prefix: str = "") -> None:
    """Check that what ``values`` has for a section of ``known`` is a section, too."""
    for name, value in values.items():
        key, section = f"{prefix}{name}", known.get(name)
        if isinstance(section, dict) and isinstance(value, dict):
            _check_sections(section, value, f"{key}.")
        elif isinstance(section, dict):
            message = f"{key}={value_text(value)} is not allowed: {key} is a section of settings."
            allowed = [f"{key}.{inner}" for inner in section]
            raise ConfigError(message, key=key, value=value, allowed=allowed)


def _literal(value: Any) -> Any:
    """Return plain data in which OmegaConf finds no references: its text is meant as it is."""
    if isinstance(value, dict):
        return {key: _literal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_literal(item) for item in value]
    return value.replace("${", "\\${") if isinstance(value, str) else value


def from_stored(cls: type, values: dict[str, Any], path: str | Path) -> Any:
    """Return `from_plain` of the settings in the file ``path``; a ConfigError names the file."""
    try:
        return from_plain(cls, values)
    except ConfigError as error:
        text = f"the settings in {path} do not fit this version: {error}"
        raise ConfigError(text, key=error.key, value=error.value, allowed=error.allowed) from None


def check(settings: Any) -> None:
    """Check every value of a settings dataclass against its range or choices.

    Raises:
        ConfigError: for the first value that is not allowed.
    """
    for key, field, value in _walk(settings):
        if value is not None and not _is_within(value, field.metadata):
            raise ConfigError.of(key, value, allowed_text(field))


def explained(error: OmegaConfBaseException, cls: type, values: dict[str, Any]) -> ConfigError:
    """Return the ConfigError for an error of OmegaConf's: the key, the value, and what it takes.

    Args:
        values: the nested plain data that OmegaConf refused.
    """
    key = str(error.full_key or error.key or "?").partition("[")[0]  # the list, not its item
    known = {row.key: row for row in rows(cls())}
    value: Any = values
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if key not in known:
        message = f"there is no setting '{key}'.{nearest_key_hint(key, list(known))}"
        return ConfigError(message, key=key, value=value, allowed=list(known))
    if isinstance(error, InterpolationResolutionError):
        text = str(error).splitlines()[0]
        cause = text.rpartition("resolving interpolation: ")[2].strip('"')
        named = re.search("Interpolation key '([^']*)' not found", cause)
        hint = nearest_key_hint(named[1], list(known)) if named else ""
        return ConfigError(f"{key}: {cause}.{hint}", key=key, value=value)
    wanted = _TYPE_TEXT[types_of(cls)[key]]
    limits = known[key].allowed
    return ConfigError.of(key, value, f"{wanted}, {limits}" if limits else wanted)


def _is_within(value: Any, metadata: Mapping[str, Any]) -> bool:
    choices, low, high = (metadata.get(key) for key in ("choices", "low", "high"))
    if choices is not None:
        return value in choices
    numbers = value if isinstance(value, (list, tuple)) else [value]
    return all(
        (low is None or number >= low) and (high is None or number <= high) for number in numbers
    )
