"""Ctrl-C where an exception would abort the process."""

import subprocess
import sys

TORCH = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)
print("went on")
"""
PROGRAM = """
import sys
from alphazero.cli.interrupts import handle_interrupts
handle_interrupts()
sys.path.insert(0, sys.argv[1])
try:
    import torch
finally:
    print("an exception went through the import")
"""


def test_an_interrupt_while_torch_is_imported_raises_nothing(tmp_path):
    (tmp_path / "torch.py").write_text(TORCH)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (130, "")
    assert len(ended.stderr.splitlines()) == 1
