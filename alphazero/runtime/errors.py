"""Errors caused by a person's input.

Each message is one plain sentence. Each error also has the key, value or path as attributes, so
that callers and tests need not parse the sentence.

The command line prints the message and exits with status 2; any other exception is a bug.
"""

from pathlib import Path
from typing import Any


class InputError(ValueError):
    """Bad input: the message says what is wrong, gives the value, and says what is allowed."""


class ConfigError(InputError):
    """A setting that is refused.

    Attributes:
        key: the setting's name, such as "learner.batch_size"; None if the error does not concern a
            single setting.
        value: the refused value, as far as it is known.
        allowed: the values that the setting takes: text such as "0 or more", or a list of choices.
    """

    def __init__(
        self, message: str, *, key: str | None = None, value: Any = None, allowed: Any = None
    ):
        super().__init__(message)
        self.key = key
        self.value = value
        self.allowed = allowed


class StoredFileError(InputError):
    """A stored file that is missing, damaged, or of another kind.

    Attributes:
        path: the file.
    """

    def __init__(self, message: str, *, path: str | Path):
        super().__init__(message)
        self.path = Path(path)
