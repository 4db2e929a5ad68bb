"""Freed memory stays with the process: reusing it causes no page faults."""

import platform
import subprocess
import sys

import pytest

from alphazero.runtime import process

COUNT_FAULTS = """
import resource
import numpy as np
from alphazero.runtime.process import keep_freed_memory

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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these settings")
def test_freed_memory_is_reused_without_page_faults():
    command = [sys.executable, "-c", COUNT_FAULTS]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    faults = [int(number) for number in output.split()]
    assert len(faults) == 4
    assert max(faults[1:]) < 100  # of 24,576 pages


def test_without_glibc_nothing_happens(monkeypatch):
    monkeypatch.setattr(process.sys, "platform", "darwin")
    monkeypatch.setattr(process.ctypes, "CDLL", None)
    process.return_freed_memory()
    monkeypatch.setattr(process.sys, "platform", "linux")
    monkeypatch.setattr(process.ctypes, "CDLL", lambda name: object())
    process.keep_freed_memory()
