"""`python scripts/plot.py ...` is `alphazero plot ...`."""

import sys

from alphazero.cli import run_command

sys.exit(run_command("plot", sys.argv[1:]))
