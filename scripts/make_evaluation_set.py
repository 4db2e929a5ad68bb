"""`python scripts/make_evaluation_set.py key=value ...`: the same as `alphazero make_evaluation_set key=value ...`."""

import sys

from alphazero.cli import main

sys.exit(main(["make_evaluation_set", *sys.argv[1:]]))
