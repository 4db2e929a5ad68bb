"""Shell completion, by Hydra's scripts for bash, zsh and fish.

    eval "$(alphazero -sc install=bash)"

The shell then calls ``alphazero -sc query=bash`` with the line typed so far in ``COMP_LINE``. Hydra
knows no commands: here they are completed, and the rest of the line is passed on to Hydra.
"""

import os
import re
from collections.abc import Callable, Collection

OPTIONS = {"-sc", "--shell-completion"}


def complete(
    arguments: list[str], commands: Collection[str], run_with_hydra: Callable[..., int]
) -> int:
    """Print the script that a shell is to run, or what it proposes for the line typed so far.

    Args:
        arguments: Hydra's option for completion and what follows it.
        commands: of the program.
        run_with_hydra: see `alphazero.config.hydra_main`.
    """
    is_query = any(argument.startswith("query=") for argument in arguments)
    found = re.match(r"\s*(\S+)\s+(\S+)(\s.*)", os.environ.get("COMP_LINE", ""))
    if is_query and not found:
        print(" ".join(commands))  # the shell drops those that do not fit
        return 0
    if is_query and found:
        program, command, rest = found.groups()
        if command != "train":
            return 0
        os.environ["COMP_LINE"] = program + rest
    return run_with_hydra(arguments, "alphazero train", lambda job: 0)
