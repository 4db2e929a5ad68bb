"""Write requested output files so that none is left half-written and no work is lost.

In: the finished contents. Out: a file, pipe or device at the path given by a setting such as
``json`` or ``output``. `alphazero.storage` writes the files of runs.
"""

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from alphazero.runtime.files import write_atomically

#: Errors raised if a folder accepts no temporary file, although the output itself may be writable.
_FIXED_FOLDER = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.ENAMETOOLONG)


def write_output(path: str | Path, data: bytes) -> None:
    """Write a complete output file; if that fails, keep the data in a temporary file.

    Raises:
        OSError: if the file cannot be written. It names the file and, if there was room for one,
            the temporary file; without room, nothing is written.
    """
    try:
        _write(Path(path), data)
    except OSError as error:
        reason = error.strerror or str(error)
        with contextlib.suppress(OSError):
            reason += f"; it is kept in {_kept(Path(path).suffix, data)}"
        raise OSError(error.errno, reason, str(path)) from None


def _write(path: Path, data: bytes) -> None:
    if path.is_file() or not path.exists():
        try:
            write_atomically(Path(os.path.realpath(path)), data)  # a symbolic link stays one
            return
        except OSError as error:
            if error.errno not in _FIXED_FOLDER:
                raise
    with open(path, "wb") as file:
        file.write(data)


def _kept(suffix: str, data: bytes) -> str:
    """Write data to a new temporary file; return its path."""
    handle, path = tempfile.mkstemp(suffix, "alphazero-")
    try:
        with open(handle, "wb") as file:
            file.write(data)
    except OSError:
        os.unlink(path)
        raise
    return path
