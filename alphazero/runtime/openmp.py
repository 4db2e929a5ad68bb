"""How the threads of OpenMP wait for each other.

A program calls `limit_spinning` before it imports torch. Importing `alphazero` never does, because
that would change the process of the user.
"""

import os


def limit_spinning() -> None:
    """Let idle OpenMP threads spin for about a thousand turns, then sleep.

    The threads wait for each other after every layer of a training step. Measured on two cores
    with the 4x48 network and 256 samples: with unlimited spinning, the default, a step takes 20 to
    30 times as long when another program uses the same cores; without spinning it takes 1.4 times
    as long on a quiet machine. A thousand turns is best in both cases: 30 ms quiet, 95 ms with one
    core taken.

    libgomp reads these variables when torch is first imported. Other OpenMP libraries read only
    OMP_WAIT_POLICY. Variables that the user has set are kept.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
