"""Write files atomically and with a checksum; read them with clear errors.

In: a path. Out: the file's contents, or a `StoredFileError` that explains in plain words what is
wrong with the file, which a parser's message would not.

Stored safetensors files and texts contain a SHA-256 of their contents, which is verified before
anything in them is used. It detects damage and swapped files, but not forgery: anyone who can write
a file can write its checksum. Nothing in these files is ever unpickled.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from alphazero.runtime.errors import ConfigError, StoredFileError

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  #: a pipe without a reader must not block a check
#: The only metadata key in a safetensors file: the library writes several keys in any order.
_METADATA = "alphazero"
_DIGEST = "sha256"  #: key of the checksum within the metadata
_MAX_DEPTH = 50  #: of nested lists and objects, which are traversed by recursion
_DIGEST_LINE = "# sha256: "  #: begins the first line of a text with a checksum


def split_paths(text: str, separator: str = ",") -> list[str]:
    """Split a text at its commas, but not within a path that exists, such as ``runs/a,seed=1``.

    Args:
        separator: pattern of the commas at which to split.
    """
    parts = re.split(separator, text)
    found = []
    while parts:
        ends = range(len(parts), 1, -1)
        end = next((end for end in ends if os.path.exists(",".join(parts[:end]))), 1)
        found.append(",".join(parts[:end]))
        parts = parts[end:]
    return found


def write_atomically(path: Path, data: bytes, previous: Path | None = None) -> None:
    """Write ``data`` so that ``path`` holds either its old contents or all of the new ones.

    The data goes to a temporary file beside it, which is synced and renamed, as in KataGo; then the
    folder is synced, because a power cut could otherwise undo the renaming.

    Args:
        previous: the file that keeps the old contents; None drops them. A power cut between the two
            renamings leaves the old contents there, and ``path`` missing.

    Raises:
        OSError: with ``path`` as its file name. If only the folder could not be synced, the new
            contents are in place.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.tmp{os.getpid()}")
    try:
        make_folder(path.parent)
        temporary.unlink(missing_ok=True)
        with open(temporary, "xb") as file:  # "x" follows no link that others put there
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if previous is not None and path.exists():
            os.replace(path, previous)
        os.replace(temporary, path)
        sync_folder(path.parent)
    except BaseException as error:  # a full disk, Ctrl-C
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def append_line(path: Path, text: str) -> None:
    """Add a line to a text file and wait until it is on the disk.

    Raises:
        OSError: with ``path`` as its file name.
    """
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def make_folder(folder: Path, exist_ok: bool = True) -> None:
    """Create a folder and its parents, and wait until their names are on the disk."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=exist_ok)
    for path in new:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the system supports that.

    Raises:
        OSError: if the disk is full or broken.
    """
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows cannot open folders
        return
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT):  # others: unsupported
            raise OSError(error.errno, error.strerror, str(folder)) from None
    finally:
        os.close(opened)


def remove_unfinished(folder: Path) -> None:
    """Remove temporary files that a killed `write_atomically` left in a folder and below it."""
    for path in folder.rglob(".*.tmp*"):
        if path.name.rpartition(".tmp")[2].isdigit():
            with contextlib.suppress(OSError):
                path.unlink()


def check_output(path: str | Path, key: str) -> None:
    """Check that the file ``path``, named by the setting ``key``, can be written.

    Commands call this before they start, so that no work is lost. An existing file is unchanged.

    Raises:
        ConfigError: if the file cannot be written.
    """
    existed = os.path.lexists(path)
    try:
        # Only opening is a reliable check: root may write everywhere, but not in /proc.
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


def write_safetensors(
    path: Path,
    arrays: dict[str, np.ndarray],
    metadata: dict[str, str],
    previous: Path | None = None,
) -> str:
    """Write a safetensors file atomically, see `write_atomically`; return its checksum."""
    digest = _digest_of(arrays, metadata)
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    text = json.dumps(metadata | {_DIGEST: digest})
    data = safetensors.numpy.save(contiguous, {_METADATA: text})
    write_atomically(path, data, previous)
    return digest


def read_safetensors(
    path: str | Path, digest: str | None = None
) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Return the metadata and the arrays of a safetensors file.

    Args:
        digest: the file's checksum, if known; another intact file is then refused.

    Raises:
        StoredFileError: if the file is missing, damaged, or not the one wanted.
    """
    data = read_bytes(path)
    reason = "it is damaged, or not a safetensors file of this program"
    if not data:
        reason = "it is empty"
    try:
        arrays = safetensors.numpy.load(data)
        length = int.from_bytes(data[:8], "little")
        metadata = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][_METADATA])
        stored = metadata.pop(_DIGEST)
        is_intact = stored == _digest_of(arrays, metadata)
    except Exception:  # the library raises many types, none of them public
        raise StoredFileError(f"'{path}' cannot be read: {reason}.", path=path) from None
    if not is_intact:
        reason = "its checksum is wrong, so it is damaged"
    elif digest in (None, stored):
        return metadata, arrays
    else:
        reason = "it is not the file that was stored there"
    raise StoredFileError(f"'{path}' cannot be read: {reason}.", path=path)


def _digest_of(arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> str:
    """Return a digest of all texts, and of the names, types, shapes and bytes of the arrays."""
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def read_bytes(path: str | Path) -> bytes:
    """Return the contents of a file, without waiting for a pipe.

    Raises:
        StoredFileError: if the file is missing or not a plain file.
    """
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise StoredFileError(f"'{path}' cannot be read: it is not a file.", path=path)
            return file.read()
    except FileNotFoundError:
        raise StoredFileError(f"there is no file '{path}'.", path=path) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or "it is not a path"
        if isinstance(error, IsADirectoryError) or os.path.isdir(path):
            reason = "it is a folder"
        raise StoredFileError(f"'{path}' cannot be read: {reason}.", path=path) from None


def with_checksum(text: str) -> str:
    """Return a text in whose format "#" begins a comment, with its checksum as the first line."""
    return f"{_DIGEST_LINE}{hashlib.sha256(text.encode()).hexdigest()}\n{text}"


def read_text(path: str | Path) -> str:
    """Return the contents of a text file; verify its checksum if it has one.

    Raises:
        StoredFileError: if the file is missing, not text, or does not match its checksum.
    """
    try:
        text = read_bytes(path).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        message = f"'{path}' cannot be read: it is not a text file."
        raise StoredFileError(message, path=path) from None
    if text.startswith(_DIGEST_LINE) and text != with_checksum(text.partition("\n")[2]):
        message = f"'{path}' is damaged, or was edited: its checksum is wrong. Its first line is "
        message += "the checksum; without that line it is read as it is."
        raise StoredFileError(message, path=path)
    return text


def parse_object(text: str | None, path: str | Path, name: str) -> dict[str, Any]:
    """Return a JSON object that is stored as text.

    Args:
        text: None if it is missing.
        path: the file that holds it, for errors.
        name: what the object is, for errors, such as "its settings".

    Raises:
        StoredFileError: if it is missing, or not a JSON object.
    """
    try:
        value = json.loads(text or "")
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and not _is_deep(value, _MAX_DEPTH):
        return value
    reason = "are missing" if text is None else "are not a JSON object"
    raise StoredFileError(f"'{path}' is damaged: {name} {reason}.", path=path)


def _is_deep(value: Any, limit: int) -> bool:
    """Return whether lists and objects are nested more deeply than a limit."""
    if not isinstance(value, (list, dict)) or not value:
        return False
    parts = value.values() if isinstance(value, dict) else value
    return limit == 0 or any(_is_deep(part, limit - 1) for part in parts)
