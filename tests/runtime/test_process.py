"""Freed memory stays with the process, and a closed terminal does not end it."""

import errno
import os
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


def test_without_glibc_nothing_is_set(monkeypatch):
    asked = []
    monkeypatch.setattr(process.ctypes, "CDLL", lambda name: asked.append(name))
    monkeypatch.setattr(process.sys, "platform", "darwin")
    process.return_freed_memory()
    monkeypatch.setattr(process.sys, "platform", "linux")
    process.keep_freed_memory()  # None has no `mallopt`
    assert asked == [None]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="the system has no pseudo-terminals")
def test_output_to_a_closed_terminal_is_discarded():
    code = """
import errno, os, sys
from alphazero.runtime.process import unless_hung_up

terminal, shown = os.openpty()
os.dup2(shown, 1)
os.close(terminal)
for _ in range(3):
    with unless_hung_up():
        print("a line", flush=True)
    print("and on", file=sys.stderr)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stderr.split("\n") == ["and on"] * 3 + [""]


def test_another_error_of_the_output_is_raised():
    with pytest.raises(OSError) as raised, process.unless_hung_up():
        raise OSError(errno.ENOSPC, "the disk is full")
    assert raised.value.errno == errno.ENOSPC
