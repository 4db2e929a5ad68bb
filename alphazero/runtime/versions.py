"""Look up the versions of installed packages."""

import importlib.metadata


def version_of(package: str) -> str:
    """Return the version of an installed package, or "not installed" if it is missing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
