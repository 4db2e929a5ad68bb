"""`python scripts/train.py ...` is `alphazero train ...`."""

import sys

from alphazero.cli import run_command

sys.exit(run_command("train", sys.argv[1:]))
