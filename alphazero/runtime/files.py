"""Write files atomically and with a checksum, and read them with clear errors.

Reading functions raise a `StoredFileError`, which explains the problem in plain words instead of
passing on a parser's message.

Stored safetensors files and texts contain a SHA-256 of their contents, which is verified before
anything in them is used. It detects damage and swapped files, but not forgery: anyone who can write
a file can write its checksum. Nothing in these files is ever unpickled.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from alphazero.runtime.errors import ConfigError, StoredFileError

_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  #: flag: do not wait when opening a pipe
#: The only metadata key: the safetensors library writes several keys in varying order.
_METADATA = "alphazero"
_DIGEST = "sha256"  #: key of the checksum within the metadata
_DIGEST_LINE = "# sha256: "  #: start of the first line of a text file with a checksum


def write_atomically(path: Path, data: bytes, previous: Path | None = None) -> None:
    """Write a file so that, at any time, it holds either its old contents or all of the new ones.

    The data goes to a temporary file in the same folder, which is synced and renamed, as in KataGo;
    then the folder is synced, because a power cut could otherwise undo the renaming.

    Args:
        path: the file to write.
        data: its new contents.
        previous: the path to which an existing file is moved first; if None, it is overwritten. A
            power cut between the two renamings leaves the old contents at ``previous``, and no file
            at ``path``.

    Raises:
        OSError: if the file cannot be written; ``path`` is its file name.
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
    """Append a line to a text file, and wait until it is on the disk.

    Args:
        path: the file, which is created if it is missing.
        text: the line, without its newline.

    Raises:
        OSError: if the file cannot be written; ``path`` is its file name.
    """
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def make_folder(folder: Path, exist_ok: bool = True) -> None:
    """Create a folder and its missing parents, and wait until they are on the disk.

    Args:
        folder: the folder to create.
        exist_ok: whether the folder may exist already.

    Raises:
        FileExistsError: if the folder exists and ``exist_ok`` is False.
        OSError: if the folder cannot be created.
    """
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=exist_ok)
    for path in new:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names of a folder's files are on the disk; do nothing where unsupported."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def remove_unfinished(folder: Path) -> None:
    """Remove the temporary files that a killed process left in a folder and its subfolders."""
    for path in folder.rglob(".*.tmp*"):
        if path.name.rpartition(".tmp")[2].isdigit():
            with contextlib.suppress(OSError):
                path.unlink()


def check_output(path: str | Path, key: str) -> None:
    """Check that an output file can be written, without changing an existing file.

    Commands call this before they start work, so that no result is lost at the end.

    Args:
        path: the file to be written later.
        key: the setting that gave the path, for errors.

    Raises:
        ConfigError: if the file cannot be written.
    """
    existed = os.path.lexists(path)
    try:
        # Only opening is a reliable check: root may write everywhere, but not in /proc.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NONBLOCK
        os.close(os.open(path, flags, 0o666))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or "it is not a path"
        if not existed and not Path(path).parent.is_dir():
            reason = f"there is no folder {Path(path).parent}"
        raise unwritable(path, key, reason) from None
    if not existed:
        os.unlink(path)


def unwritable(path: str | Path, key: str, reason: str) -> ConfigError:
    """Make the error for an output file that cannot be written.

    Args:
        path: the file, named in the message.
        key: the setting that gave the path, such as "output".
        reason: why the file cannot be written: a clause without a full stop.
    """
    return ConfigError(f"{key}={path} cannot be written: {reason}.", key=key, value=str(path))


