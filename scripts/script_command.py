"""What scripts of this folder have in common: settings as key=value, --help, one-line errors."""

import os
import sys
from collections.abc import Callable
from typing import Any

from alphazero.cli.errors import print_error
from alphazero.cli.output.help_text import HELP, print_script_help
from alphazero.runtime.overrides import from_overrides


def run_script(
    work: Callable[[Any], None], kind: type, words: list[str], name: str, text: str
) -> int:
    """Do the work of a script with the settings of its command line.

    Args:
        work: is called with the settings.
        kind: settings class.
        words: of the command line.
        name: of the script, such as "scripts/worker_speed.py".
        text: for `--help`, above the settings.

    Returns:
        The exit status: 0, 2 for bad input, or 130 if stopped by Ctrl-C.
    """
    try:
        if HELP & set(words):
            print_script_help(text, kind())
        else:
            work(from_overrides(kind, words, name))
    except BrokenPipeError:  # the reader of the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, ModuleNotFoundError) as error:
        return print_error(error)
    except KeyboardInterrupt:
        return 130
    return 0
