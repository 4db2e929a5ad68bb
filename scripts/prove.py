"""`python scripts/prove.py ...` is `alphazero prove ...`."""

import sys

from alphazero.cli import run_command

sys.exit(run_command("prove", sys.argv[1:]))
