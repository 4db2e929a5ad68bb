"""Shared by the scripts in this folder: reporting errors in one line."""

import os
import sys
from collections.abc import Callable

from alphazero.cli import print_error


def exit_status(work: Callable[[], object]) -> int:
    """Run a script's work, and report bad input in one line.

    Returns:
        The exit status: 0, 2 for bad input, or 130 if stopped by Ctrl-C.
    """
    try:
        work()
    except BrokenPipeError:  # the reader of the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, ImportError) as error:
        return print_error(error)
    except KeyboardInterrupt:
        return 130
    return 0
