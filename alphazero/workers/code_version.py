"""The version of this program, exact to the last character of its sources."""

import functools
import hashlib
import importlib.metadata
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


@functools.lru_cache
def code_version() -> str:
    """Return the version and a digest of all sources; workers of another one are refused."""
    digest = hashlib.sha256()
    for source in sorted(_PACKAGE.rglob("*.py")):
        digest.update(source.relative_to(_PACKAGE).as_posix().encode())
        digest.update(source.read_bytes().replace(b"\r\n", b"\n"))
    return f"{_release()} ({digest.hexdigest()[:12]})"


def _release() -> str:
    try:
        return importlib.metadata.version("alphazero-selfplay")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
