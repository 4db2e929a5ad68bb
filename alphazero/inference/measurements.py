"""Measurements of this machine, kept in the user's cache folder: what is fastest is found out once.

In: what was measured, as plain data, and what it depends on. Out: the same data in a later process.
What is read may be of another version, damaged, or nobody's measurement: whoever reads it looks for
values that it can use, and measures again if there are none.
"""

import contextlib
import hashlib
import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alphazero.runtime.files import read_text
from alphazero.runtime.jit import cache_directory, make_private

if TYPE_CHECKING:  # seconds to import, and players without a network need this module too
    import torch

#: No number of a measurement is larger, and none is negative.
LARGEST = 1e18
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

    versions = [_version(name) for name in _LIBRARIES]
    parts = [_processor(device), num_streams(device, num_threads), versions, *depends_on]
    digest = hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]
    return cache_directory().parent / f"{kind}-{digest}.json"


def read_measurement(path: Path) -> dict[str, Any] | None:
    """Return the stored measurement, None if it is missing, damaged or has impossible numbers."""
    try:
        values = json.loads(
            read_text(path),
            parse_int=lambda text: _possible(int(text)),
            parse_float=lambda text: _possible(float(text)),
            parse_constant=lambda text: _possible(float(text)),
        )
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def are_speeds(values: Any, lowest: float = 0.0) -> bool:
    """Return whether values of a stored measurement are numbers, and none is below ``lowest``."""
    return all(isinstance(value, (int, float)) and value >= lowest for value in values)


def write_measurement(path: Path, values: dict[str, Any]) -> None:
    """Store a measurement, which is plain data.

    If the folder cannot be written, nothing is stored and the next process measures again.
    """
    with contextlib.suppress(OSError):
        make_private(path.parent)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(values, indent=1) + "\n")
        temporary.replace(path)


def _possible(number: Any) -> Any:
    if not 0 <= number <= LARGEST:  # NaN neither
        raise ValueError(number)
    return number


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


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
