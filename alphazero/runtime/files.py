"""Write files atomically, and read safetensors files with clear errors.

Nothing is ever unpickled.
"""

import os
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from alphazero.runtime.errors import StoredFileError


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` so that ``path`` holds either its old contents or all of the new ones.

    The data goes to a temporary file beside it, which is synced and then renamed, as in KataGo.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp{os.getpid()}")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


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
    except FileNotFoundError:
        raise StoredFileError(f"there is no file '{path}'.", path=path) from None
    except (safetensors.SafetensorError, OSError) as error:
        raise StoredFileError(
            f"'{path}' cannot be read as a safetensors file ({error}).", path=path
        ) from None
