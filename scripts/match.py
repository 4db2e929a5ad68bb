"""`python scripts/match.py key=value ...`: the same as `alphazero match key=value ...`."""

import sys

from alphazero.cli import main

sys.exit(main(["match", *sys.argv[1:]]))
