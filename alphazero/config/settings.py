"""Declare typed settings with their help text and range or choices, and check their values.

Settings are dataclasses whose fields are made with `option` and `section`. Each package declares
its own settings with this module, which does not depend on any of these packages.
`alphazero.config.command_line` reads settings from command-line arguments.
"""

import copy
import dataclasses
import re
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from alphazero.config.hints import nearest_key_hint
from alphazero.runtime.errors import ConfigError

_TYPE_TEXT = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    list: "a list such as [1,2]",
    dict: "names and values such as {units: 64}",
}
#: For each type, the types that are converted to it. A float is not converted to an int, nor a
#: bool to a number.
_ACCEPTED = {
    int: (int, str),
    float: (int, float, str),
    bool: (bool, int, str),
    str: (str, int, float, Path),
}
_SWITCHES = {"true": True, "yes": True, "on": True, "1": True}
_SWITCHES |= {"false": False, "no": False, "off": False, "0": False}


def option(
    default: Any,
    help: str,
    low: float | None = None,
    high: float | None = None,
    choices: tuple | None = None,
    even: bool = False,
) -> Any:
    """Declare a setting as a dataclass field.

    Args:
        default: the default value; each instance gets its own copy of a list or dictionary.
        help: a line of text for `--help`.
        low, high: inclusive bounds of a number, or of each number in a list; None means no bound.
        choices: the allowed values; None means any value within the bounds.
        even: whether a number must be even.
    """
    metadata = {"help": help, "low": low, "high": high, "choices": choices, "even": even}
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=default.copy, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def section(cls: type, help: str) -> Any:
    """Declare a section: a group of settings nested inside another settings dataclass.

    Args:
        cls: the dataclass of the section's settings.
        help: a line of text for `--help`.
    """
    return dataclasses.field(default_factory=cls, metadata={"help": help})


# --- reading declarations -------------------------------------------------------------------------


class Row(NamedTuple):
    """A setting with its value, help text and allowed values, for `--help` and tables."""

    key: str  #: the names of the section and the setting, such as "learner.batch_size"
    value: Any
    help: str  #: a line of text for `--help`
    allowed: str  #: the range or the choices as text; "" if any value of its type is allowed


def rows(settings: Any) -> Iterator[Row]:
    """Yield every setting of a settings dataclass, including those in its sections."""
    for key, field, value in _walk(settings):
        yield Row(key, value, field.metadata.get("help", ""), allowed_text(field))


def types_of(cls: type) -> dict[str, type]:
    """Return {key: type} for every setting of a class, with keys such as "learner.batch_size".

    The types are int, float, bool, str, list and dict.
    """
    return {key: _plain_type(field.type) for key, field, _ in _walk(cls())}


def allowed_text(field: dataclasses.Field) -> str:
    """Format a setting's range or choices, such as "1 to 100"; "" if it has neither.

    Args:
        field: the setting's dataclass field, made with `option`.
    """
    low = field.metadata.get("low")
    high = field.metadata.get("high")
    choices = field.metadata.get("choices")
    if choices is not None:
        return "one of " + ", ".join(map(str, choices))
    start = "an even number, " if field.metadata.get("even") else ""
    if low is not None and high is not None:
        return f"{start}{_number_text(low)} to {_number_text(high)}"
    if low is not None:
        return f"{start}{_number_text(low)} or more"
    return "" if high is None else f"{_number_text(high)} or less"


def _walk(settings: Any, prefix: str = "") -> Iterator[tuple[str, dataclasses.Field, Any]]:
    """Yield the dotted key, the dataclass field and the value of every setting.

    Args:
        settings: an instance of a settings dataclass, whose sections are included.
        prefix: text put before each key; only the recursive calls for sections pass it.
    """
    for field in dataclasses.fields(settings):
        key = prefix + field.name
        value = getattr(settings, field.name)
        if dataclasses.is_dataclass(value):
            yield from _walk(value, key + ".")
        else:
            yield key, field, value


def _plain_type(annotation: Any) -> type:
    """Return an annotation's type without None and item types.

    It is int for ``int | None``, and list for ``list[int]``.
    """
    annotation = _without_none(annotation)
    return typing.get_origin(annotation) or annotation


def _without_none(annotation: Any) -> Any:
    """Remove None from an annotation: ``int | None`` becomes int."""
    if isinstance(annotation, types.UnionType):
        for part in typing.get_args(annotation):
            if part is not type(None):
                return part
    return annotation


def _number_text(value: float) -> str:
    """Format a bound of a range as text.

    An integer above 2^53 is written as the next power of two, such as "2^63".
    """
    if isinstance(value, float):
        return f"{value:g}"
    return f"2^{value.bit_length()}" if value > 2**53 else str(value)


# --- checking values ------------------------------------------------------------------------------


def from_plain(base: Any, values: dict[str, Any]) -> Any:
    """Fill settings with values from nested dictionaries, and check them.

    Args:
        base: a settings class, whose defaults are used, or an instance, which is copied.
        values: values by name, nested by section. Text is converted to the setting's type: "5" to 5
            for a number.

    Returns:
        The filled instance.

    Raises:
        ConfigError: for an unknown key, a value of the wrong type, or a value that is out of range
            or not among the choices.
    """
    settings = base() if isinstance(base, type) else copy.deepcopy(base)
    _fill(settings, values, list(types_of(type(settings))))
    check(settings)
    return settings


