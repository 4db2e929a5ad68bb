"""Measurements of this machine, kept in the user's cache folder, so that each is made only once.

In: a dataclass of plain data, and what it depends on. Out: the same dataclass in a later process. A
file that is damaged, edited or of another version counts as missing, so the caller measures again.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from alphazero.runtime.files import read_text, with_checksum
from alphazero.runtime.jit import cache_directory, make_private
from alphazero.runtime.versions import version_of

if TYPE_CHECKING:  # takes seconds to import
    import torch

Measurement = TypeVar("Measurement")
_LIBRARIES = ("torch", "openvino", "numba", "alphazero-selfplay")


def measurement_path(
    kind: str, device: "torch.device", num_threads: int, depends_on: list[Any]
) -> Path:
    """Return the path of a measurement's file.

    Its name ends in a digest of everything that the speeds depend on.

    Args:
        kind: prefix of the file's name.
        depends_on: plain data that enters the digest, besides the processor or GPU, the number of
            threads and the versions of the libraries.
    """
    from alphazero.inference.network_evaluator import num_streams

    versions = [version_of(name) for name in _LIBRARIES]
    parts = [_processor(device), num_streams(device, num_threads), versions, *depends_on]
    digest = hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]
    return cache_directory().parent / f"{kind}-{digest}.json"


def read_measurement(path: Path, kind: Callable[..., Measurement]) -> Measurement | None:
    """Return the stored measurement, None if it is missing, damaged or of another version.

    Args:
        kind: its dataclass.
    """
    try:
        return kind(**json.loads(read_text(path).partition("\n")[2]))
    except (ValueError, TypeError):  # TypeError: other fields
        return None


def write_measurement(path: Path, measured: Any) -> None:
    """Store a measurement, a dataclass of plain data.

    If the folder cannot be written, nothing is stored and the next process measures again.
    """
    text = json.dumps(dataclasses.asdict(measured), indent=1) + "\n"
    with contextlib.suppress(OSError):
        make_private(path.parent)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(with_checksum(text))
        temporary.replace(path)


def _processor(device: "torch.device") -> str:
    """Return the name of the GPU, or of the processor."""
    if device.type == "cuda":
        import torch

        return torch.cuda.get_device_name(device)
    name = platform.processor()
    with contextlib.suppress(OSError):  # there is no such file outside Linux
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        name += models[0] if models else ""
    return name
