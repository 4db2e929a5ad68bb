"""`python scripts/compare.py key=value ...`: the same as `alphazero compare key=value ...`."""

import sys

from alphazero.cli import main

sys.exit(main(["compare", *sys.argv[1:]]))
