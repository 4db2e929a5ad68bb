"""Kernels without the compiler: a test file that is also a program, which Python interprets."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent


def printed_without_compiler(file: str, *words: str) -> list[str]:
    """Return the lines that a test file prints as a program; a warning is an error there.

    Args:
        words: arguments of the program.
    """
    path = os.pathsep.join((str(TESTS.parent), str(TESTS)))
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    command = [sys.executable, "-W", "error", file, *words]
    done = subprocess.run(
        command, check=False, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
