"""Run the console command `alphazero` with `python -m alphazero`."""

import sys

from alphazero.cli import main

sys.exit(main())
