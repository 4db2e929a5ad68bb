"""Parameters of which `make test` tries some, and `make test-slow` the others."""

from collections.abc import Iterable

import pytest


def mostly_slow(names: Iterable[str], every: int = 4) -> list:
    """Return the names; all but the first of every ``every`` are marked as slow."""
    return [
        pytest.param(name, marks=pytest.mark.slow) if place % every else name
        for place, name in enumerate(names)
    ]
