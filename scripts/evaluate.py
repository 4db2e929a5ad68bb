"""`python scripts/evaluate.py key=value ...`: the same as `alphazero evaluate key=value ...`."""

import sys

from alphazero.cli import main

sys.exit(main(["evaluate", *sys.argv[1:]]))
