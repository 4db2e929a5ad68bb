"""Files that are never half written, and safetensors files read without surprises."""

import os
from pathlib import Path

import safetensors
import safetensors.numpy


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` so that ``path`` holds either what it held before or all of it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp{os.getpid()}")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_safetensors(path, with_arrays: bool = True):
    try:
        with safetensors.safe_open(str(path), framework="numpy") as file:
            return file.metadata() or {}, {
                name: file.get_tensor(name) for name in file.keys()
            } if with_arrays else {}
    except FileNotFoundError:
        raise ValueError(f"there is no file '{path}'.") from None
    except (safetensors.SafetensorError, OSError) as error:
        raise ValueError(f"'{path}' cannot be read as a safetensors file ({error}).") from None
