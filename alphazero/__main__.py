"""`python -m alphazero` is the console command `alphazero`."""

import sys

from alphazero.cli import main

sys.exit(main())
