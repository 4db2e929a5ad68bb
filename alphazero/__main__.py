"""Run the console command `alphazero` as ``python -m alphazero``."""

import sys

from alphazero.cli import main

sys.exit(main())
