"""`python scripts/ship.py key=value ...`: the same as `alphazero ship key=value ...`."""

import sys

from alphazero.cli import main

sys.exit(main(["ship", *sys.argv[1:]]))
