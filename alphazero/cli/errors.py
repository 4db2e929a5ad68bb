"""How commands refuse input: one line on standard error."""

import os
import sys


def print_error(error: ValueError) -> int:
    """Print the message of an error by which a command refuses input.

    With ``ALPHAZERO_TRACEBACK=1`` in the environment, raise it again.

    Returns:
        The exit status for bad input, 2.
    """
    if os.environ.get("ALPHAZERO_TRACEBACK"):
        raise error
    print(f"error: {error}", file=sys.stderr)
    return 2