def write_output(path: str | Path, data: bytes) -> None:
    """Write a command's output file; if that fails, save the data in a temporary file.

    Args:
        path: the file to write, which may also be a pipe or a device.
        data: its contents.

    Raises:
        OSError: if ``path`` cannot be written; the message names the temporary file, unless that
            could not be written either.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
            Path(path).write_bytes(data)
        else:
            write_atomically(Path(os.path.realpath(path)), data)  # keeps a symbolic link
    except OSError as error:
        reason = error.strerror or str(error)
        with contextlib.suppress(OSError):
            handle, kept = tempfile.mkstemp(Path(path).suffix, "alphazero-")
            with open(handle, "wb") as file:
                file.write(data)
            reason += f"; it is kept in {kept}"
        raise OSError(error.errno, reason, str(path)) from None


def write_safetensors(
    path: Path,
    arrays: dict[str, np.ndarray],
    metadata: dict[str, str],
    previous: Path | None = None,
) -> str:
    """Write arrays and metadata to a safetensors file atomically.

    Args:
        path: the file to write.
        arrays: {name: array}.
        metadata: {key: text} to store with the arrays.
        previous: the path to which an existing file is moved first; if None, it is overwritten.

    Returns:
        The SHA-256 hex digest of the arrays and metadata, which is stored in the file too.

    Raises:
        OSError: if the file cannot be written.
    """
    digest = _digest_of(arrays, metadata)
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    text = json.dumps(metadata | {_DIGEST: digest})
    data = safetensors.numpy.save(contiguous, {_METADATA: text})
    write_atomically(path, data, previous)
    return digest


def read_safetensors(
    path: str | Path, digest: str | None = None
) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Read a safetensors file that `write_safetensors` stored, and verify its checksum.

    Args:
        path: the file to read.
        digest: the checksum that `write_safetensors` returned; if None, any undamaged file is
            accepted.

    Returns:
        The metadata as {key: text}, and the arrays as {name: array}.

    Raises:
        StoredFileError: if the file is missing or damaged, or has another checksum than ``digest``.
    """
    data = read_bytes(path)
    reason = ""
    try:
        arrays = safetensors.numpy.load(data)
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        metadata = json.loads(header["__metadata__"][_METADATA])
        stored = metadata.pop(_DIGEST)
        if stored != _digest_of(arrays, metadata):
            reason = "its checksum is wrong, so it is damaged"
        elif digest not in (None, stored):
            reason = "it is not the file that was stored there"
    except Exception:  # the library raises many types, none of them public
        reason = "it is damaged, or not a safetensors file of this program"
    if reason:
        raise StoredFileError(f"'{path}' cannot be read: {reason}.", path=path)
    return metadata, arrays


def _digest_of(arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> str:
    """Compute the SHA-256 hex digest of the metadata and the arrays' names, types and contents."""
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def read_bytes(path: str | Path) -> bytes:
    """Read a whole file as bytes.

    Raises:
        StoredFileError: if the file does not exist, cannot be read, or is a folder or a pipe.
    """
    path = Path(path)
    try:
        if path.is_file():
            return path.read_bytes()
        reason = "it is a folder" if path.is_dir() else "it is not a file"
    except OSError as error:
        reason = str(error.strerror)
    if not os.path.exists(path):
        raise StoredFileError(f"there is no file '{path}'.", path=path)
    raise StoredFileError(f"'{path}' cannot be read: {reason}.", path=path)


def with_checksum(text: str) -> str:
    """Return a text with its SHA-256 hex digest in front, on a line of its own: "# sha256: ..."."""
    return f"{_DIGEST_LINE}{hashlib.sha256(text.encode()).hexdigest()}\n{text}"


def read_text(path: str | Path) -> str:
    """Read a text file and, if its first line is a checksum, verify it.

    Returns:
        The text, including the line with the checksum.

    Raises:
        StoredFileError: if the file is missing, is not text, or does not match its checksum.
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
    """Parse the text of a JSON object that was read from a file.

    Args:
        text: the JSON text; None if the file lacks it, which is an error.
        path: the file, named in errors.
        name: what the object is, for errors, such as "its settings".

    Raises:
        StoredFileError: if the text is missing or is not a JSON object.
    """
    try:
        value = json.loads(text or "")
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    reason = "are missing" if text is None else "are not a JSON object"
    raise StoredFileError(f"'{path}' is damaged: {name} {reason}.", path=path)
