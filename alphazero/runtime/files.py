"""Write files atomically, and read text, JSON and safetensors files with clear errors.

In: a path. Out: the file's contents, or a `StoredFileError` that says in our words what is wrong
with the file; what a parser says about it is no help to anyone. Nothing is ever unpickled.
"""

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from alphazero.runtime.errors import ConfigError, StoredFileError
from alphazero.runtime.json_text import parse_json

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  #: a pipe without a reader must not make a check wait


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` so that ``path`` holds either its old contents or all of the new ones.

    The data goes to a temporary file beside it, which is synced and then renamed, as in KataGo.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:  # a full disk, Ctrl-C
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def check_output(path: str | Path, key: str) -> None:
    """Check that the file ``path``, named by the setting ``key``, can be written.

    Commands call this before their work, so that no work is lost. An existing file stays as it is.

    Raises:
        ConfigError: if it cannot.
    """
    existed = os.path.lexists(path)
    try:
        # Opening it is the only reliable check: root may write everywhere, but not in /proc.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NONBLOCK, 0o666))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or "it is not a path"
        if not existed and not Path(path).parent.is_dir():
            reason = f"there is no folder {Path(path).parent}"
        raise unwritable(path, key, reason) from None
    if not existed:
        os.unlink(path)


def unwritable(path: str | Path, key: str, reason: str) -> ConfigError:
    """Return the error for a file that cannot be written."""
    return ConfigError(f"{key}={path} cannot be written: {reason}.", key=key, value=str(path))


def read_safetensors(
    path: str | Path, with_arrays: bool = True
) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Return the metadata and the arrays of a safetensors file.

    Args:
        with_arrays: False reads the metadata alone.

    Raises:
        StoredFileError: if the file is missing or damaged.
    """
    try:
        with safetensors.safe_open(str(path), framework="numpy") as file:
            names = file.keys() if with_arrays else ()
            return file.metadata() or {}, {name: file.get_tensor(name) for name in names}
    except (safetensors.SafetensorError, OSError, TypeError) as error:
        raise _unreadable(path, error, "it is damaged, or not a safetensors file") from None


def read_text(path: str | Path) -> str:
    """Return the contents of a text file.

    Raises:
        StoredFileError: if the file is missing, or not text.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error, "it is not a text file") from None


def parse_object(text: str | None, path: str | Path, name: str) -> dict[str, Any]:
    """Return a JSON object that is stored as text.

    Args:
        text: None if it is missing.
        path: the file that holds it, for errors.
        name: what it is there, for errors: "its settings".

    Raises:
        StoredFileError: if it is missing, or not a JSON object.
    """
    try:
        value = parse_json(text or "")
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    reason = "are missing" if text is None else "are not a JSON object"
    raise StoredFileError(f"'{path}' is damaged: {name} {reason}.", path=path)


def _unreadable(path: str | Path, error: Exception, otherwise: str) -> StoredFileError:
    """Return the error for a file that cannot be read.

    Args:
        otherwise: what is wrong if the file can be opened.
    """
    if not os.path.lexists(path):
        return StoredFileError(f"there is no file '{path}'.", path=path)
    reason = otherwise
    if Path(path).is_dir():
        reason = "it is a folder"
    elif isinstance(error, OSError) and error.strerror:
        reason = error.strerror
    elif Path(path).stat().st_size == 0:
        reason = "it is empty"
    return StoredFileError(f"'{path}' cannot be read: {reason}.", path=path)
