"""`python scripts/rate.py ...` is `alphazero rate ...`."""

import sys

from alphazero.cli import run_command

sys.exit(run_command("rate", sys.argv[1:]))
