"""`python scripts/play.py key=value ...`: the same as `alphazero play key=value ...`."""

import sys

from alphazero.cli import main

sys.exit(main(["play", *sys.argv[1:]]))
