"""Errors caused by bad user input.

Each message is one plain sentence. Each error also has the key, value or path as attributes, so
callers and tests need not parse the sentence.

The command line prints the message and exits with status 2; any other exception is a bug.
"""

from pathlib import Path
from typing import Any


class InputError(ValueError):
    """Bad user input; the message names the value, what is wrong with it and what is allowed."""


class ConfigError(InputError):
    """A setting has a value that cannot be used.

    `ConfigError.of` composes the usual message; pass another to report a missing file or give
    advice.

    Attributes:
        key: the setting's name, such as "learner.batch_size"; None if the error does not concern a
            single setting.
        value: the refused value, if known.
        allowed: the values that the setting takes: text such as "0 or more", or a list of choices.
    """

    def __init__(
        self, message: str, *, key: str | None = None, value: Any = None, allowed: Any = None
    ):
        super().__init__(message)
        self.key = key
        self.value = value
        self.allowed = allowed

    @classmethod
    def of(cls, key: str, value: Any, allowed: Any = None, reason: str = "") -> "ConfigError":
        """Make an error with the message "KEY=VALUE is not allowed: REASON. Allowed: ALLOWED".

        Args:
            allowed: the allowed values; None leaves them out of the message.
            reason: a clause without a full stop; without it, the sentence is
                "KEY=VALUE is not allowed: KEY takes ALLOWED."
        """
        if allowed is not None:
            text = _allowed_text(allowed)
            reason = f"{reason}. Allowed: {text}" if reason else f"{key} takes {text}"
        message = f"{key}={value_text(value)} is not allowed: {reason}."
        return cls(message, key=key, value=value, allowed=allowed)


class MissingPackage(ConfigError, ImportError):
    """A setting requires an optional package that is not installed."""


class StoredFileError(InputError):
    """A stored file is missing, damaged, or not of the expected kind.

    Attributes:
        path: the file.
    """

    def __init__(self, message: str, *, path: str | Path):
        super().__init__(message)
        self.path = Path(path)


def value_text(value: Any) -> str:
    """Format the value of a setting as it is typed in a command."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(value_text, value))}]"
    return str(value)


def _allowed_text(allowed: Any) -> str:
    """Format the allowed values of a setting; a list of choices becomes "1, 2 or 3"."""
    if not isinstance(allowed, (list, tuple)):
        return value_text(allowed)
    *others, last = map(value_text, allowed)
    return f"{', '.join(others)} or {last}" if others else last
