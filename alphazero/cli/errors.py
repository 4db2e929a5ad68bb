"""How commands refuse input: one line on standard error."""

import os


def print_error(error: ValueError) -> int:
    """Print the message of an error by which a command refuses input.

    With ``ALPHAZERO_TRACEBACK=1`` in the environment, raise it again.

    Returns:
        The exit status for bad input, 2.
    """
    if os.environ.get("ALPHAZERO_TRACEBACK"):
        raise error
    print_text(f"error: {error}", stderr=True)
    return 2


def print_text(text: str, stderr: bool = False) -> None:
    """Print lines, broken between words if they are too long for the terminal."""
    # Imported here, so that shell completion, which prints nothing of this, stays quick.
    from alphazero.runtime.console import Console

    Console(stderr=stderr, emoji=False).print(text, markup=False)
