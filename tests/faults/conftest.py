"""How much the tests of this folder try: some in `make test`, all in `make test-faults`."""

import os
import shutil
import subprocess

import pytest

IS_FULL = os.environ.get("ALPHAZERO_FAULTS") == "full"


@pytest.fixture
def amount():
    """Return a function of what `make test` tries and what `make test-faults` tries."""
    return lambda few, many: many if IS_FULL else few


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder on a disk of one megabyte, where the user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("only root may mount a disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def pytest_collection_modifyitems(items):
    """Leave out what is marked as `faults`, unless everything is tried."""
    skip = pytest.mark.skip(reason="takes minutes; run with 'make test-faults'")
    for item in items:
        if not IS_FULL and item.get_closest_marker("faults"):
            item.add_marker(skip)
