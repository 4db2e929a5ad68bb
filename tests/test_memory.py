"""Freed memory stays with the process, which its page faults tell."""

import platform
import subprocess
import sys

import pytest

COUNT_FAULTS = """
import resource
import numpy as np
from alphazero.runtime.memory import keep_freed_memory

keep_freed_memory()
faults = []
for _ in range(4):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.empty(16 << 20, np.uint8) for _ in range(6)]
    for array in arrays:
        array[::4096] = 1
    del arrays, array
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(*faults)
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="there is nothing to set without glibc"
)
def test_memory_that_was_freed_is_used_again_without_page_faults():
    output = subprocess.run(
        [sys.executable, "-c", COUNT_FAULTS], capture_output=True, text=True, check=True
    ).stdout
    faults = [int(number) for number in output.split()]
    assert len(faults) == 4
    assert max(faults[1:]) < 100  # of 24,576 pages


def test_without_glibc_nothing_happens(monkeypatch):
    from alphazero.runtime import memory

    monkeypatch.setattr(memory.sys, "platform", "darwin")
    monkeypatch.setattr(memory.ctypes, "CDLL", None)
    memory.keep_freed_memory()
    monkeypatch.setattr(memory.sys, "platform", "linux")
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    memory.keep_freed_memory()