def from_stored(cls: type, values: dict[str, Any], path: str | Path) -> Any:
    """Fill settings with values read from a file, and check them as `from_plain` does.

    Args:
        cls: the settings class.
        values: values by name, nested by section.
        path: the file from which the values were read, named in error messages.

    Raises:
        ConfigError: if a key or a value does not fit this version of the settings.
    """
    try:
        return from_plain(cls, values)
    except ConfigError as error:
        text = f"the settings in {path} do not fit this version: {error}"
        raise ConfigError(text, key=error.key, value=error.value, allowed=error.allowed) from None


def check(settings: Any) -> None:
    """Check every value of a settings dataclass against its range or choices.

    Raises:
        ConfigError: if a value is not allowed; the error names the first such value.
    """
    for key, field, value in _walk(settings):
        if value is not None and not _is_within(value, field.metadata):
            raise ConfigError.of(key, value, allowed_text(field))


def _fill(settings: Any, values: dict[str, Any], known: list[str], prefix: str = "") -> None:
    """Set the fields of a settings dataclass from nested dictionaries, converting each value.

    Args:
        settings: the settings to change, or a section of them.
        values: the new values by name, nested by section.
        known: the dotted keys of all settings, for hints in error messages.
        prefix: put before each key in errors; used to recurse into sections.

    Raises:
        ConfigError: for an unknown key, or a value of the wrong type.
    """
    fields = {field.name: field for field in dataclasses.fields(settings)}
    for name, value in values.items():
        key = f"{prefix}{name}"
        if name not in fields:
            raise _unknown(key, value, known)
        section = getattr(settings, name)
        if not dataclasses.is_dataclass(section):
            setattr(settings, name, _converted(key, fields[name], value))
        elif isinstance(value, dict):
            _fill(section, value, known, f"{key}.")
        else:
            allowed = [other for other in known if other.startswith(f"{key}.")]
            raise ConfigError.of(key, value, allowed, "it is a section of settings")


def _unknown(key: str, value: Any, known: list[str]) -> ConfigError:
    """Make the error for a key that does not exist, or has a dot where YAML needs two nested keys.

    Args:
        key: the dotted key.
        value: its value.
        known: all keys that exist, one of which the message may suggest.
    """
    section, _, name = key.rpartition(".")
    if key in known:
        message = f"'{key}' is not one key: write '{section}:' and, indented below, '{name}:'."
        return ConfigError(message, key=key, value=value)
    likely = known
    if isinstance(value, dict):
        likely = sorted({other.partition(".")[0] for other in known})
    message = f"there is no setting '{key}'.{nearest_key_hint(key, likely)}"
    return ConfigError(message, key=key, value=value, allowed=known)


def _converted(key: str, field: dataclasses.Field, value: Any) -> Any:
    """Convert a value to the type of its setting.

    Args:
        key: the setting's dotted key, for errors.
        field: the setting's dataclass field, made with `option`.
        value: the value, as text or already of a suitable type.

    Raises:
        ConfigError: if the value cannot be converted.
    """
    try:
        return _as_type(field.type, value)
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError):
        limits = allowed_text(field)
        wanted = _TYPE_TEXT[_plain_type(field.type)]
        allowed = f"{wanted}, {limits}" if limits else wanted
        raise ConfigError.of(key, value, allowed) from None


def _as_type(annotation: Any, value: Any) -> Any:
    """Convert a value to the type of an annotation, such as ``list[int]`` or ``int | None``.

    Raises:
        TypeError, ValueError, KeyError, OverflowError, AttributeError: if it cannot be converted.
    """
    kind = _without_none(annotation)
    if kind is Any or value is None and kind != annotation:
        return value
    if typing.get_origin(kind) is list:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        (item,) = typing.get_args(kind)
        return [_as_type(item, entry) for entry in value]
    if typing.get_origin(kind) is dict:
        return {str(name): entry for name, entry in value.items()}
    is_switch_as_number = isinstance(value, bool) and kind in (int, float)
    if not isinstance(value, _ACCEPTED[kind]) or is_switch_as_number:
        raise TypeError
    if kind is bool:
        return _SWITCHES[str(value).lower()]
    return with_home(str(value)) if kind is str else kind(value)


def with_home(text: str) -> str:
    """Replace each "~" that begins a path by the user's home folder.

    A shell does this only to words that begin with it, not to values such as ``run.root=~/az``. A
    path begins at the start of the text, or after a space or one of ``=,:[``.
    """
    return str(Path.home()).join(re.split(r"(?<![^\s=,:\[])~(?=[/\\]|$)", text))


def _is_within(value: Any, metadata: Mapping[str, Any]) -> bool:
    choices = metadata.get("choices")
    if choices is not None:
        return value in choices
    low = metadata.get("low")
    high = metadata.get("high")
    if metadata.get("even") and value % 2:
        return False
    numbers = value if isinstance(value, list) else [value]
    return all(
        (low is None or number >= low) and (high is None or number <= high) for number in numbers
    )
