"""Freed memory stays with the process, and a closed terminal does not end it."""

import os
import subprocess
import sys

import pytest

from alphazero.runtime import process


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
