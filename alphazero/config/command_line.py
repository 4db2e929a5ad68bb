"""Read a command's settings from its ``key=value`` arguments.

The type of a setting decides how its value is read: text is taken literally, a list is parsed as
YAML (``[3,3]``); ``null`` means no value. Hydra's grammar is not used for values, because it gives
commas and equals signs a meaning: ``second=uct:500,uct_c=0.7`` would need two pairs of quotes, as
would 12 of the 212 values in the documentation. `alphazero.config.hydra` uses Hydra only to merge
config files.
"""

import contextlib
from collections.abc import Iterable
from typing import Any

import yaml

from alphazero.config.hints import nearest_key_hint
from alphazero.config.settings import from_plain, rows, types_of
from alphazero.runtime.errors import ConfigError

_MAX_LISTED = 40
#: Exceptions that yaml raises for invalid YAML, deep nesting and impossible dates.
_UNREADABLE = (yaml.YAMLError, RecursionError, ValueError)


def from_overrides(cls: type, overrides: list[str], command: str) -> Any:
    """Make the settings of a command from its ``key=value`` arguments, and check the values.

    Args:
        cls: the settings class, which holds the defaults.
        overrides: the ``key=value`` arguments.
        command: the command to name in error messages, such as "alphazero match".

    Returns:
        An instance of ``cls``.

    Raises:
        ConfigError: for an argument without "=" or without a value, an unknown key, a value of the
            wrong type, or a value that is out of range or not among the choices.
    """
    values = parse_overrides(cls, overrides, command)
    for row in rows(cls()):
        # Usually an empty shell variable; ignoring it would not run what the user meant.
        if values.get(row.key) == "" and row.value != "":
            message = f"{row.key}= has no value: give one, or leave {row.key}= out."
            raise ConfigError(message, key=row.key, value="", allowed=row.allowed)
    return from_plain(cls, values)


def parse_overrides(cls: type, overrides: Iterable[str], command: str) -> dict[str, Any]:
    """Convert ``key=value`` arguments to nested dictionaries; see `parse_values`."""
    return parse_values(cls, map(split_override, overrides), command)


def parse_values(
    cls: type, texts: Iterable[tuple[str, str]], command: str, others: Iterable[str] = ()
) -> dict[str, Any]:
    """Convert keys and texts to nested dictionaries; check the keys but not the values.

    Args:
        cls: the settings class, which defines the allowed keys.
        texts: pairs of a key and the text of its value.
        command: the command to name in error messages, such as "alphazero match".
        others: further keys of the command, to suggest in place of an unknown one.

    Returns:
        The values, nested by section: ``("learner.batch_size", "512")`` becomes
        ``{"learner": {"batch_size": "512"}}``.

    Raises:
        ConfigError: for an unknown key.
    """
    kinds = types_of(cls)
    values: dict[str, Any] = {}
    for key, text in texts:
        check_key(key, text, [*kinds, *others], command)
        *sections, name = key.split(".")
        section_values = values
        for section in sections:
            section_values = section_values.setdefault(section, {})
        section_values[name] = _read_value(text, kinds[key])
    return values


def split_override(override: str) -> tuple[str, str]:
    """Split a ``key=value`` argument into its key and the text of its value.

    Raises:
        ConfigError: if the argument has no "=", or nothing before it.
    """
    key, equals, text = override.partition("=")
    if not equals or not key:
        hint = ""
        if override.startswith("--"):
            hint = f" Settings are written {override.lstrip('-')}=VALUE."
        raise ConfigError(f"'{override}' is not of the form key=value.{hint}", key=override)
    return key, text


def check_key(key: str, text: str, known: list[str], command: str) -> None:
    """Check that the key of a ``key=value`` argument exists.

    Args:
        key: the text before the "=".
        text: the text after the "=", stored in the error.
        known: all allowed keys.
        command: the command to name in error messages, such as "alphazero match".

    Raises:
        ConfigError: if the key is unknown; the message suggests the most similar key.
    """
    if key not in known:
        listed = ", ".join(known) if len(known) <= _MAX_LISTED else f"in '{command} --help'"
        hint = nearest_key_hint(key, known) or f" Its settings are {listed}."
        message = f"'{command}' has no setting '{key}'.{hint}"
        raise ConfigError(message, key=key, value=text, allowed=known)


def split_values(text: str) -> list[str]:
    """Split a text at its commas, except those inside brackets or quotes."""
    values = [""]
    depth = 0
    quote = ""
    for character in text:
        if quote:
            if character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in "[{(":
            depth += 1
        elif character in "]})":
            depth -= 1
        if character == "," and not depth and not quote:
            values.append("")
        else:
            values[-1] += character
    return values


def _read_value(text: str, kind: type) -> Any:
    """Parse the text of a value as YAML if the setting's type ``kind`` is a list or a dictionary.

    Any other value stays text, such as a number, which is converted when it is checked, and so does
    invalid YAML. ``null`` becomes None, and quotes around a text are removed.
    """
    if text == "null":
        return None
    if kind is list or (kind is str and text[:1] in ("'", '"')):
        with contextlib.suppress(*_UNREADABLE):
            # The base loader keeps all scalars as text: 'on' is no boolean and '010' no octal.
            return yaml.load(text, Loader=yaml.BaseLoader)
    if kind is dict:
        with contextlib.suppress(*_UNREADABLE):
            return yaml.safe_load(text)
    return text
