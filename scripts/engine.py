"""`python scripts/engine.py key=value ...`: the same as `alphazero engine key=value ...`."""

import sys

from alphazero.cli import main

sys.exit(main(["engine", *sys.argv[1:]]))
