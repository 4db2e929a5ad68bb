"""How much the tests of this folder try: some in `make test`, all in `make test-faults`."""

import collections

import pytest
from harness import FIGURES, IS_FULL


@pytest.fixture
def amount():
    """Return a function of what `make test` tries and what `make test-faults` tries."""
    return lambda few, many: many if IS_FULL else few


@pytest.fixture(autouse=True)
def figures(record_property):
    """Keep what a test tells of what it has tried."""
    FIGURES.clear()
    yield
    for what, ends in FIGURES:
        record_property(what, ends)


def pytest_terminal_summary(terminalreporter):
    """Print what all tests have tried, and what became of it."""
    found = collections.defaultdict(collections.Counter)
    for report in terminalreporter.stats.get("", []) if IS_FULL else []:
        for what, ends in report.user_properties if report.when == "teardown" else []:
            found[what].update(ends)
    for what, ends in sorted(found.items()):
        parts = ", ".join(f"{count:,} {end}" for end, count in sorted(ends.items()))
        terminalreporter.write_line(f"{what}: {sum(ends.values()):,} tried: {parts}")


def pytest_collection_modifyitems(items):
    """Leave out what is marked as `faults`, unless everything is tried."""
    skip = pytest.mark.skip(reason="takes minutes; run with 'make test-faults'")
    for item in items:
        if not IS_FULL and item.get_closest_marker("faults"):
            item.add_marker(skip)
