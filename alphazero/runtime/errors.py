"""Errors that are caused by the user's input, not by a bug.

Each message is a plain sentence. The setting, value or path that it mentions is also an attribute
of the error, so callers and tests need not parse the sentence.

The command line prints the message and exits with status 2; any other exception is a bug.
"""

import importlib.util
from pathlib import Path
from typing import Any


class InputError(ValueError):
    """The user's input cannot be used: the base class of errors that are not bugs.

    The message gives the value, what is wrong with it, and what is allowed.
    """


class ConfigError(InputError):
    """A setting has a value that cannot be used.

    `ConfigError.of` composes the usual message; the constructor takes any other message, for
    example about a missing file.

    Attributes:
        key: the setting's name, such as "learner.batch_size"; None if the error does not concern a
            single setting.
        value: the refused value, if known.
        allowed: the values that the setting accepts, if known: text such as "0 or more", or a list
            of choices.
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
        """Make an error with the usual message about a value that is not allowed.

        The message is "KEY=VALUE is not allowed: REASON. Allowed: ALLOWED." or, without a reason,
        "KEY=VALUE is not allowed: KEY takes ALLOWED."

        Args:
            key: the setting's name.
            value: the refused value.
            allowed: the values that the setting accepts, as text or as a list of choices; if None,
                the message does not list them.
            reason: why the value is refused: a clause without a full stop.
        """
        if allowed is not None:
            text = _allowed_text(allowed)
            reason = f"{reason}. Allowed: {text}" if reason else f"{key} takes {text}"
        message = f"{key}={value_text(value)} is not allowed: {reason}."
        return cls(message, key=key, value=value, allowed=allowed)


class MissingPackage(ConfigError, ImportError):
    """A setting requires an optional package that is not installed."""


def require(extra: str, *packages: str) -> None:
    """Raise `MissingPackage` unless the packages that an extra of this project installs are there.

    Args:
        extra: the extra's name in pyproject.toml.
        packages: the packages' names in `import`.
    """
    for name in packages:
        if importlib.util.find_spec(name) is None:
            install = f'pip install "alphazero-selfplay[{extra}]"'
            raise MissingPackage(f"{name} is not installed: {install} installs it.", value=name)


class StoredFileError(InputError):
    """A stored file is missing, damaged, or not of the expected kind.

    Attributes:
        path: the path of the file.
    """

    def __init__(self, message: str, *, path: str | Path):
        super().__init__(message)
        self.path = Path(path)


def value_text(value: Any) -> str:
    """Format a setting's value as a user would type it in a command, such as "null" for None."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(value_text, value))}]"
    return str(value)


def _allowed_text(allowed: Any) -> str:
    """Format the allowed values of a setting: text unchanged, a list of choices as "1, 2 or 3"."""
    if not isinstance(allowed, (list, tuple)):
        return value_text(allowed)
    *others, last = map(value_text, allowed)
    return f"{', '.join(others)} or {last}" if others else last
