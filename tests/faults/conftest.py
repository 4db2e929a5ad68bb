"""How much the tests of this folder try: a little in `make test`, everything in `make test-faults`."""

import os

import pytest

IS_FULL = os.environ.get("ALPHAZERO_FAULTS") == "full"


@pytest.fixture
def amount():
    """Return a function of two numbers: how much to try in `make test`, and in `make test-faults`."""
    return lambda few, many: many if IS_FULL else few


def pytest_collection_modifyitems(items):
    """Leave out what is marked as `faults`, unless everything is tried."""
    skip = pytest.mark.skip(reason="takes minutes; run with 'make test-faults'")
    for item in items:
        if not IS_FULL and item.get_closest_marker("faults"):
            item.add_marker(skip)
