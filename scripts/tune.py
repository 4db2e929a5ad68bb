"""`python scripts/tune.py ...` is `alphazero tune ...`."""

import sys

from alphazero.cli import run_command

sys.exit(run_command("tune", sys.argv[1:]))
